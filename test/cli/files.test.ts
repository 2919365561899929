import { spawnSync } from "node:child_process";
import { chmodSync, readFileSync, readdirSync, renameSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { BROKEN, createProject, FLOW, FLOW_NODES, HELLO, PROGRAM, type Project } from "./project.ts";

/** All codes of errors of runs. */
const RUN_ERRORS = [
  ...readFileSync(new URL("../../runtime/interface/errors.ts", import.meta.url), "utf8").matchAll(
    /^(?:export type|  \|).*$/gm,
  ),
].flatMap(([line]) => [...line.matchAll(/"(NG_[A-Z_]+)"/g)].map(([, code = ""]) => code));

const UGLY = `graph hello{ input name:string="world"
output text: string // the text
node greet=\`hello \${name}\` into text
start->greet }`;

/** Starts a command that watches. `until` waits for a text on stderr or stdout; `save` writes until it appears. */
function watching(project: Project, args: readonly string[]) {
  const child = project.start([...args]);
  let seen = "";
  const looks = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk) => {
      seen += String(chunk);
      for (const look of looks) look();
    });
  }
  const until = (text: string): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (!seen.includes(text)) return;
        looks.delete(look);
        resolve();
      };
      looks.add(look);
      look();
    });
  const end = new Promise((resolve) => child.once("close", (_, signal) => resolve(signal)));
  return {
    until,
    /** A file system can lose an event. The file is then written again, as the user of an editor would. */
    async save(change: () => void, text: string): Promise<void> {
      seen = "";
      const saving = setInterval(change, 2000);
      change();
      await until(text);
      clearInterval(saving);
    },
    /** The signal ends the process, also between two rounds. */
    stop(): Promise<unknown> {
      child.kill("SIGINT");
      return end;
    },
  };
}

describe("ngc fmt", () => {
  test("formats in place, keeps comments, and changes nothing the second time", () => {
    const project = createProject({ "a.ngraph": UGLY });
    expect(project.ngc(["fmt", "a.ngraph"])).toMatchObject({ status: 0, stderr: "formatted a.ngraph\n" });
    const once = project.read("a.ngraph");
    expect(once).toContain("// the text");
    expect(once).not.toBe(UGLY);
    expect(project.ngc(["fmt", "."])).toEqual({ status: 0, stdout: "", stderr: "" });
    expect(project.read("a.ngraph")).toBe(once);
  });

  test("--check writes nothing and exits with 1 if a file is not formatted", () => {
    const project = createProject({ "a.ngraph": UGLY });
    expect(project.ngc(["fmt", "--check", "a.ngraph"])).toMatchObject({
      status: 1,
      stdout: "a.ngraph is not formatted\n",
    });
    expect(project.read("a.ngraph")).toBe(UGLY);
    expect(project.json(["fmt", "--check", "a.ngraph"]).document).toEqual({
      version: 1,
      ok: false,
      files: 1,
      changed: ["a.ngraph"],
    });
    project.ngc(["fmt", "a.ngraph"]);
    expect(project.ngc(["fmt", "--check", "a.ngraph"]).status).toBe(0);
  });

  test("--check names line ends, which editors do not show", () => {
    const project = createProject({ "a.ngraph": UGLY });
    project.ngc(["fmt", "a.ngraph"]);
    project.write("lines.ngraph", project.read("a.ngraph").replaceAll("\n", "\r\n"));
    expect(project.ngc(["fmt", "--check", "."])).toMatchObject({
      status: 1,
      stdout: "lines.ngraph is not formatted: its lines end with CRLF, not LF\n",
    });
    expect(
      project.ngc(["fmt", "--check", "--stdin-filepath", "x.ngraph"], { input: project.read("lines.ngraph") }),
    ).toMatchObject({ status: 1, stdout: "x.ngraph is not formatted: its lines end with CRLF, not LF\n" });
  });

  test("--stdin-filepath formats standard input", () => {
    const project = createProject({ "a.ngraph": UGLY });
    const { status, stdout } = project.ngc(["fmt", "--stdin-filepath", "x.ngraph"], { input: UGLY });
    expect(status).toBe(0);
    project.ngc(["fmt", "a.ngraph"]);
    expect(stdout).toBe(project.read("a.ngraph"));
  });

  test("a file with syntax errors is not changed; the others are formatted", () => {
    const project = createProject({ "a.ngraph": UGLY, "bad.ngraph": "graph {{{" });
    const { status, stderr } = project.ngc(["fmt", "."]);
    expect(status).toBe(2);
    expect(stderr).toContain("bad.ngraph(1,");
    expect(project.read("bad.ngraph")).toBe("graph {{{");
    expect(project.read("a.ngraph")).not.toBe(UGLY);
  });

  test("YAML keeps its comments", () => {
    const project = createProject({
      "a.ngraph.yaml": "# why\ngraph:   hello\nnodes: {greet:   {expr: '1'}}\nedges: [ start -> greet ]\n",
    });
    expect(project.ngc(["fmt", "a.ngraph.yaml"]).status).toBe(0);
    expect(project.read("a.ngraph.yaml")).toBe(
      '# why\ngraph: hello\nnodes: { greet: { expr: "1" } }\nedges: [start -> greet]\n',
    );
  });

  test("keeps permissions and links; reports a file that cannot be written", () => {
    const project = createProject({ "real/a.ngraph": UGLY });
    const real = join(project.directory, "real/a.ngraph");
    chmodSync(real, 0o640);
    symlinkSync(real, join(project.directory, "link.ngraph"));
    expect(project.ngc(["fmt", "link.ngraph"]).status).toBe(0);
    expect(project.read("real/a.ngraph")).not.toBe(UGLY);
    expect(statSync(real).mode & 0o777).toBe(0o640);
    expect(readdirSync(join(project.directory, "real"))).toEqual(["a.ngraph"]);
  });
});

