/** `ngc tools sync`: lock files of the tools of real MCP servers, and calls that are checked against them. */
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { createProject } from "./project.ts";

const MODULES = new URL("../../node_modules/@modelcontextprotocol/", import.meta.url);
const EVERYTHING = [process.execPath, fileURLToPath(new URL("server-everything/dist/index.js", MODULES)), "stdio"];

/** A server that lists what the first argument states, in JSON; `$TOKEN` in it is the value of the variable. */
const LISTING = `
import { Server } from "${new URL("sdk/dist/esm/server/index.js", MODULES).href}";
import { StdioServerTransport } from "${new URL("sdk/dist/esm/server/stdio.js", MODULES).href}";
import { ListToolsRequestSchema } from "${new URL("sdk/dist/esm/types.js", MODULES).href}";
const server = new Server({ name: "listing", version: "1" }, { capabilities: { tools: {} } });
const tools = JSON.parse(process.argv[2].replaceAll("$TOKEN", process.env.TOKEN ?? ""));
server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }));
await server.connect(new StdioServerTransport());
`;

const SCHEMA = { type: "object", properties: { id: { type: "integer" } }, required: ["id"] };
const listing = (...tools: readonly object[]) => [process.execPath, "listing.mjs", JSON.stringify(tools)];
const settings = (servers: object): string => JSON.stringify({ servers });

const WEATHER = `type Weather = { temperature: int, conditions: string }
graph g {
  input city: "Chicago" | "New York"
  output weather: Weather
  node ask = tool("every", "get-structured-content", arguments: { location: city }) into weather { timeout 5s }
  start -> ask -> end
}
`;

test("writes the tools of a server, against which calls are checked", () => {
  const project = createProject({ "ngraph.json": settings({ every: { command: EVERYTHING } }), "g.ngraph": WEATHER });
  expect(project.ngc(["tools", "sync", "--check"])).toMatchObject({ status: 1, stdout: "" });
  expect(project.has("ngraph.lock.json")).toBe(false);
  const synced = project.json(["tools", "sync"]);
  expect(synced).toMatchObject({ status: 0, document: { version: 1, ok: true, files: [{ status: "written" }] } });
  expect(synced.document.files[0].servers[0].added).toContain("get-structured-content");
  const lock = project.read("ngraph.lock.json");
  expect(JSON.parse(lock).servers.every.tools.echo.inputSchema.required).toEqual(["message"]);

  expect(project.ngc(["tools", "sync", "--check"])).toMatchObject({ status: 0 });
  expect(project.ngc(["check", "g.ngraph"]).status).toBe(0);
  project.write("g.ngraph", WEATHER.replace("conditions: string", "condition: string"));
  const wrong = project.json(["check", "g.ngraph"]);
  expect(wrong.status).toBe(2);
  expect(wrong.document.diagnostics[0]).toMatchObject({ code: "NG408" });
});

test("the lock file of a later version of ngraph is not replaced", () => {
  const later = `{ "version": 2, "servers": {} }\n`;
  const project = createProject({
    "ngraph.json": settings({ shop: { command: listing({ name: "find", inputSchema: SCHEMA }) } }),
    "listing.mjs": LISTING,
    "ngraph.lock.json": later,
  });
  for (const more of [[], ["--check"]]) {
    const { status, stderr } = project.ngc(["tools", "sync", ...more]);
    expect(status).toBe(64);
    expect(stderr).toContain("ngraph.lock.json is of a later version of ngraph: its version is 2, not 1");
    expect(stderr).toContain("update ngraph");
    expect(project.read("ngraph.lock.json")).toBe(later);
  }
});

test("a stale file names the tools that differ", () => {
  const old = settings({
    shop: { command: listing({ name: "find", inputSchema: SCHEMA }, { name: "pay", inputSchema: SCHEMA }) },
  });
  const project = createProject({ "ngraph.json": old, "listing.mjs": LISTING });
  expect(project.ngc(["tools", "sync"]).status).toBe(0);
  const found = { name: "find", description: "Finds.", inputSchema: SCHEMA };
  project.write("ngraph.json", settings({ shop: { command: listing(found, { name: "list", inputSchema: SCHEMA }) } }));
  const before = project.read("ngraph.lock.json");
  expect(project.json(["tools", "sync", "--check"])).toMatchObject({
    status: 1,
    document: {
      ok: false,
      files: [{ status: "stale", servers: [{ added: ["list"], removed: ["pay"], changed: ["find"] }] }],
    },
  });
  expect(project.read("ngraph.lock.json")).toBe(before);
  project.write("ngraph.lock.json", "{");
  expect(project.ngc(["tools", "sync"])).toMatchObject({
    status: 0,
    stderr: expect.stringContaining("not valid JSON"),
  });
  expect(project.ngc(["tools", "sync", "--check"]).status).toBe(0);
});

