/** What `ngc check` makes of files and of what they import: each with its message, its place and its exit code. */
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createProject, type Document, type Project } from "./project.ts";

const graph = (name: string): string => `graph ${name} { output o: int  node a = 1 into o  start -> a }\n`;
const YAML = `graph: inner\noutput: { o: int }\nnodes: { a: { expr: 1, into: o } }\nedges: [start -> a]\n`;
const caller = (specifier: string, name = "inner"): string =>
  `import { ${name} } from "${specifier}"\ngraph main { output o: int  node a = ${name}() into { o }  start -> a }\n`;

/** Each diagnostic on a line of its own, and the exit code. */
function check(project: Project, file = "main.ngraph"): string {
  const { status, stderr, stdout } = project.ngc(["check", file]);
  expect(stdout).toBe("");
  const lines = stderr.split("\n").filter((line) => / (?:error|warning) NG\d+: |^error: /.test(line));
  return [...lines, `exit ${status}`].join("\n");
}

describe("imports", () => {
  test("across both spellings, both ways", () => {
    const project = createProject({
      "package.json": "{}",
      "main.ngraph": caller("./lib/inner.yaml"),
      "lib/inner.yaml": YAML,
      "main.yaml": `imports: { ./inner.ngraph: [inner] }\n---\ngraph: main\noutput: { o: int }\nnodes: { a: { call: inner, into: { o: o } } }\nedges: [start -> a]\n`,
      "inner.ngraph": graph("inner"),
    });
    expect(check(project)).toBe("exit 0");
    expect(check(project, "main.yaml")).toBe("exit 0");
  });

  test("NG112: in a cycle across spellings, shown where it closes", () => {
    const project = createProject({
      "package.json": "{}",
      "main.ngraph": caller("./inner.yaml"),
      "inner.yaml": `imports: { ./main.ngraph: [main] }\n---\ngraph: inner\noutput: { o: int }\nnodes: { a: { call: main, into: { o: o } } }\nedges: [start -> a]\n`,
    });
    expect(check(project)).toBe("inner.yaml(1,12): error NG112: files import each other in a cycle\nexit 2");
    const { document } = project.json(["check", "main.ngraph"]);
    expect(document.diagnostics[0].notes).toEqual(["cycle: main.ngraph -> inner.yaml -> main.ngraph"]);
  });

  test.each([
    ["a path", "../out/inner.ngraph"],
    ["an absolute path", "/etc/passwd"],
    ["a link to a file", "./link.ngraph"],
    ["a link to a directory", "./directory/inner.ngraph"],
  ])("NG113: out of the project by %s", (_, specifier) => {
    const project = createProject({
      "project/package.json": "{}",
      "project/main.ngraph": caller(specifier),
      "out/inner.ngraph": graph("inner"),
    });
    symlinkSync("../out/inner.ngraph", join(project.directory, "project/link.ngraph"));
    symlinkSync("../out", join(project.directory, "project/directory"));
    expect(check(project, "project/main.ngraph")).toBe(
      `project/main.ngraph(1,23): error NG113: \`${specifier}\` lies outside the project\nexit 2`,
    );
  });

  test("a link within the project is allowed, and refers to the same file", () => {
    const project = createProject({
      "package.json": "{}",
      "main.ngraph": `import { inner } from "./link.ngraph"\nimport { inner as again } from "./inner.ngraph"\ngraph main { output o: int  output p: int  node a = inner() into { o }  node b = again() into { o: p }  start -> a -> b }`,
      "inner.ngraph": graph("inner"),
    });
    symlinkSync("inner.ngraph", join(project.directory, "link.ngraph"));
    expect(check(project)).toBe("exit 0");
  });

  test("NG105: one message for each unreadable file", () => {
    const project = createProject({ "package.json": "{}", "inner.ngraph": graph("inner") });
    mkdirSync(join(project.directory, "directory.ngraph"));
    writeFileSync(join(project.directory, "binary.ngraph"), Buffer.from([0xff, 0xfe, 0x67, 0, 0x72, 0]));
    writeFileSync(join(project.directory, "binary.ts"), Buffer.from([0xc3, 0x28]));
    symlinkSync("nowhere", join(project.directory, "dangling.ngraph"));
    const reasons: Readonly<Record<string, string>> = {
      "./iner.ngraph": "no file `./iner.ngraph`",
      "./dangling.ngraph": "no file `./dangling.ngraph`",
      "./directory.ngraph": "cannot read `./directory.ngraph`: it is a directory",
      "./binary.ngraph": "cannot read `./binary.ngraph`: it is not UTF-8 text",
      "./binary.ts": "cannot read `./binary.ts`: it is not UTF-8 text",
    };
    for (const [specifier, reason] of Object.entries(reasons)) {
      project.write("main.ngraph", caller(specifier));
      expect(check(project), specifier).toBe(`main.ngraph(1,23): error NG105: ${reason}\nexit 2`);
    }
  });

  test("a file with errors: only its errors, no follow-up messages", () => {
    const project = createProject({ "package.json": "{}", "main.ngraph": caller("./inner.ngraph") });
    project.write("inner.ngraph", "grap inner { }\n");
    expect(check(project)).toMatch(/^inner\.ngraph\(1,1\): error NG001: .*\nexit 2$/);
    project.write("inner.ngraph", `${" ".repeat(4 * 1024 * 1024)}x`);
    expect(check(project)).toMatch(/^inner\.ngraph\(1,1\): error NG005: this file is too large.*\nexit 2$/);
  });

  test("NG102: two graphs of the same name from different files", () => {
    const project = createProject({
      "package.json": "{}",
      "main.ngraph": `import { inner } from "./a.ngraph"\n${caller("./b.ngraph")}`,
      "a.ngraph": graph("inner"),
      "b.ngraph": graph("inner"),
    });
    expect(check(project)).toBe("main.ngraph(2,10): error NG102: `inner` is declared twice\nexit 2");
    project.write(
      "main.ngraph",
      `import { inner } from "./a.ngraph"\nimport { inner as other } from "./b.ngraph"\ngraph main { output o: int  output p: int  node a = inner() into { o }  node b = other() into { o: p }  start -> a -> b }`,
    );
    expect(check(project)).toBe("exit 0");
  });
});