describe("ngc compile", () => {
  test("writes a module beside the source, and only if it changed", () => {
    const project = createProject({ "flow.ngraph": FLOW, "nodes.ts": FLOW_NODES });
    expect(project.ngc(["compile", "flow.ngraph"])).toMatchObject({ status: 0, stderr: "wrote flow.ngraph.ts\n" });
    expect(project.read("flow.ngraph.ts")).toContain("export function flow(");
    expect(project.ngc(["compile", "flow.ngraph"])).toMatchObject({ status: 0, stderr: "" });
  });

  test("--check exits with 1 if an output is stale or missing", () => {
    const project = createProject({ "hello.ngraph": HELLO });
    expect(project.ngc(["compile", "hello.ngraph", "--check"])).toMatchObject({
      status: 1,
      stdout: "hello.ngraph.ts is missing\n",
    });
    project.ngc(["compile", "hello.ngraph"]);
    expect(project.ngc(["compile", "hello.ngraph", "--check"]).status).toBe(0);
    project.write("hello.ngraph", HELLO.replace("hello $", "good day $"));
    expect(project.ngc(["compile", "hello.ngraph", "--check"])).toMatchObject({
      status: 1,
      stdout: "hello.ngraph.ts is stale\n",
    });
    expect(project.json(["compile", "hello.ngraph", "--check"]).document).toMatchObject({
      ok: true,
      stale: ["hello.ngraph.ts"],
    });
  });

  test("--target json and js, --out", () => {
    const project = createProject({ "a/hello.ngraph": HELLO });
    expect(project.ngc(["compile", "a", "--target", "json", "--out", "out"]).status).toBe(0);
    expect(JSON.parse(project.read("out/hello.table.json"))).toMatchObject({ format: "ngraph.table", name: "hello" });
    expect(project.ngc(["compile", "a/hello.ngraph", "--target", "js", "--out", "out"]).status).toBe(0);
    expect(project.read("out/hello.ngraph.js")).toContain("export function hello(");
    expect(project.read("out/hello.ngraph.d.ts")).toContain("export declare function hello(");
  });

  test("writes outputs of valid files only, and exits with 2 if one is invalid", () => {
    const project = createProject({ "broken.ngraph": BROKEN, "hello.ngraph": HELLO });
    expect(project.ngc(["compile", "."])).toMatchObject({ status: 2 });
    expect(project.has("broken.ngraph.ts")).toBe(false);
    expect(project.has("hello.ngraph.ts")).toBe(true);
  });

  test("two sources that would be written to one file are refused", () => {
    const project = createProject({ "a/hello.ngraph": HELLO, "b/hello.ngraph": HELLO });
    const { status, stderr } = project.ngc(["compile", "a", "b", "--out", "out"]);
    expect(status).toBe(64);
    expect(stderr).toContain("would both be written to out/hello.ngraph.ts");
    expect(project.has("out")).toBe(false);
  });

  test("--watch compiles again when a source changes", async () => {
    const project = createProject({ "hello.ngraph": HELLO });
    const watch = watching(project, ["compile", "hello.ngraph", "--watch"]);
    await watch.until("waiting for changes");
    expect(project.read("hello.ngraph.ts")).toContain("hello");
    await watch.save(
      () => project.write("hello.ngraph", HELLO.replace("hello $", "good day $")),
      "waiting for changes",
    );
    expect(project.read("hello.ngraph.ts")).toContain("good day");
    expect(await watch.stop()).toBe("SIGINT");
  });

  test("--watch compiles again when the directory of an import appears, and when it is moved away", async () => {
    const project = createProject({
      "package.json": "{}",
      "main.ngraph": `import { hello } from "./parts/texts/hello.ngraph"\ngraph main { node a = hello()  start -> a }`,
    });
    const watch = watching(project, ["compile", "main.ngraph", "--watch"]);
    await watch.until("waiting for changes");
    expect(project.has("main.ngraph.ts")).toBe(false);
    await watch.save(() => project.write("parts/texts/hello.ngraph", HELLO), "wrote main.ngraph.ts");
    await watch.until("wrote main.ngraph.ts\nwaiting for changes");
    const [texts, old] = ["texts", "old"].map((name) => join(project.directory, "parts", name)) as [string, string];
    const moved = (): void => {
      if (project.has("parts/old")) renameSync(old, texts);
      renameSync(texts, old);
    };
    await watch.save(moved, "no file `./parts/texts/hello.ngraph`");
    expect(await watch.stop()).toBe("SIGINT");
  });

  test.each(["main.ngraph", "."])(
    "--watch checks again when a directory above an imported one is moved away: %s",
    async (path) => {
      const project = createProject({
        "package.json": "{}",
        "main.ngraph": `import { f } from "./parts/inner/texts/f.ts"\ngraph main { node a = f()  start -> a -> end }`,
        "parts/inner/texts/f.ts": "export function f(): void {}\n",
      });
      const watch = watching(project, ["check", path, "--watch"]);
      await watch.until("nothing to report\nwaiting for changes");
      const [parts, old] = ["parts", "old"].map((name) => join(project.directory, name)) as [string, string];
      const moved = (): void => {
        if (project.has("old")) renameSync(old, parts);
        renameSync(parts, old);
      };
      await watch.save(moved, "no file `./parts/inner/texts/f.ts`");
      expect(await watch.stop()).toBe("SIGINT");
    },
  );
});

