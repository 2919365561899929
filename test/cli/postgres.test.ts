import { afterAll, beforeAll, expect, test } from "vitest";
import { PostgresServer } from "../stores/postgres-server.ts";
import { createProject, FLOW, FLOW_NODES } from "./project.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start();
}, 300_000);
afterAll(() => server.dispose());

test("--store postgres:URL stores runs in a database; passwords are not printed", () => {
  const project = createProject({ "flow.ngraph": FLOW, "nodes.ts": FLOW_NODES });
  const store = server.url.replace("tester@", "tester:hidden@");
  const paused = project.ngc(["run", "flow.ngraph", "--input", '{"n": 4}', "--thread", "t", "--store", store]);
  expect(paused.stderr).not.toContain("hidden");
  expect(paused.status).toBe(3);
  expect(paused.stdout).toContain("--store 'postgres://tester:***@127.0.0.1:");
  expect(paused.stdout).not.toContain("hidden");
  expect(project.json(["threads", "--store", store]).document.threads).toMatchObject([
    { thread: "t", status: "paused" },
  ]);
  const done = project.ngc(["resume", "t", "--answer", "yes", "--store", `postgres:${store}`]);
  expect(done).toMatchObject({ status: 0, stdout: "twice: 8\n" });
  expect(project.has(".ngraph")).toBe(false);
});

test("reports an unreachable database without its password", () => {
  const project = createProject({ "flow.ngraph": FLOW, "nodes.ts": FLOW_NODES });
  const store = "postgres://tester:hidden@127.0.0.1:1/none";
  const { status, stderr } = project.ngc(["run", "flow.ngraph", "--input", '{"n": 4}', "--store", store]);
  expect(status).toBe(1);
  expect(stderr).toContain("NG_STORE_FAILED");
  expect(stderr).not.toContain("hidden");
  expect(stderr).not.toMatch(/^\s+at /m);
});

test("hides a password anywhere in a URL, whatever its characters", () => {
  const project = createProject({ "flow.ngraph": FLOW, "nodes.ts": FLOW_NODES });
  const { port } = new URL(server.url);
  const run = (store: string, thread: string) =>
    project.ngc(["run", "flow.ngraph", "--input", '{"n": 4}', "--thread", thread, "--store", store]);
  const works: readonly (readonly [store: string, shown: string])[] = [
    [
      `postgres://tester:hid%40%3A%2F%23den@127.0.0.1:${port}/postgres`,
      `postgres://tester:***@127.0.0.1:${port}/postgres`,
    ],
    [`postgres://tester:hid@den@127.0.0.1:${port}/postgres`, `postgres://tester:***@127.0.0.1:${port}/postgres`],
    [
      `postgres://127.0.0.1:${port}/postgres?user=tester&password=hidden`,
      `postgres://127.0.0.1:${port}/postgres?user=tester&password=***`,
    ],
  ];
  for (const [index, [store, shown]] of works.entries()) {
    const { status, stdout, stderr } = run(store, `t${index}`);
    expect(status, stderr).toBe(3);
    expect(stdout).toContain(`--store '${shown}'`);
    expect(stdout + stderr).not.toMatch(/hid|den/);
  }
  const refused = [
    `postgres://tester:hid@den:x/%?#@127.0.0.1:${port}/postgres`,
    `postgres://tester:12/hidden@127.0.0.1:${port}/postgres`,
    "postgres:host=127.0.0.1 password=hidden user=tester",
    "mysql://tester:hidden@127.0.0.1/postgres",
  ];
  for (const store of refused) {
    const { status, stdout, stderr } = run(store, "t");
    expect(status, stderr).toBe(64);
    expect(stdout + stderr).not.toMatch(/hid|den/);
  }
});
