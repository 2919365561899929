/** Pictures of the built program: the page in a real browser, and PNG by a renderer of the PATH. */
import { chmodSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { launchBrowser, newPage } from "../support/browser.ts";
import { createProject } from "./project.ts";

const TEXT = `graph inner {
  input x: int
  output y: int
  node add = x + 1 into y
  start -> add -> end
}

graph outer {
  output total: int = 0
  /// Adds one to <b>the total</b>.
  node first = inner(x: total) into { y: total }
  node second = inner(x: total) into { y: total }
  node last = "</script><img src=x onerror=alert(1)>"
  start -> first -> second -> last -> end
}
`;

test("the page zooms, searches, describes nodes, shows their source, and unfolds calls; it needs no network", async () => {
  const project = createProject({ "flow.ngraph": TEXT });
  expect(project.ngc(["graph", "flow.ngraph", "-o", "flow.html"]).status).toBe(0);
  const browser = await launchBrowser();
  onTestFinished(() => browser.close());
  const page = await newPage(browser, { viewport: { width: 1280, height: 800 }, colorScheme: "dark" });
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => problems.push(message.text()));
  page.on("dialog", (dialog) => {
    problems.push(dialog.message());
    void dialog.dismiss();
  });
  page.on("request", (request) => {
    if (!/^(?:file|data):/.test(request.url())) problems.push(request.url());
  });
  await page.goto(pathToFileURL(join(project.directory, "flow.html")).href);
  const node = (id: string) => page.locator(`svg:not([hidden]) g.node[data-node="${id}"]`);
  const scaleOf = () => page.locator("#zoom").textContent();
  const before = await scaleOf();
  await page.getByRole("button", { name: "Larger" }).click();
  expect(await scaleOf()).not.toBe(before);
  await page.getByRole("button", { name: "Whole picture" }).click();
  await node("first").hover();
  await page.locator("#details", { hasText: "Adds one to <b>the total</b>." }).waitFor();
  expect(await page.locator("#details dl").textContent()).toMatch(/Reads\s*total\s*Writes\s*total/);
  await page.keyboard.press("/");
  await page.keyboard.type("last");
  await page.getByText("1 found").waitFor();
  expect(await page.locator("g.found").count()).toBe(1);
  await page.getByLabel("Search").fill("");
  // The keyboard alone: a node, its source, and its called graph.
  await node("second").focus();
  await page.keyboard.press("Enter");
  expect(await page.locator("#source .here").textContent()).toContain("node second");
  await page.getByRole("button", { name: "Unfold inner" }).click();
  await node("second/add").waitFor();
  expect(await node("first/add").count()).toBe(0);
  await page.getByLabel("Called graphs").selectOption("all unfolded");
  await node("first/add").waitFor();
  const fill = () =>
    page.evaluate<string>("getComputedStyle(document.querySelector('svg:not([hidden]) g.node path')).fill");
  const dark = await fill();
  await page.getByLabel("Theme").selectOption("light");
  expect(await fill()).not.toBe(dark);
  expect(await page.locator("img, #details b").count()).toBe(0);
  // axe may run although the page loads nothing: it is no part of it.
  await page.evaluate(readFileSync(new URL("../../node_modules/axe-core/axe.min.js", import.meta.url), "utf8"));
  const found = await page.evaluate("axe.run()");
  const { violations } = found as { violations: { id: string; impact: string }[] };
  expect(violations.filter(({ impact }) => impact === "serious" || impact === "critical").map(({ id }) => id)).toEqual(
    [],
  );
  expect(problems).toEqual([]);
});

test("a picture that is larger than the window begins at its start, in a size that can be read", async () => {
  const names = Array.from({ length: 60 }, (_, at) => `collect_documents_${at}`);
  const project = createProject({
    "flow.ngraph": `graph flow {
  output all: string[] = [] reduce append
${names.map((name) => `  node ${name} = "x" into all\n`).join("")}
  start -> ${names.join(", ")}
  all(${names.join(", ")}) -> end
}
`,
  });
  expect(project.ngc(["graph", "flow.ngraph", "-o", "flow.html"]).status).toBe(0);
  const browser = await launchBrowser();
  onTestFinished(() => browser.close());
  const page = await newPage(browser, { viewport: { width: 1280, height: 800 } });
  await page.goto(pathToFileURL(join(project.directory, "flow.html")).href);
  const view = (await page.locator("#view").boundingBox())!;
  const start = (await page.locator('g.node[data-node="start"]').boundingBox())!;
  expect(start.x).toBeGreaterThanOrEqual(view.x);
  expect(start.x + start.width).toBeLessThanOrEqual(view.x + view.width);
  expect(start.y).toBeGreaterThanOrEqual(view.y);
  expect(start.y + start.height).toBeLessThanOrEqual(view.y + view.height);
  expect((await page.locator("g.node text").first().boundingBox())!.height).toBeGreaterThanOrEqual(9);
});

