/** The built program as an HTTP server. */
import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { createServer, type AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { WebSocket } from "ws";
import { createClient } from "../../service/client.ts";
import { createProject, FLOW, HELLO, type Project } from "./project.ts";

const NODES = `export async function double(n: number): Promise<number> {
  if (n === 13) await new Promise((resolve) => setTimeout(resolve, 200));
  if (n === 99) await new Promise((resolve) => setTimeout(resolve, 100_000));
  return n * 2;
}
`;

interface Server {
  readonly url: string;
  readonly stderr: () => string;
  end(signal: NodeJS.Signals): Promise<number | null>;
}

function serve(project: Project, args: readonly string[], env: Record<string, string> = {}): Promise<Server> {
  return start(project, ["serve", ...args, "--port", "0"], env);
}

async function start(project: Project, args: readonly string[], env: Record<string, string> = {}): Promise<Server> {
  const child = project.start([...args, "--json"], env);
  onTestFinished(() => void child.kill("SIGKILL"));
  const exited = once(child, "exit") as Promise<[number | null]>;
  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const [line] = (await Promise.race([once(child.stdout, "data"), exited])) as [Buffer | number];
  if (!Buffer.isBuffer(line)) throw new Error(`it ended with ${line}: ${stderr}`);
  const { url } = JSON.parse(line.toString()) as { url: string };
  return {
    url,
    stderr: () => stderr,
    end: async (signal) => {
      child.kill(signal);
      return (await exited)[0];
    },
  };
}

test("a graph that lacks its secret is refused with the reason, and the others are served", async () => {
  const bound =
    "secret SERVE_KEY\ngraph bound {\n  output t: string\n  node a = { t: `${SERVE_KEY}` } into { t }\n  start -> a\n}\n";
  const project = createProject({ "hello.ngraph": HELLO, "bound.ngraph": bound });
  const server = await serve(project, ["hello.ngraph", "bound.ngraph"]);
  const client = createClient({ url: server.url });
  expect(await client.graph("hello").run({ name: "Ada" })).toMatchObject({ status: "completed" });
  await expect(client.graph("bound").run({})).rejects.toMatchObject({
    status: 500,
    code: "NG_MISSING_SECRET",
    message: expect.stringContaining("the run lacks secrets: `SERVE_KEY` (read by `bound`)") as string,
  });
  expect(server.stderr()).toContain(
    "warning: runs of `bound` are refused: the environment does not have the secret `SERVE_KEY`, which `bound` reads",
  );
  expect(await server.end("SIGTERM")).toBe(0);
  const alone = project.ngc(["serve", "bound.ngraph", "--port", "0"]);
  expect(alone).toMatchObject({ status: 64, stdout: "" });
  expect(alone.stderr).toContain("the environment does not have the secret `SERVE_KEY`");
});

test("limits by name are for the graphs that have the name, and an unknown name is refused", async () => {
  const outer =
    'graph inner {\n  output t: string\n  node a = "a" into t\n  start -> a\n}\ngraph outer {\n  output t: string\n  node b = inner() into { t }\n  start -> b\n}\n';
  const project = createProject({ "hello.ngraph": HELLO, "outer.ngraph": outer });
  const files = ["hello.ngraph", "outer.ngraph"];
  for (const command of [
    ["serve", ...files, "--port", "0"],
    ["mcp", ...files],
  ]) {
    const refused = project.ngc([...command, "--max-steps", "iner=5"]);
    expect(refused).toMatchObject({ status: 64, stdout: "" });
    expect(refused.stderr).toContain("--max-steps names `iner`, which is no graph that is served or called");
    expect(refused.stderr).toContain("did you mean `inner`?");
  }
  const server = await serve(project, [...files, "--max-steps", "inner=5", "--max-steps", "outer=7"]);
  const client = createClient({ url: server.url });
  for (const name of ["hello", "outer"]) {
    const input = name === "hello" ? { name: "Ada" } : {};
    expect(await client.graph(name).run(input)).toMatchObject({ status: "completed" });
  }
});

test("serves graphs over HTTP; the command line shows their threads", async () => {
  const project = createProject({ "flow.ngraph": FLOW, "hello.ngraph": HELLO, "nodes.ts": NODES });
  const server = await serve(project, ["flow.ngraph", "hello.ngraph"]);
  const client = createClient({ url: server.url });
  expect(await client.graph("hello").run({ name: "Ada" })).toMatchObject({
    status: "completed",
    output: { text: "hello Ada" },
  });
  expect(await client.graph("flow").run({ n: 4 }, { thread: "t" })).toMatchObject({
    status: "paused",
    state: { twice: 8 },
  });
  // Not `project.ngc`: while it blocks this process, the server may close the idle connection, and the next request would use it.
  expect((await once(project.start(["resume", "t", "--answer", "yes"]), "exit"))[0]).toBe(0);
  expect(await client.thread("t").state()).toMatchObject({ status: "completed", metadata: {} });
  const response = await fetch(`${server.url}/openapi.json`);
  expect(await response.json()).toMatchObject({ openapi: "3.1.0", paths: { "/graphs/flow/runs": {} } });
  expect(await server.end("SIGTERM")).toBe(0);
  expect(server.stderr()).toContain('"path":"/openapi.json","status":200');
  expect(server.stderr()).not.toMatch(/\n\s+at /);
});

test("a run of `ngc run` in another process is cancelled", async () => {
  const project = createProject({ "flow.ngraph": FLOW, "nodes.ts": NODES });
  const server = await serve(project, ["flow.ngraph"]);
  const child = project.start(["run", "flow.ngraph", "--thread", "t", "--input", `{"n":99}`, "--json"]);
  onTestFinished(() => void child.kill("SIGKILL"));
  const ended = Promise.all([once(child, "exit"), once(child.stdout, "data")]);
  const thread = createClient({ url: server.url }).thread("t");
  const look = () => thread.state().catch(() => undefined);
  await expect.poll(look, { timeout: 90_000 }).toMatchObject({ status: "running", running: false });
  expect(await thread.cancel()).toMatchObject({ status: "cancelled" });
  const [[code], [document]] = (await ended) as [[number], [Buffer]];
  expect(JSON.parse(document.toString())).toMatchObject({ status: "cancelled", error: { code: "NG_CANCELLED" } });
  expect(code).toBe(130);
  await expect(thread.cancel()).rejects.toMatchObject({ status: 409, problem: { code: "not-running" } });
});

test("ngc studio serves the page, and the graphs of the directory", async () => {
  const twins = ["first", "second"].map((name) => HELLO.replace("graph hello", `graph ${name}`)).join("\n");
  const project = createProject({
    "hello.ngraph": HELLO,
    "other/hello.ngraph": HELLO,
    "twins.ngraph": twins,
    "wrong.ngraph": "graph wrong {",
    "work.ngraph": 'plan work {\n  task a = shell("true")\n}\n',
    "nodes.ts": NODES,
  });
  const server = await start(project, ["studio"]);
  const page = await fetch(`${server.url}/studio`);
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining("<title>")]);
  const { paths } = (await (await fetch(`${server.url}/openapi.json`)).json()) as { paths: object };
  const served = Object.keys(paths).flatMap((path) => /^\/graphs\/(\w+)\/runs$/.exec(path)?.[1] ?? []);
  expect(served.toSorted()).toEqual(["first", "hello", "second"]);
  expect(server.stderr()).toContain("wrong.ngraph has errors and is left out: ngc check wrong.ngraph");
  expect(server.stderr()).toContain(
    "the graph `hello` of other/hello.ngraph is left out: hello.ngraph has one of this name",
  );
  expect(await server.end("SIGTERM")).toBe(0);

  const empty = createProject({ "wrong.ngraph": "graph wrong {" });
  expect(empty.ngc(["studio"])).toMatchObject({
    status: 64,
    stderr: expect.stringContaining("no graph in the files of this directory can be served") as unknown,
  });
  expect(empty.ngc(["studio", "wrong.ngraph"]).status).toBe(2);
});

