/** The built program with a host: workers, deployments, runs. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { findRestate, RestateServer } from "../hosts/restate-server.ts";
import { isDeep } from "../support/depth.ts";
import { createProject, FLOW, HELLO, type Project } from "./project.ts";

const NODES = "export function double(n: number): number {\n  return n * 2;\n}\n";
/** No server listens there. */
const NOWHERE = "restate:http://127.0.0.1:1";

test("usage", () => {
  const project = createProject({ "flow.ngraph": FLOW, "nodes.ts": NODES });
  const refused = (args: readonly string[], status: number, text: string): void => {
    const result = project.ngc(args);
    expect([result.status, result.stderr]).toEqual([status, expect.stringContaining(text)]);
    expect(result.stderr).not.toMatch(/\n\s+at /);
  };
  refused(["run", "flow.ngraph", "--host", "http://127.0.0.1:1"], 64, "--host takes restate:URL");
  refused(["run", "flow.ngraph", "--deployed"], 64, "--deployed belongs to --host");
  refused(["resume", "t", "--deployed"], 64, "--deployed belongs to --host");
  refused(["run", "flow.ngraph", "--host", "restate:http://"], 64, "--host takes restate:URL");
  refused(["run", "flow.ngraph", "--host", NOWHERE, "--store", "memory"], 64, "--store has no effect with --host");
  refused(["run", "flow.ngraph", "--host", NOWHERE, "--input", '{"n": 1}'], 1, "does not answer");
  refused(["resume", "t", "--host", NOWHERE], 64, "--host needs --file");
  refused(["resume", "--due", "--host", NOWHERE, "--file", "flow.ngraph"], 64, "name one thread");
  const graph = ["--graph", "flow"];
  refused(["history", "t", "--host", NOWHERE], 64, "--host needs --graph");
  refused(["history", "t", "--host", NOWHERE, ...graph, "--store", "memory"], 64, "--store has no effect with --host");
  refused(["show", "c", "--host", NOWHERE, ...graph], 64, "--host needs --thread");
  for (const command of [["history"], ["label", "t", "l"], ["signal", "t", "s"], ["delete"], ["fork"], ["rollback"]]) {
    const [name = "", ...args] = command;
    refused([name, ...(args.length === 0 ? ["t"] : args), "--host", NOWHERE, ...graph], 1, "does not answer");
  }
  refused(["update", "t", '{"n": 1}', "--host", NOWHERE, ...graph], 1, "does not answer");
  const admin = ["--admin", "http://127.0.0.1:1"];
  refused(["threads", "--host", NOWHERE, ...admin], 64, "--host needs --graph");
  refused(["threads", "--host", NOWHERE, ...graph, ...admin], 1, "the administration of Restate");
  refused(["threads", "--host", NOWHERE, ...graph, "--admin", "here"], 64, "--admin takes an address");
  refused(["threads", ...admin], 64, "--admin belongs to --host");
  refused(["prune", "--all", "--keep-last", "1", "--host", NOWHERE, ...graph, ...admin], 1, "does not answer");
  refused(["migrate", "t", "--host", NOWHERE, ...graph], 1, "does not answer");
  refused(["worker", "flow.ngraph"], 64, "a worker needs --host");
  refused(["worker", "flow.ngraph", "--host", NOWHERE, "--allow", "none", "--port", "0"], 1, "NG_EFFECT_DENIED");
  refused(["worker", "flow.ngraph", "--host", NOWHERE, "--identity-key", "x", "--port", "0"], 64, "--identity-key");
  const key = ["--identity-key", "publickeyv1_x"];
  refused(["worker", "flow.ngraph", "--host", NOWHERE, ...key, "--port", "0"], 64, "the worker cannot be served");
  refused(
    ["worker", "flow.ngraph", "--host", NOWHERE, "--copy-to", "memory"],
    64,
    "--copy-to takes a store that other",
  );
  refused(["worker", "flow.ngraph", "--host", NOWHERE, "--copy-to", "here"], 64, "--copy-to takes sqlite:PATH");
  refused(["worker", "flow.ngraph", "--host", NOWHERE, "--port", "70000"], 64, "ports are numbers from 0 to 65535");
  refused(["deploy", "flow.ngraph", "--host", NOWHERE], 64, "needs --worker");
  refused(["deploy", "flow.ngraph", "--host", NOWHERE, "--worker", "here"], 64, "--worker takes an address");
  const worker = ["--worker", "http://127.0.0.1:1", "--admin", "http://127.0.0.1:1"];
  refused(["deploy", "flow.ngraph", "--host", NOWHERE, ...worker], 1, "does not answer");
}, 400_000);