test.skipIf(process.platform === "win32")(
  "a PNG is drawn by a renderer of the machine; without one the message names some",
  async () => {
    const project = createProject({ "flow.ngraph": TEXT });
    const directory = join(project.directory, "bin");
    project.write("bin/empty", "");
    const without = project.ngc(["graph", "flow.ngraph", "-o", "flow.png"], { env: { PATH: directory } });
    expect([without.status, without.stderr]).toEqual([64, expect.stringContaining("@resvg/resvg-js")]);
    expect(project.ngc(["graph", "flow.ngraph", "--format", "png"]).stderr).toContain("-o");
    // A renderer that fails is named with its reason, and the next one is asked.
    const program = (name: string, lines: string): void => {
      project.write(
        `bin/${name}`,
        `#!${process.execPath}\nconst { writeFileSync, readFileSync } = require("node:fs");\n${lines}\n`,
      );
      chmodSync(join(directory, name), 0o755);
    };
    program("rsvg-convert", 'console.error("no fonts"); process.exit(3);');
    const failed = project.ngc(["graph", "flow.ngraph", "-o", "flow.png"], { env: { PATH: directory } });
    expect([failed.status, failed.stderr]).toEqual([64, expect.stringContaining("rsvg-convert: exit code 3 no fonts")]);
    program(
      "resvg",
      `const [input, output] = process.argv.slice(-2);
    if (!readFileSync(input, "utf8").startsWith("<svg")) process.exit(1);
    writeFileSync(output, Buffer.from("89504e470d0a1a0a", "hex"));`,
    );
    const drawn = project.ngc(["graph", "flow.ngraph", "-o", "flow.png"], { env: { PATH: directory } });
    expect([drawn.status, drawn.stderr]).toEqual([0, expect.stringContaining("wrote flow.png")]);
    expect(readFileSync(join(project.directory, "flow.png")).toString("latin1", 1, 4)).toBe("PNG");
    // A package of the project that fails is named like a program.
    const broken = "node_modules/@resvg/resvg-js/index.js";
    project.write(broken, "exports.Resvg = class { constructor() { throw new Error('bad font'); } };");
    const other = project.ngc(["graph", "flow.ngraph", "-o", "flow.png"], { env: { PATH: directory } });
    expect([other.status, other.stderr]).toEqual([0, expect.stringContaining("wrote flow.png")]);
    project.write("bin/resvg", "");
    chmodSync(join(directory, "resvg"), 0o644);
    const none = project.ngc(["graph", "flow.ngraph", "-o", "flow.png"], { env: { PATH: directory } });
    expect([none.status, none.stderr]).toEqual([64, expect.stringContaining("@resvg/resvg-js: bad font")]);
  },
);

test("findings are drawn on a graph with errors of the proofs", () => {
  const project = createProject({ "flow.ngraph": TEXT.replace("-> last -> end", "-> end") });
  expect(project.ngc(["graph", "flow.ngraph"]).status).toBe(2);
  const drawn = project.ngc(["graph", "flow.ngraph", "--graph", "outer", "--findings"]);
  expect([drawn.status, drawn.stdout]).toEqual([0, expect.stringMatching(/✗ NG201 line \d+: unreachable node `last`/)]);
  const open = project.ngc(["graph", "flow.ngraph", "--graph", "outer", "--findings", "--unfold"]);
  expect(open.stdout).toContain("add  x + 1");
});

test("the coverage of tests is drawn into a file for each graph", () => {
  const project = createProject({
    "tested.ngraph": `graph one {
  input a: int
  output b: string = ""
  node x = "x" into b
  start -> x when a > 1
  start -> end otherwise
  x -> end
}
graph two { output c: string  node y = "y" into c  start -> y -> end }
test "t" for one { given a = 0 expect b == "" }
`,
  });
  const coverage = ["test", "tested.ngraph", "--coverage", "--picture"];
  const drawn = project.ngc([...coverage, "out/cover.svg"]);
  expect([drawn.status, drawn.stderr]).toEqual([0, expect.stringContaining("wrote out/cover.two.svg")]);
  expect(project.read("out/cover.one.svg")).toContain("✗ no test");
  expect(project.ngc([...coverage, "cover.gif"])).toMatchObject({
    status: 64,
    stdout: "",
    stderr: expect.stringContaining("no format of a picture has the extension `.gif`") as string,
  });
  expect(project.ngc(["test", "tested.ngraph", "--picture", "a.svg"])).toMatchObject({
    status: 64,
    stderr: expect.stringContaining("add --coverage") as string,
  });
});