test("ends in order: runs stop at a step, and the next server resumes them", async () => {
  const project = createProject({ "flow.ngraph": FLOW, "nodes.ts": NODES });
  const first = await serve(project, ["flow.ngraph"]);
  await createClient({ url: first.url }).graph("flow").start({ n: 13 }, { thread: "t" });
  expect(await first.end("SIGTERM")).toBe(0);
  const second = await serve(project, ["flow.ngraph"]);
  const client = createClient({ url: second.url });
  await expect.poll(async () => (await client.thread("t").state()).status, { timeout: 90_000 }).toBe("paused");
  await client.graph("flow").start({ n: 99 }, { thread: "long" });
  expect(await second.end("SIGINT")).toBe(130);
});

test("tokens are needed beyond this machine, and are never shown", async () => {
  const project = createProject({ "hello.ngraph": HELLO, "tokens.json": '{ "ada": "0123456789abcdef-secret" }' });
  const open = project.ngc(["serve", "hello.ngraph", "--host", "0.0.0.0", "--port", "0"]);
  expect([open.status, open.stderr]).toEqual([64, expect.stringContaining("--tokens")]);
  const server = await serve(project, ["hello.ngraph", "--tokens", "tokens.json"]);
  expect((await fetch(`${server.url}/graphs`)).status).toBe(401);
  const client = createClient({ url: server.url, token: "0123456789abcdef-secret" });
  expect(await client.graph("hello").run({})).toMatchObject({ status: "completed" });
  expect(await server.end("SIGTERM")).toBe(0);
  expect(server.stderr()).toContain('"principal":"ada"');
  expect(server.stderr()).not.toContain("-secret");
  for (const [text, problem] of [
    ['{ "ada": "short-secret" }', "at least 16"],
    ['["0123456789abcdef-secret"]', "NAME"],
    ['{ "ada": 0123456789abcdef-secret }', "not JSON"],
  ] as const) {
    project.write("wrong.json", text);
    const wrong = project.ngc(["serve", "hello.ngraph", "--port", "0", "--tokens", "wrong.json"]);
    expect([wrong.status, wrong.stderr]).toEqual([64, expect.stringContaining(problem)]);
    expect(wrong.stderr).not.toContain("-secret");
  }
});