test("a worker prints the whole command that makes it known, and ends in order", async () => {
  const project = createProject({ "hello.ngraph": HELLO });
  const child = project.start(["worker", "hello.ngraph", "--host", NOWHERE, "--port", "0"]);
  const ended = once(child, "close");
  let printed = "";
  for await (const chunk of child.stderr) {
    printed += String(chunk);
    if (printed.includes("--worker")) break;
  }
  expect(printed).toContain(
    `make the worker known with: ngc deploy FILE… --host ${NOWHERE} --worker http://127.0.0.1:`,
  );
  child.kill("SIGTERM");
  expect((await ended)[0]).toBe(0);
});

test("credentials in the address of the host are sent in a header, and never shown", async () => {
  const seen: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    seen.push(request.headers.authorization);
    response.writeHead(404).end("{}");
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const project = createProject({ "flow.ngraph": FLOW, "nodes.ts": NODES });
  const run = async (...args: readonly string[]): Promise<string> => {
    const child = project.start(["run", "flow.ngraph", "--input", '{"n": 4}', "--host", ...args]);
    let stderr = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    await once(child, "close");
    expect(stderr).not.toContain("hush");
    expect(stderr).not.toContain("this is a bug");
    return stderr;
  };
  expect(await run(`restate:http://me:hush%20hush@127.0.0.1:${port}/`)).toContain(
    "is not the ingress of Restate (status 404)",
  );
  expect(new Set(seen)).toEqual(new Set([`Basic ${Buffer.from("me:hush hush").toString("base64")}`]));
  expect(await run("restate:http://me:hush@127.0.0.1:1")).toContain("at http://127.0.0.1:1 does not answer");
  expect(await run("restate:http://me:hush@127.0.0.1:1/?token=hush")).toContain("has a query or a fragment");
});

