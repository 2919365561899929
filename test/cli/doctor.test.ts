import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { loadSqlite } from "../../runtime/stores/sqlite/driver.ts";
import { createProject, FLOW, FLOW_NODES, PROGRAM, type Project } from "./project.ts";

function done(): Project {
  const project = createProject({ "flow.ngraph": FLOW, "nodes.ts": FLOW_NODES });
  for (const thread of ["t1", "t2"]) {
    project.ngc(["run", "flow.ngraph", "--input", '{"n": 21}', "--thread", thread]);
    expect(project.ngc(["resume", thread, "--answer", "yes"]).status).toBe(0);
  }
  return project;
}

function execute(project: Project, sql: string): void {
  const { DatabaseSync } = loadSqlite();
  const database = new DatabaseSync(`${project.directory}/.ngraph/runs.db`);
  database.exec(sql);
  database.close();
}

const STORE = ["--store", "sqlite:.ngraph/runs.db"];
const DELETE_MIDDLE = "DELETE FROM checkpoints WHERE ord = (SELECT min(ord) + 1 FROM checkpoints)";

describe("ngc doctor", () => {
  test("reports the environment", () => {
    const { status, stdout } = createProject().ngc(["doctor"]);
    expect(status).toBe(0);
    expect(stdout).toMatch(/^Node +\d+\.\d+\.\d+ \(/m);
    expect(stdout).toMatch(/^SQLite +3\.\d+\.\d+ through .*sqlite, journal (?:wal|rollback), synchronous full$/m);
    expect(stdout).toMatch(/\nready: graphs run here, and their runs are stored\n$/);
    expect(createProject().json(["doctor"])).toMatchObject({
      status: 0,
      document: {
        version: 1,
        ok: true,
        node: process.versions.node,
        sqlite: { synchronous: "full", problem: null },
        packages: expect.arrayContaining([{ name: "pg", version: expect.any(String), use: "stores in Postgres" }]),
        terminal: { isTerminal: false, columns: null, colors: false },
        problems: [],
      },
    });
  });

  const SERVERS = JSON.stringify({
    servers: { docs: { url: "https://x.example/" }, shop: { url: "https://y.example/" } },
  });
  const locked = (...names: string[]): string =>
    JSON.stringify({ version: 1, servers: Object.fromEntries(names.map((name) => [name, { tools: TOOLS }])) });
  const TOOLS = { find: { inputSchema: { type: "object" } } };

  test.each([
    [
      SERVERS,
      undefined,
      "ngraph.lock.json is missing, so calls of tools of `docs` and `shop` are not checked: run `ngc tools sync`",
    ],
    [
      SERVERS,
      locked("docs"),
      "ngraph.lock.json has no tools of `shop`, so calls of them are not checked: run `ngc tools sync`",
    ],
    [
      SERVERS,
      locked("docs", "old", "shop"),
      "ngraph.lock.json has tools of `old`, which ngraph.json beside it does not name: run `ngc tools sync`, which removes them",
    ],
    [
      undefined,
      locked("old"),
      "ngraph.lock.json has tools of `old`, which ngraph.json beside it does not name: delete the file",
    ],
  ])("warns of tools of MCP servers that are not checked: %#", (settings, lock, warning) => {
    const project = createProject();
    if (settings !== undefined) project.write("ngraph.json", settings);
    if (lock !== undefined) project.write("ngraph.lock.json", lock);
    const { status, document } = project.json(["doctor"]);
    expect({ status, document }).toMatchObject({ status: 0, document: { ok: true, problems: [] } });
    expect(document.warnings).toEqual([expect.stringContaining(warning)]);
    expect(project.ngc(["doctor"]).stderr).toContain(`warning: ${warning}`);
  });

  test.each([
    [SERVERS, '{"vers', "damaged", "it is not valid JSON; run `ngc tools sync`, which writes it again"],
    [
      undefined,
      '{"version":1,"servers":{"a":{}}}',
      "damaged",
      'its server "a" has no `tools`; delete it, or restore it',
    ],
    [SERVERS, '{"version":2,"servers":{}}', "newer", "a later version of ngraph has written it: update ngraph"],
  ])("reports a lock file that cannot be used: %#", (settings, lock, state, problem) => {
    const project = createProject({ "ngraph.lock.json": lock });
    if (settings !== undefined) project.write("ngraph.json", settings);
    const { status, document } = project.json(["doctor"]);
    expect(status).toBe(1);
    expect(document).toMatchObject({
      ok: false,
      toolLocks: [{ path: "ngraph.lock.json", status: state }],
      warnings: [],
    });
    expect(document.problems).toEqual([expect.stringContaining(problem)]);
  });

  test("lists the tools of a sound lock file, and reports a broken ngraph.json", () => {
    const project = createProject({
      "ngraph.json": SERVERS,
      "ngraph.lock.json": locked("docs", "shop"),
    });
    expect(project.ngc(["doctor"])).toMatchObject({
      status: 0,
      stdout: expect.stringContaining("\ntools     ngraph.lock.json docs: 1 tool, shop: 1 tool\n"),
      stderr: "",
    });
    project.write("ngraph.json", '{"server": {}}');
    const { status, stderr } = project.ngc(["doctor"]);
    expect(status).toBe(1);
    expect(stderr).toContain('ngraph.json has the unknown field "server": did you mean `servers`?');
  });

  test("finds a store sound", () => {
    const project = done();
    expect(project.ngc(["doctor", ...STORE])).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^2 threads, \d+ checkpoints: sound\n$/),
      stderr: "",
    });
    expect(project.json(["doctor", ...STORE]).document).toMatchObject({ ok: true, threads: 2, problems: [] });
    expect(readdirSync(`${project.directory}/.ngraph`).sort()).toEqual([".gitignore", "runs.db"]);
  });

  test("reports a damaged thread, and how to delete it", () => {
    const project = done();
    execute(project, DELETE_MIDDLE);
    const { status, document } = project.json(["doctor", ...STORE]);
    expect(status).toBe(1);
    expect(document).toMatchObject({
      ok: false,
      problems: expect.arrayContaining([
        expect.objectContaining({
          thread: "t1",
          code: "NG_CORRUPT_RECORD",
          message: expect.stringContaining("restore the store from a backup"),
          help: "ngc delete t1 --store sqlite:.ngraph/runs.db",
        }),
      ]),
    });
    expect(project.ngc(["delete", "t1"]).status).toBe(0);
    expect(project.ngc(["doctor", ...STORE]).status).toBe(0);
  });

  test("reports a trigger without a thread to delete", () => {
    const project = done();
    execute(project, "CREATE TRIGGER spy AFTER INSERT ON cells BEGIN SELECT 1; END");
    const { status, stderr } = project.ngc(["doctor", ...STORE]);
    expect(status).toBe(1);
    expect(stderr).toContain("trigger `spy` was not created by ngraph: drop it");
    expect(stderr).not.toContain("ngc delete");
  });

  test.each([
    [["--store", "sqlite:none.db"], 64, "there is no store at none.db"],
    [["--store", "memory"], 64, "a store in memory is empty"],
    [["--store", "nonsense"], 64, "--store takes sqlite:PATH"],
    [["--store", "sqlite:flow.ngraph"], 1, "is not an SQLite database"],
    [["--store", "sqlite:."], 1, "is not a file"],
  ])("%j", (args, exit, message) => {
    const project = createProject({ "flow.ngraph": FLOW });
    expect(project.ngc(["doctor", ...args])).toMatchObject({ status: exit, stderr: expect.stringContaining(message) });
    expect(project.has("none.db")).toBe(false);
  });
});