test("events come through a WebSocket, with the token as a subprotocol", async () => {
  const token = "0123456789abcdef+/=~secret";
  const project = createProject({
    "flow.ngraph": FLOW,
    "nodes.ts": NODES,
    "tokens.json": JSON.stringify({ ada: token }),
  });
  const server = await serve(project, ["flow.ngraph", "--tokens", "tokens.json", "--origin", "https://shop.example"]);
  const client = createClient({ url: server.url, token });
  await client.graph("flow").run({ n: 4 }, { thread: "t" });
  const bearer = `ngraph.bearer.${Buffer.from(token).toString("base64url")}`;
  const open = (path: string, protocols: readonly string[], headers = {}) => {
    const socket = new WebSocket(`${server.url.replace("http", "ws")}${path}`, [...protocols], { headers });
    onTestFinished(() => socket.terminate());
    const messages: { id?: string; type: string; data?: Record<string, unknown> }[] = [];
    socket.on("message", (text: Buffer) => messages.push(JSON.parse(text.toString()) as (typeof messages)[number]));
    const ended = new Promise<number | string>((resolve) => {
      socket.on("close", resolve);
      socket.on("error", (error: Error) => resolve(error.message));
    });
    return { socket, messages, ended };
  };
  const all = open("/threads/t/events?from=start&end=true", ["ngraph", bearer]);
  expect(await all.ended).toBe(1000);
  expect(all.socket.protocol).toBe("ngraph");
  expect(all.messages[0]).toEqual({ type: "connected" });
  expect(all.messages.at(-1)).toMatchObject({ type: "run", data: { phase: "end", status: "paused" } });
  const rest = open(`/threads/t/events?end=true&after=${all.messages[3]!.id!}`, ["ngraph", bearer]);
  await rest.ended;
  expect(rest.messages.slice(1)).toEqual(all.messages.slice(4));
  for (const [path, protocols, headers, status] of [
    ["/threads/t/events", [], {}, 401],
    ["/threads/t/events", ["ngraph", "ngraph.bearer.eHg"], {}, 401],
    ["/threads/t/events", [], { origin: "https://evil.example" }, 403],
    ["/threads/none/events", ["ngraph", bearer], {}, 404],
    ["/threads/t/events?x=1", ["ngraph", bearer], {}, 422],
    ["/graphs", ["ngraph", bearer], {}, 200],
  ] as const) {
    expect(await open(path, protocols, headers).ended).toContain(String(status));
  }
  // A client that sends something, a client that leaves, and a server that ends.
  const large = open("/threads/t/events", ["ngraph", bearer]);
  await once(large.socket, "open");
  large.socket.send("x".repeat(2000));
  expect(await large.ended).toBe(1009);
  const left = open("/threads/t/events", ["ngraph", bearer]);
  await once(left.socket, "open");
  const live = open("/threads/t/events", ["ngraph", bearer]);
  await once(live.socket, "open");
  left.socket.terminate();
  const headers = { authorization: `Bearer ${token}` };
  const metrics = async () => (await fetch(`${server.url}/metrics`, { headers })).text();
  await expect.poll(metrics, { timeout: 90_000 }).toContain("ngraph_streams_open 1\n");
  await client.thread("t").resume({ answer: "yes" });
  await expect.poll(() => live.messages.at(-1), { timeout: 90_000 }).toMatchObject({ data: { status: "completed" } });
  expect(await server.end("SIGTERM")).toBe(0);
  // The process ends soon after its streams: the frame with the code may be lost.
  expect([1000, 1006]).toContain(await live.ended);
  expect(server.stderr()).not.toContain("secret");
});