const found = findRestate();
test("a worker, a deployment, a run, a resume", async () => {
  // Beyond the quick depth, where the server is installed.
  if (!isDeep || "missing" in found) return;
  const server = await RestateServer.start();
  onTestFinished(() => server.stop());
  const host = ["--host", `restate:${server.url}`];
  const project = createProject({
    ...{ "flow.ngraph": FLOW, "hello.ngraph": HELLO, "nodes.ts": NODES },
    "wait.ngraph": `graph waiting { output got: int  node take = receive("picked") into got { within 1h }  start -> take -> end }\n`,
  });
  expect(project.ngc(["run", "flow.ngraph", ...host, "--input", '{"n": 4}'])).toMatchObject({
    status: 1,
    stderr: expect.stringContaining("register it with `ngc deploy`"),
  });
  const worker = await startWorker(project, ["flow.ngraph", "wait.ngraph", ...host, "--copy-to", "sqlite:copies.db"]);
  const deploy = ["deploy", "flow.ngraph", ...host, "--admin", server.admin, "--worker", worker.url];
  expect(project.ngc(["deploy", "hello.ngraph", ...deploy.slice(2)])).toMatchObject({
    status: 1,
    stderr: expect.stringContaining("do not serve graph `hello`"),
  });
  expect(project.ngc(deploy)).toMatchObject({ status: 0, stdout: `deployed flow at ${worker.url}\n` });
  const paused = project.ngc(["run", "flow.ngraph", ...host, "--input", '{"n": 4}', "--thread", "t"]);
  expect(paused).toMatchObject({ status: 3, stderr: expect.stringContaining("running as thread t") });
  expect(paused.stdout).toContain(`ngc resume t --host restate:${server.url} --file flow.ngraph`);
  const at = [...host, "--graph", "flow"];
  const waiting = project.ngc(["run", "wait.ngraph", ...host, "--thread", "s"]);
  expect([waiting.status, waiting.stderr]).toEqual([3, expect.anything()]);
  const send = ["signal", "s", "picked", "1", ...host, "--graph", "waiting"];
  expect(waiting.stdout).toContain(`ngc ${send.join(" ").replace(" 1 ", " VALUE ")}\nthe host continues the run then,`);
  expect(project.ngc(send)).toMatchObject({ status: 0 });
  const history = project.ngc(["history", "t", ...at, "--json"]);
  const { checkpoints } = JSON.parse(history.stdout) as { checkpoints: { id: string; status: string }[] };
  expect(checkpoints[0]?.status).toBe("paused");
  expect(project.ngc(["history", "other", ...at])).toMatchObject({
    status: 64,
    stderr: expect.stringContaining(
      `there is no thread \`other\` in graph \`flow\` at restate:${server.url}\n  = help: \`ngc threads --host`,
    ),
  });
  expect(project.ngc(["label", "t", "before", ...at])).toMatchObject({ status: 0 });
  const shown = project.ngc(["show", "before", "--thread", "t", ...at, "--json"]);
  expect(JSON.parse(shown.stdout)).toMatchObject({ id: checkpoints[0]?.id, label: "before", values: { n: 4 } });
  const forked = project.ngc(["fork", "t", "--as", "u", ...at]);
  expect(forked).toMatchObject({
    status: 0,
    stderr: expect.stringContaining(`ngc resume u ${host.join(" ")} --file flow.ngraph`),
  });
  expect(project.ngc(["update", "u", '{"n": 5}', ...at])).toMatchObject({ status: 0 });
  const answered = project.ngc(["resume", "u", ...host, "--file", "flow.ngraph", "--answer", "yes", "--json"]);
  expect([answered.status, answered.stderr]).toEqual([0, expect.anything()]);
  expect(project.ngc(["signal", "t", "any", "1", ...at])).toMatchObject({ status: 0 });
  expect(project.ngc(["fork", "t", "--as", "v", ...at])).toMatchObject({ status: 0 });
  const undone = project.ngc(["rollback", "v", ...at, "--json"]);
  expect([undone.status, (JSON.parse(undone.stdout) as { status: string }).status]).toEqual([0, "rolled_back"]);
  expect(project.ngc(["delete", "u", ...at])).toMatchObject({ status: 0, stdout: "deleted thread u\n" });
  const listing = [...at, "--admin", server.admin, "--json"];
  const threads = project.ngc(["threads", "--status", "paused", ...listing]);
  expect([threads.status, threads.stderr]).toEqual([0, ""]);
  const { threads: listed } = JSON.parse(threads.stdout) as { threads: { thread: string }[] };
  expect(listed.map(({ thread }) => thread)).toEqual(["t"]);
  const pruned = project.ngc(["prune", "--all", "--keep-last", "1", ...listing]);
  expect([pruned.status, pruned.stderr]).toEqual([0, ""]);
  expect(project.ngc(["migrate", "--all", "--file", "flow.ngraph", ...listing])).toMatchObject({
    status: 0,
    stdout: expect.stringContaining('"unchanged"'),
  });
  expect(project.ngc(["history", "u", ...at]).status).toBe(64);
  const resume = ["resume", "t", ...host, "--file", "flow.ngraph", "--answer", "yes", "--json"];
  const done = project.ngc(resume);
  expect([done.status, (JSON.parse(done.stdout) as { status: string }).status]).toEqual([0, "completed"]);
  project.write("flow.ngraph", FLOW.replace("  output", "  state more: int = 1\n  output"));
  expect(project.ngc(deploy)).toMatchObject({ status: 1, stderr: expect.stringContaining("another version") });
  const edited = ["run", "flow.ngraph", ...host, "--input", '{"n": 4}', "--thread", "w"];
  const refused = project.ngc(edited);
  expect([refused.status, refused.stdout]).toEqual([1, ""]);
  expect(refused.stderr).toMatch(
    /nothing was started: the deployed version of graph `flow` is \w{12}, and this one is \w{12}.*NG_OTHER_VERSION/,
  );
  expect(refused.stderr).toContain(`ngc deploy flow.ngraph --host restate:${server.url} --worker URL`);
  expect(project.ngc(["history", "w", ...at]).status).toBe(64);
  expect(project.ngc([...edited, "--deployed"])).toMatchObject({ status: 3 });
  const answer = ["resume", "w", ...host, "--file", "flow.ngraph", "--answer", "yes"];
  expect(project.ngc(answer)).toMatchObject({ status: 1, stderr: expect.stringContaining("NG_OTHER_VERSION") });
  expect(project.ngc([...answer, "--deployed"])).toMatchObject({ status: 0 });
  // Copies follow after half a second.
  const copied = (): number | null => project.ngc(["history", "t", "--store", "sqlite:copies.db"]).status;
  await expect.poll(copied, { timeout: 90_000 }).toBe(0);
  expect(await worker.end("SIGTERM")).toBe(0);
}, 300_000);

async function startWorker(project: Project, args: readonly string[]) {
  const child = project.start(["worker", ...args, "--port", "0", "--json"]);
  onTestFinished(() => void child.kill("SIGKILL"));
  const exited = once(child, "exit") as Promise<[number | null]>;
  const [line] = (await Promise.race([once(child.stdout, "data"), exited])) as [Buffer | number];
  if (!Buffer.isBuffer(line)) throw new Error(`it ended with ${line}`);
  const { url } = JSON.parse(line.toString()) as { url: string };
  return {
    url,
    end: async (signal: NodeJS.Signals) => {
      child.kill(signal);
      return (await exited)[0];
    },
  };
}