test.each([
  ["in the middle", DELETE_MIDDLE],
  ["at the beginning", "DELETE FROM checkpoints WHERE ord = (SELECT min(ord) FROM checkpoints)"],
])("no command continues a thread of which a checkpoint %s was deleted", (_, sql) => {
  const project = createProject({ "flow.ngraph": FLOW, "nodes.ts": FLOW_NODES });
  project.ngc(["run", "flow.ngraph", "--input", '{"n": 21}', "--thread", "t"]);
  // The newest rows may be in the staging table.
  execute(project, `${sql}; ${sql.replaceAll("checkpoints", "tail")}`);
  for (const args of [
    ["resume", "t", "--answer", "yes"],
    ["run", "flow.ngraph", "--input", '{"n": 21}', "--thread", "t", "--abandon"],
    ["fork", "t", "--as", "t2"],
  ]) {
    expect(project.ngc(args)).toMatchObject({ status: 1, stderr: expect.stringContaining("NG_CORRUPT_RECORD") });
  }
});

/** The user `nobody`. Only root can become another user. */
const NOBODY = 65_534;

test("a file in the place of the directory of runs is a problem", () => {
  const project = createProject({ ".ngraph": "" });
  const problem = "runs are stored in .ngraph, which is no directory: --store sqlite:PATH stores runs elsewhere";
  expect(project.json(["doctor"])).toMatchObject({ status: 1, document: { ok: false, problems: [problem] } });
});