test("secrets, and what servers print, are not written", () => {
  const tool = { name: "find", description: "for $TOKEN", inputSchema: { type: "object", properties: { $TOKEN: {} } } };
  const project = createProject({
    "ngraph.json": settings({ shop: { command: listing(tool), env: { TOKEN: "${SHOP_TOKEN}" } } }),
    "listing.mjs": LISTING,
  });
  const missing = project.ngc(["tools", "sync"]);
  expect(missing).toMatchObject({ status: 1, stderr: expect.stringContaining("needs the secret SHOP_TOKEN") });
  expect(project.has("ngraph.lock.json")).toBe(false);
  const { status, stdout, stderr } = project.ngc(["tools", "sync"], { env: { SHOP_TOKEN: "hunter2-hunter2" } });
  expect(status).toBe(0);
  expect(stdout + stderr + project.read("ngraph.lock.json")).not.toContain("hunter2");
  expect(JSON.parse(project.read("ngraph.lock.json")).servers.shop.tools.find.description).toBe("for ***");
});

test("a server that fails keeps its tools, and does not hide the others", () => {
  const good = { command: listing({ name: "find", inputSchema: SCHEMA }) };
  const project = createProject({ "ngraph.json": settings({ good, bad: good }), "listing.mjs": LISTING });
  expect(project.ngc(["tools", "sync"]).status).toBe(0);
  const servers = {
    good: { ...good, approve: ["fnd"] },
    bad: { command: [process.execPath, "-e", ""] },
    garbage: { command: listing({ label: 1 }) },
    twice: { command: listing({ name: "a", inputSchema: SCHEMA }, { name: "a", inputSchema: SCHEMA }) },
    missing: { command: ["./does-not-exist"] },
  };
  project.write("ngraph.json", settings(servers));
  const { status, stderr } = project.ngc(["tools", "sync"]);
  expect(status).toBe(1);
  expect(stderr).toContain("`approve` names the tool `fnd`, which it does not have: did you mean `find`?");
  expect(stderr).toContain("the MCP server `bad` cannot be reached");
  expect(stderr).toContain("the MCP server `garbage`: it does not list its tools");
  expect(stderr).toContain('the MCP server `twice`: it has two tools with the name "a"');
  expect(stderr).toContain("the MCP server `missing` cannot be reached");
  expect(Object.keys(JSON.parse(project.read("ngraph.lock.json")).servers)).toEqual(["bad", "good"]);

  project.write(
    "ngraph.json",
    settings({ hangs: { command: [process.execPath, "-e", "setInterval(() => {}, 1000)"] } }),
  );
  expect(project.ngc(["tools", "sync", "--timeout", "1"])).toMatchObject({
    status: 1,
    stderr: expect.stringContaining("the MCP server `hangs`: it has not listed its tools within 1 s"),
  });
});

test("`allow` of ngraph.json applies, and wrong usage is refused", () => {
  const command = listing({ name: "find", inputSchema: SCHEMA });
  const text = JSON.stringify({ allow: ["net:example.com"], servers: { shop: { command } } });
  const project = createProject({ "ngraph.json": text, "listing.mjs": LISTING });
  expect(project.ngc(["tools", "sync"])).toMatchObject({
    status: 1,
    stderr: expect.stringContaining("does not name `shell`"),
  });
  expect(project.ngc(["tools", "sink"])).toMatchObject({ status: 64, stderr: expect.stringContaining("`sink`") });
  expect(project.ngc(["tools", "sync", "none"])).toMatchObject({ status: 64 });
  project.write("ngraph.json", "{}");
  expect(project.ngc(["tools", "sync"])).toMatchObject({ status: 64, stderr: expect.stringContaining("`servers`") });
});