describe("watching", () => {
  test("a system that allows no further watches ends the watch with the way out", () => {
    const project = createProject({
      "hello.ngraph": HELLO,
      "full.mjs": `import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
fs.watch = () => { throw Object.assign(new Error("ENOSPC"), { code: "ENOSPC" }); };
syncBuiltinESMExports();`,
    });
    const ran = project.ngc(["check", "hello.ngraph", "--watch"], { env: { NODE_OPTIONS: "--import ./full.mjs" } });
    expect(ran.status).toBe(1);
    expect(ran.stderr).toContain("cannot watch .: the system allows no further watches");
    expect(ran.stderr).toContain("fs.inotify.max_user_watches");
  });

  test("check reports the findings of each version, and goes on after a missing file", async () => {
    const project = createProject({ "hello.ngraph": HELLO });
    const watch = watching(project, ["check", "hello.ngraph", "--watch"]);
    await watch.until("waiting for changes");
    await watch.save(() => project.write("hello.ngraph", HELLO.replace("start ->", "strat ->")), "strat");
    await watch.save(() => project.write("hello.ngraph", HELLO), "nothing to report");
    expect(await watch.stop()).toBe("SIGINT");
  });

  test("tests run again when a module changes", async () => {
    const project = createProject({
      "nodes.ts": "export const f = (): number => 1;\n",
      "a.ngraph":
        'import { f } from "./nodes.ts"\ngraph g {\n  output o: int\n  node n = f() into o\n  start -> n\n}\ntest "one" for g {\n  expect o == 1\n}\n',
    });
    const watch = watching(project, ["test", "a.ngraph", "--watch"]);
    await watch.until("waiting for changes");
    await watch.save(() => project.write("nodes.ts", "export const f = (): number => 2;\n"), "0 of 1 test passed");
    await watch.save(() => project.write("nodes.ts", "export const f = (): number => 1;\n"), "1 of 1 test passed");
    expect(await watch.stop()).toBe("SIGINT");
  });

  test("a module is watched while it has an error, also one that no graph file names", async () => {
    const project = createProject({
      "value.ts": "export const value = 1;\n",
      "nodes.ts": 'import { value } from "./value.ts";\nexport const f = (): number => value;\n',
      "a.ngraph":
        'import { f } from "./nodes.ts"\ngraph g {\n  output o: int\n  node n = f() into o\n  start -> n\n}\ntest "one" for g {\n  expect o == 1\n}\n',
    });
    const nodes = project.read("nodes.ts");
    const watch = watching(project, ["test", "a.ngraph", "--watch"]);
    await watch.until("waiting for changes");
    await watch.save(() => project.write("nodes.ts", ""), "exports no `f`");
    await watch.save(() => project.write("nodes.ts", nodes), "1 of 1 test passed");
    await watch.save(() => project.write("nodes.ts", "export const f = ("), "syntax error at 1:19");
    await watch.save(() => project.write("nodes.ts", nodes), "1 of 1 test passed");
    await watch.save(() => project.write("value.ts", "export const value = 2;\n"), "0 of 1 test passed");
    expect(await watch.stop()).toBe("SIGINT");
  });

  test("a new graph file in a directory, and a missing import that appears, are checked", async () => {
    const project = createProject({ "graphs/hello.ngraph": HELLO });
    const watch = watching(project, ["check", "graphs", "--watch"]);
    await watch.until("waiting for changes");
    const user =
      'import { part } from "./part.ngraph"\ngraph user {\n  output o: string\n  node n = part() into o\n  start -> n\n}\n';
    await watch.save(() => project.write("graphs/user.ngraph", user), "part.ngraph");
    const part = 'graph part {\n  output text: string\n  node n = "hi" into text\n  start -> n\n}\n';
    await watch.save(() => project.write("graphs/part.ngraph", part), "3 graphs checked");
    // In a directory that is new, and then in one that is known.
    await watch.save(() => project.write("graphs/more/one.ngraph", part.replace("part", "one")), "4 graphs checked");
    await watch.save(() => project.write("graphs/more/two.ngraph", part.replace("part", "two")), "5 graphs checked");
    expect(await watch.stop()).toBe("SIGINT");
  });

  test.each([
    [["check", "hello.ngraph", "--watch", "--fix"], "--watch and --fix exclude each other"],
    [["check", "-", "--watch"], "it takes no standard input"],
    [["check", "--watch"], "missing required argument 'path'"],
    [["check", "hello.ngraph", "--watch", "--json"], "--watch and --json exclude each other"],
    [["test", "hello.ngraph", "--watch", "--json"], "--watch and --json exclude each other"],
  ])("%s is refused", (args, message) => {
    const { status, stderr } = createProject({ "hello.ngraph": HELLO }).ngc(args);
    expect(stderr).toContain(message);
    expect(status).toBe(64);
  });
});