describe("named files", () => {
  test("a byte order mark and CRLF do not change positions", () => {
    const text = "graph g {\n  output o: int\n  node a = 1 into p\n  start -> a\n}\n";
    const project = createProject({
      "plain.ngraph": text,
      "bom.ngraph": `\uFEFF${text}`,
      "crlf.ngraph": text.replaceAll("\n", "\r\n"),
    });
    for (const name of ["plain", "bom", "crlf"]) {
      expect(check(project, `${name}.ngraph`)).toBe(`${name}.ngraph(3,19): error NG104: unknown channel \`p\`\nexit 2`);
    }
  });

  test("reports binary, large and missing files, and directories without graphs", () => {
    const project = createProject({ "empty.ngraph": "", "sub/notes.txt": "" });
    writeFileSync(join(project.directory, "binary.ngraph"), Buffer.from([0xff, 0xfe, 0x67, 0]));
    writeFileSync(join(project.directory, "large.ngraph"), " ".repeat(4 * 1024 * 1024 + 1));
    writeFileSync(join(project.directory, "limit.ngraph"), graph("g").padEnd(4 * 1024 * 1024));
    expect(check(project, "binary.ngraph")).toBe("error: cannot read binary.ngraph: it is not UTF-8 text\nexit 64");
    expect(check(project, "nowhere.ngraph")).toBe(
      "error: cannot read nowhere.ngraph: no such file or directory\nexit 64",
    );
    expect(check(project, "sub")).toBe("error: no graph files in sub\nexit 64");
    expect(check(project, "large.ngraph")).toBe(
      "large.ngraph(1,1): error NG005: this file is too large: 4194305 bytes, the limit is 4194304\nexit 2",
    );
    expect(check(project, "limit.ngraph")).toBe("exit 0");
    expect(check(project, "empty.ngraph")).toBe("empty.ngraph(1,1): warning NG001: this file is empty\nexit 0");
  });

  test("an unreadable file does not hide findings of the others: exit code 64, and every file is named", () => {
    const project = createProject({
      "d/a.ngraph": graph("a").replace("into o", "into p"),
      "d/z.ngraph": graph("z").replace("into o", "into p"),
      "d/fine.ngraph": "graph fine { output o: int  node a = 1 into o  start -> a }\n",
    });
    writeFileSync(join(project.directory, "d/m.ngraph"), Buffer.from([0xff, 0xfe, 0x67, 0]));
    symlinkSync("nowhere", join(project.directory, "d/n.ngraph"));
    const unreadable = ["d/m.ngraph: it is not UTF-8 text", "d/n.ngraph: no such file or directory"];
    expect(check(project, "d")).toBe(
      [
        "d/a.ngraph(1,42): error NG104: unknown channel `p`",
        "d/z.ngraph(1,42): error NG104: unknown channel `p`",
        ...unreadable.map((text) => `error: cannot read ${text}`),
        "exit 64",
      ].join("\n"),
    );
    const { status, document } = project.json(["check", "d"]);
    expect(status).toBe(64);
    expect(document).toMatchObject({ ok: false, errors: 2 });
    expect(document.unreadable.map(({ message }: Document) => message)).toEqual(
      unreadable.map((text) => `cannot read ${text}`),
    );
    expect(project.ngc(["check", "d/fine.ngraph", "nowhere.ngraph"]).status).toBe(64);

    const formatted = project.ngc(["fmt", "d"]);
    expect({ ...formatted, stdout: "" }).toMatchObject({
      status: 64,
      stderr: expect.stringContaining("formatted d/fine.ngraph"),
    });
    const compiled = project.ngc(["compile", "d"]);
    expect(compiled).toMatchObject({ status: 64, stderr: expect.stringContaining("wrote d/fine.ngraph.ts") });
    for (const text of unreadable) {
      expect(formatted.stderr).toContain(`error: cannot read ${text}`);
      expect(compiled.stderr).toContain(`error: cannot read ${text}`);
    }
  });

  test("`ngc check DIR`: both spellings, at any depth, without node_modules and hidden files", () => {
    const bad = graph("g").replace("into o", "into p");
    const project = createProject({
      "a.ngraph": bad,
      "deep/er/b.ngraph.yaml": YAML.replace("into: o", "into: p"),
      "deep/settings.yaml": "any: thing",
      "node_modules/x/c.ngraph": bad,
      ".cache/d.ngraph": bad,
      ".hidden.ngraph": bad,
    });
    // An editor's lock file.
    symlinkSync("user@host.1", join(project.directory, ".#a.ngraph"));
    symlinkSync(".", join(project.directory, "loop"));
    expect(check(project, ".")).toBe(
      [
        "a.ngraph(1,42): error NG104: unknown channel `p`",
        "deep/er/b.ngraph.yaml(3,30): error NG104: unknown channel `p`",
        "exit 2",
      ].join("\n"),
    );
  });
});