describe.runIf(process.getuid?.() === 0)("a store that the user cannot write", () => {
  test.each([
    ["a file", (project: Project) => chmodSync(`${project.directory}/.ngraph/runs.db`, 0o444)],
    ["a directory", (project: Project) => chmodSync(`${project.directory}/.ngraph`, 0o555)],
  ])("%s is read, and runs on it are refused", (what, protect) => {
    const project = done();
    for (const name of ["", "/.ngraph", "/.ngraph/runs.db"]) chmodSync(project.directory + name, 0o755);
    // The owner of a directory can delete its files, so the directory alone belongs to the user.
    if (what === "a file") chownSync(`${project.directory}/.ngraph`, NOBODY, NOBODY);
    protect(project);
    const ngc = (...args: readonly string[]) => asNobody(project, args);
    const before = readdirSync(`${project.directory}/.ngraph`).sort();
    const [head] = (JSON.parse(ngc("history", "t1", "--json").stdout) as { checkpoints: { id: string }[] }).checkpoints;
    for (const args of [["threads"], ["history", "t1"], ["show", head!.id], ["doctor", ...STORE]]) {
      const { status, stderr } = ngc(...args);
      expect(status, `${args.join(" ")}: ${stderr}`).toBe(0);
    }
    expect(ngc("threads").stdout).toContain("t2");
    for (const args of [
      ["resume", "t1"],
      ["delete", "t1"],
      ["run", "flow.ngraph", "--input", '{"n": 21}'],
    ]) {
      expect(ngc(...args)).toMatchObject({ status: 1, stderr: expect.stringContaining("it cannot be written") });
    }
    expect(ngc("doctor")).toMatchObject({
      status: 1,
      stderr: `error: ${what === "a file" ? ".ngraph/runs.db" : ".ngraph"} cannot be written (permission denied), and runs are stored in .ngraph/runs.db: --store sqlite:PATH stores runs elsewhere\n`,
    });
    expect(readdirSync(`${project.directory}/.ngraph`).sort()).toEqual(before);
  });

  test("a working directory that cannot be written is a problem", () => {
    const project = createProject();
    chmodSync(project.directory, 0o555);
    const { status, stdout, stderr } = asNobody(project, ["doctor"]);
    expect(stderr).toMatch(/^error: the working directory cannot be written \(permission denied\)/);
    expect({ status, last: stdout.split("\n").at(-2) }).toEqual({ status: 1, last: "not ready: 1 problem" });
  });
});

function asNobody(project: Project, args: readonly string[]) {
  return spawnSync(process.execPath, [PROGRAM, ...args], {
    cwd: project.directory,
    uid: NOBODY,
    gid: NOBODY,
    encoding: "utf8",
    env: { ...process.env, HOME: "/tmp", NO_COLOR: "1", NODE_OPTIONS: "" },
  });
}