describe("ngc check -", () => {
  const YAML = "graph: g\nnodes:\n  a: { call: print, args: [1] }\nedges: [start -> a]\n";
  test("checks standard input in either spelling, and prints the fixed text", () => {
    const { ngc } = createProject();
    expect(ngc(["check", "-"], { input: HELLO })).toMatchObject({ status: 0 });
    expect(ngc(["check", "-"], { input: YAML })).toMatchObject({ status: 0 });
    const wrong = ngc(["check", "-"], { input: HELLO.replace("start ->", "strat ->") });
    expect(wrong.status).toBe(2);
    expect(wrong.stderr + wrong.stdout).toContain("stdin.ngraph(");
    expect(ngc(["check", "-", "--fix"], { input: HELLO.replace("start ->", "strat ->") }).stdout).toContain("start ->");
    expect(ngc(["check", "-", "hello.ngraph"], { input: HELLO })).toMatchObject({ status: 64 });
  });
});

describe("ngc convert", () => {
  test("converts text to YAML and back, with the same meaning", () => {
    const project = createProject({ "flow.ngraph": FLOW, "nodes.ts": FLOW_NODES });
    expect(project.ngc(["convert", "flow.ngraph", "--to", "yaml", "-o", "flow.ngraph.yaml"]).status).toBe(0);
    const { stdout, status } = project.ngc(["convert", "flow.ngraph.yaml", "--to", "ngraph"]);
    expect(status).toBe(0);
    project.write("again.ngraph", stdout);
    const digests = ["flow.ngraph", "flow.ngraph.yaml", "again.ngraph"].map(
      (file) => project.json(["check", file]).document.graphs[0].digest,
    );
    expect(new Set(digests).size).toBe(1);
  });

  test("a file in the wanted spelling is wrong usage; a broken file exits with 2", () => {
    const { ngc } = createProject({ "hello.ngraph": HELLO, "bad.ngraph": "graph {" });
    expect(ngc(["convert", "hello.ngraph", "--to", "ngraph"]).status).toBe(64);
    expect(ngc(["convert", "bad.ngraph", "--to", "yaml"])).toMatchObject({ status: 2, stdout: "" });
  });
});

