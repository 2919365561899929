import { expect, test } from "vitest";
import packageJson from "../../package.json" with { type: "json" };
import { createProject, HELLO } from "./project.ts";

test("--version prints the package's version", () => {
  const { ngc } = createProject();
  expect(ngc(["--version"])).toEqual({ status: 0, stdout: `${packageJson.version}\n`, stderr: "" });
  expect(ngc(["-V"]).stdout).toBe(`${packageJson.version}\n`);
});

test("--help lists the commands and the exit codes", () => {
  const { status, stdout } = createProject().ngc(["--help"]);
  expect(status).toBe(0);
  for (const command of [
    "check",
    "compile",
    "types",
    "run",
    "resume",
    "history",
    "show",
    "fork",
    "label",
    "update",
    "threads",
    "prune",
    "delete",
    "fmt",
    "convert",
    "graph",
    "explain",
  ]) {
    expect(stdout).toMatch(new RegExp(`^  ${command}\\b`, "m"));
  }
  expect(stdout).toContain("64 wrong usage");
});

test("every command explains itself", () => {
  const { ngc } = createProject();
  for (const command of ["check", "run", "compile"]) {
    const { status, stdout } = ngc([command, "--help"]);
    expect(status).toBe(0);
    expect(stdout).toContain(`Usage: ngc ${command}`);
    expect(stdout).toContain("--json");
  }
});

test("wrong usage exits with 64, with the error and a suggestion", () => {
  const { ngc } = createProject({ "a.ngraph": HELLO });
  const wrong = (args: string[]): string => {
    const { status, stdout, stderr } = ngc(args);
    expect(status, args.join(" ")).toBe(64);
    expect(stdout).toBe("");
    expect(stderr).not.toContain("    at ");
    return stderr;
  };
  expect(wrong(["chekc", "a.ngraph"])).toMatch(/unknown command 'chekc'[\s\S]*check/);
  expect(wrong(["check", "--verbos", "a.ngraph"])).toMatch(/unknown option '--verbos'[\s\S]*--verbose/);
  expect(wrong(["check"])).toContain("missing required argument 'path'");
  expect(wrong(["run", "a.ngraph", "--max-steps", "many"])).toContain(
    "--max-steps takes a whole number from 1, not `many`",
  );
  expect(wrong(["run", "a.ngraph", "--allow", "nett"])).toMatch(/--allow takes .*not `nett`[\s\S]*did you mean `net`/);
  expect(wrong(["run", "a.ngraph", "--store", "runs.db"])).toMatch(/--store takes[\s\S]*did you mean `sqlite:runs.db`/);
  expect(wrong(["run", "a.ngraph", "--input", "{bad"])).toContain("--input is not valid JSON");
  expect(wrong(["run", "a.ngraph", "--input", "[1]"])).toContain("must be a JSON object");
  expect(wrong(["run", "a.ngraph", "--input", "@none.json"])).toContain(
    "cannot read none.json: no such file or directory",
  );
  expect(wrong(["check", "none.ngraph"])).toContain("cannot read none.ngraph: no such file or directory");
  expect(wrong(["run", "a.ngraph", "b.ngraph"])).toContain("too many arguments");
  expect(wrong(["graph", "a.ngraph", "--format", "mermaidd"])).toMatch(/did you mean `mermaid`/);
  expect(wrong(["explain", "NG9999"])).toContain("there is no diagnostic `NG9999`");
});

test("a file in place of a command is answered with the commands that take it", () => {
  const { ngc } = createProject({ "my graphs/a b.ngraph": HELLO, "nodes.ts": "" });
  const helpOf = (argument: string): string => {
    const { status, stdout, stderr } = ngc([argument]);
    expect([status, stdout]).toEqual([64, ""]);
    return stderr;
  };
  expect(helpOf("my graphs/a b.ngraph")).toMatch(
    /missing command before[^]*`ngc check 'my graphs\/a b.ngraph'` checks it, `ngc run 'my graphs\/a b.ngraph'` runs it/,
  );
  expect(helpOf("none.ngraph.yaml")).toContain("`ngc run none.ngraph.yaml` runs it");
  expect(helpOf("my graphs")).toContain("`ngc check 'my graphs'` checks the graph files in it");
  expect(helpOf("nodes.ts")).toContain("unknown command 'nodes.ts'");
});

test("mistakes of a first try have a way out", () => {
  const { ngc } = createProject({ "my/hello.ngraph": HELLO, "in.json": "{}" });
  const cases: readonly (readonly [args: string[], help: string])[] = [
    [["run", "my/helo.ngraph"], "did you mean `my/hello.ngraph`?"],
    [["check", "my\\hello.ngraph"], "did you mean `my/hello.ngraph`?"],
    [["run", "my"], "name a file in it"],
    [["run", "my/hello.ngraph", "--input", "in.json"], "@in.json reads the file of this name"],
    [["run", "my/hello.ngraph", "--input", "name=Ada"], "@FILE reads a file"],
    [["import", "my/hello.ngraph"], "`ngc check my/hello.ngraph` checks it"],
    [["init"], "did you mean `ngc new`?"],
    [["lint", "my"], "did you mean `ngc check`?"],
    [["version"], "did you mean `ngc --version`?"],
  ];
  for (const [args, help] of cases) {
    const { status, stderr } = ngc(args);
    expect([status, stderr], args.join(" ")).toEqual([64, expect.stringContaining(help)]);
  }
  expect(ngc(["check", "none/at-all.ngraph"]).stderr).not.toContain("help");
});

test("commands without their argument list its values", () => {
  const { ngc, json } = createProject();
  const { status, stderr } = ngc(["completion"], { env: { SHELL: "/usr/bin/fish" } });
  expect([status, stderr]).toEqual([
    64,
    expect.stringMatching(/name the shell: bash, zsh, fish\n[^]*`ngc completion fish`/),
  ]);
  const listed = ngc(["explain"]);
  expect(listed.status).toBe(0);
  expect(listed.stdout).toMatch(/^ {2}NG301 {2}error +\S/m);
  expect(listed.stdout).toMatch(/^ {2}NG_NO_STORE +The graph pauses/m);
  const { document } = json(["explain"]);
  expect(document.diagnostics).toContainEqual(expect.objectContaining({ code: "NG301", severity: "error" }));
  expect(document.errors).toContainEqual(expect.objectContaining({ code: "NG_DRIFT" }));
});

test("with --json wrong usage prints one document", () => {
  const { json } = createProject();
  const { status, document } = json(["check", "none.ngraph"]);
  expect(status).toBe(64);
  expect(document).toMatchObject({
    version: 1,
    ok: false,
    error: { code: "usage", message: "cannot read none.ngraph: no such file or directory" },
  });
});

test("directories and binary files are refused with a reason", () => {
  const project = createProject({ "dir/readme.md": "x" });
  expect(project.ngc(["run", "dir"]).stderr).toContain("cannot read dir: it is a directory");
  expect(project.ngc(["check", "dir"]).stderr).toContain("no graph files in dir");
  project.write("bad.ngraph", "");
  const { status, stderr } = project.ngc(["check", "/dev/zero"]);
  expect(status).toBe(64);
  expect(stderr).toContain("neither a file nor a pipe");
});

test("a command whose output is not read ends without an error", async () => {
  const { start } = createProject();
  for (const args of [["--help"], ["--version"], ["explain", "NG301"]]) {
    const child = start(args);
    child.stdout.destroy();
    let stderr = "";
    child.stderr.on("data", (chunk) => (stderr += chunk));
    const status = await new Promise((resolve) => child.once("close", resolve));
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  }
});