test("webhooks are sent with the key of the environment", async () => {
  const project = createProject({ "hello.ngraph": HELLO });
  const bodies: string[] = [];
  const receiver = createHttpServer((request, response) => {
    request.on("data", (chunk: Buffer) => bodies.push(chunk.toString()));
    request.on("end", () => response.writeHead(204).end());
  }).listen(0, "127.0.0.1");
  await once(receiver, "listening");
  onTestFinished(() => void receiver.close());
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  const keyed = { NGRAPH_WEBHOOK_SECRET: `whsec_${"A".repeat(44)}` };
  const refused = (args: readonly string[], env = {}): string => {
    const { status, stderr } = project.ngc(["serve", "hello.ngraph", "--port", "0", "--webhook", ...args], { env });
    expect(status).toBe(64);
    return stderr;
  };
  expect(refused(["https://example.com"])).toContain("NGRAPH_WEBHOOK_SECRET");
  expect(refused([url], keyed)).toContain("begins with https:");
  expect(refused(["https://10.0.0.1/"], keyed)).toContain("--webhook-private");
  const wrong = refused(["https://example.com"], { NGRAPH_WEBHOOK_SECRET: "secret-text" });
  expect(wrong).toContain("whsec_");
  expect(wrong).not.toContain("secret-text");
  const server = await serve(project, ["hello.ngraph", "--webhook", url, "--webhook-private"], keyed);
  await createClient({ url: server.url }).graph("hello").run({ name: "Ada" }, { thread: "t" });
  await expect.poll(() => bodies.join(), { timeout: 90_000 }).toContain('"type":"thread.completed"');
  expect(await server.end("SIGTERM")).toBe(0);
});

test("a port in use, a plan and an invalid graph are refused", async () => {
  const project = createProject({
    "hello.ngraph": HELLO,
    "plan.ngraph": 'plan p {\n  task t = shell("true")\n}\n',
    "wrong.ngraph": "graph wrong {\n  start -> nowhere\n}\n",
  });
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  onTestFinished(() => void taken.close());
  const { port } = taken.address() as AddressInfo;
  const busy = project.ngc(["serve", "hello.ngraph", "--port", String(port)]);
  expect([busy.status, busy.stderr]).toEqual([64, expect.stringContaining("the port is in use")]);
  expect(project.ngc(["serve", "hello.ngraph", "--port", "70000"]).status).toBe(64);
  expect(project.ngc(["serve", "plan.ngraph"]).status).toBe(64);
  expect(project.ngc(["serve", "wrong.ngraph"]).status).toBe(2);
  expect(project.ngc(["serve", "hello.ngraph", "--allow", "net", "--builtins", "x.ts"])).toMatchObject({ status: 1 });
});