describe("ngc graph", () => {
  test("draws in every format", () => {
    const project = createProject({ "flow.ngraph": FLOW, "nodes.ts": FLOW_NODES });
    expect(project.ngc(["graph", "flow.ngraph"]).stdout).toContain("↳ calc  double()");
    expect(project.ngc(["graph", "flow.ngraph", "--format", "mermaid"]).stdout).toMatch(/^flowchart TD/);
    expect(project.ngc(["graph", "flow.ngraph", "--format", "dot"]).stdout).toMatch(/^digraph "flow"/);
    expect(project.ngc(["graph", "flow.ngraph", "--format", "svg"]).stdout).toMatch(/^<svg /);
    expect(project.ngc(["graph", "flow.ngraph", "--format", "html", "-o", "flow.html"])).toMatchObject({
      status: 0,
      stdout: "",
    });
    expect(project.read("flow.html")).toMatch(/^<!doctype html>/);
    const { document } = project.json(["graph", "flow.ngraph"]);
    expect(document).toMatchObject({ version: 1, name: "flow" });
    expect(document.nodes.map((node: { id: string }) => node.id)).toEqual(["start", "calc", "sure", "end"]);
    expect(JSON.parse(project.ngc(["graph", "flow.ngraph", "--format", "json"]).stdout)).toEqual(document);
  });

  test("chooses the format by the name of the file, and refuses an extension of no format", () => {
    const project = createProject({ "hello.ngraph": HELLO });
    const draw = (...args: string[]) => project.ngc(["graph", "hello.ngraph", ...args]);
    expect(draw("-o", "hello.SVG")).toMatchObject({ status: 0, stderr: "wrote hello.SVG\n" });
    expect(project.read("hello.SVG")).toMatch(/^<svg /);
    expect(draw("-o", "hello.txt", "--format", "dot").status).toBe(0);
    expect(project.read("hello.txt")).toMatch(/^digraph /);
    const { status, stderr } = draw("-o", "hello.jpg");
    expect(status).toBe(64);
    expect(stderr).toContain("no format of a picture has the extension `.jpg`");
    expect(stderr).toContain(".svg");
    expect(project.has("hello.jpg")).toBe(false);
  });
});

test("ngc explain NG_… explains the errors of runs", () => {
  const project = createProject();
  for (const code of RUN_ERRORS)
    expect(project.ngc(["explain", code]).stdout, code).toMatch(new RegExp(`^# ${code}\\n\\n\\S`));
  const { errors } = project.json(["explain"]).document as { errors: readonly { code: string; title: string }[] };
  // A sentence each, also where the page breaks its lines.
  for (const { code, title } of errors) expect(title, code).toMatch(/^[^[\]]*\.$/);
  expect(project.json(["explain", "ng_drift"]).document).toMatchObject({ version: 1, code: "NG_DRIFT" });
  const { status, stderr } = project.ngc(["explain", "NG_DRFT"]);
  expect(status).toBe(64);
  expect(stderr).toContain("did you mean `NG_DRIFT`?");
});

describe("ngc explain", () => {
  test("by code in any case, or by name", () => {
    const { ngc, json } = createProject();
    const { status, stdout } = ngc(["explain", "ng301"]);
    expect(status).toBe(0);
    expect(stdout).toContain("NG301");
    expect(ngc(["explain", "join-never-complete"]).stdout).toBe(stdout);
    expect(json(["explain", "NG301"]).document).toMatchObject({
      code: "NG301",
      name: "join-never-complete",
      severity: "error",
    });
  });
});

describe("ngc new", () => {
  test("the starter project has no findings, and runs until its question", () => {
    const project = createProject();
    expect(project.ngc(["new", "starter"]).status).toBe(0);
    expect(project.ngc(["check", "starter"])).toMatchObject({
      status: 0,
      stderr: expect.stringContaining("1 graph checked, nothing to report\n"),
    });
    const ran = project.ngc(["run", "starter/greeting.ngraph", "--input", '{"name": "Ada"}', "--thread", "t"]);
    expect(ran.status).toBe(3);
    expect(ran.stdout).toContain("Send this?");
    expect(project.ngc(["resume", "t", "--answer", "send"])).toMatchObject({
      status: 0,
      stdout: expect.stringContaining("Ada"),
    });
    expect(project.ngc(["new", "starter"])).toMatchObject({ status: 64 });
  });

  test.each([
    ["ünï", "uni"],
    ["Große Dateien", "grosse-dateien"],
    ["日本", "graphs"],
    ["node_modules", "graphs"],
    ["a".repeat(240), "a".repeat(214)],
  ])("the directory %s has a package with a name that npm accepts", (directory, name) => {
    const project = createProject();
    expect(project.ngc(["new", directory])).toMatchObject({ status: 0 });
    expect(JSON.parse(project.read(join(directory, "package.json")))).toMatchObject({ name });
  });

  test("started by npx, it names the package: another package is called ngc", () => {
    const { stderr } = createProject().ngc(["new", "starter"], { env: { npm_command: "exec" } });
    expect(stderr).toContain("cd starter && npx --package ngraph ngc run greeting.ngraph");
  });
});

test.runIf(process.platform === "linux")("a pipe is written, and not replaced by a file", () => {
  const project = createProject({ "a.ngraph": "graph g {\n  node n = 1\n  start -> n\n}\n" });
  const script = `mkfifo pipe; cat pipe > got & "$0" "$1" graph a.ngraph --format dot -o pipe; wait; test -p pipe`;
  const { status, stderr } = spawnSync("sh", ["-c", script, process.execPath, PROGRAM], {
    cwd: project.directory,
    encoding: "utf8",
    timeout: 240_000,
  });
  expect(status, stderr).toBe(0);
  expect(project.read("got")).toContain("digraph");
});
