/** `file` against a real directory. */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createEngine } from "../../api/create-engine.ts";
import { compile } from "../../compiler/index.ts";
import type { Table } from "../../runtime/table/table.ts";
import type { Json } from "../../runtime/value/json.ts";
import { createFile } from "../../stdlib/nodes/file.ts";
import { checkText } from "../checks/support/check-text.ts";
import { fakeContext } from "./fake-context.ts";

let directory: string;
let root: string;
beforeEach(() => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), "ngraph-file-")));
  root = join(directory, "root");
  mkdirSync(join(root, "notes", "deep"), { recursive: true });
  writeFileSync(join(root, "notes", "a.md"), "one\n");
  writeFileSync(join(root, "notes", "deep", "b.md"), "two é\n");
  writeFileSync(join(root, "notes", ".hidden.md"), "");
  writeFileSync(join(directory, "outside.md"), "outside");
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const run = async (args: Record<string, Json>, context = fakeContext()): Promise<unknown> =>
  createFile({ root })(args, context);

describe("read", () => {
  test("returns the text of a file", async () => {
    expect(await run({ read: "notes/deep/b.md" })).toBe("two é\n");
    expect(await run({ read: "./notes/../notes/a.md" })).toBe("one\n");
    expect(await run({ read: join(root, "notes/a.md") })).toBe("one\n");
  });

  test("follows links that stay below the root", async () => {
    symlinkSync("notes", join(root, "link"));
    symlinkSync("a.md", join(root, "notes", "c.md"));
    expect(await run({ read: "link/c.md" })).toBe("one\n");
  });

  test.each([
    ["../outside.md", "leads out of the root"],
    [".ngraph/runs.db", "is in the directory .ngraph, which holds the runs of ngc"],
    ["notes/../.NGraph/new/file", "is in the directory .ngraph"],
    ["notes/../../outside.md", "leads out of the root"],
    ["/etc/passwd", "leads out of the root"],
    ["", "is not the path of a file"],
    ["a\0b", "is not the path of a file"],
    ["none.md", "does not exist"],
    ["notes", "is not a file"],
    ["notes/a.md/b", "as if it were a directory"],
    ["x".repeat(300), "too long"],
  ])("refuses %j", async (read, message) => {
    await expect(run({ read })).rejects.toMatchObject({
      message: expect.stringContaining(message) as string,
      retryable: false,
    });
  });

  test("refuses links that leave the root, and links to themselves", async () => {
    symlinkSync(join(directory, "outside.md"), join(root, "file"));
    symlinkSync("..", join(root, "up"));
    symlinkSync("loop", join(root, "loop"));
    await expect(run({ read: "file" })).rejects.toThrow("leads out of the root by a symbolic link");
    await expect(run({ read: "up/outside.md" })).rejects.toThrow("leads out of the root by a symbolic link");
    await expect(run({ read: "loop" })).rejects.toThrow("leads to itself");
  });

  test("refuses a directory whose name begins with that of the root", async () => {
    mkdirSync(`${root}-two`);
    writeFileSync(join(`${root}-two`, "a"), "no");
    await expect(run({ read: "../root-two/a" })).rejects.toThrow("leads out of the root");
  });

  test("refuses a text that is too large or not UTF-8", async () => {
    writeFileSync(join(root, "big"), "x".repeat(101));
    writeFileSync(join(root, "bytes"), Uint8Array.of(0xff, 0xfe));
    await expect(run({ read: "big", maxBytes: 100 })).rejects.toMatchObject({
      message: 'the file "big" is larger than 100 bytes: a larger limit is `maxBytes: …`',
      retryable: false,
    });
    expect(await run({ read: "big", maxBytes: 101 })).toHaveLength(101);
    await expect(run({ read: "bytes" })).rejects.toThrow("is not UTF-8 text");
    await expect(run({ read: "big", maxBytes: -1 })).rejects.toThrow("a number of bytes from 0");
  });

  test.skipIf(process.platform === "win32")("does not wait for the writer of a pipe", async () => {
    execFileSync("mkfifo", [join(root, "pipe")], { timeout: 10_000 });
    await expect(run({ read: "pipe" })).rejects.toThrow("is not a file");
  });
});

describe("write", () => {
  test("replaces a file and keeps its mode", async () => {
    chmodSync(join(root, "notes", "a.md"), 0o640);
    expect(await run({ write: "notes/a.md", text: "new" })).toBe("notes/a.md");
    expect(readFileSync(join(root, "notes", "a.md"), "utf8")).toBe("new");
    expect(statSync(join(root, "notes", "a.md")).mode & 0o777).toBe(0o640);
    expect(readdirSync(join(root, "notes")).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });

  test("creates directories, and writes other values as JSON", async () => {
    expect(await run({ write: "out/x/data.json", text: { a: [1] } })).toBe("out/x/data.json");
    expect(JSON.parse(readFileSync(join(root, "out/x/data.json"), "utf8"))).toEqual({ a: [1] });
  });

  test("writes through a link inside the root to its target", async () => {
    symlinkSync("a.md", join(root, "notes", "c.md"));
    expect(await run({ write: "notes/c.md", text: "new" })).toBe("notes/a.md");
    expect(readFileSync(join(root, "notes", "a.md"), "utf8")).toBe("new");
  });

  test("changes nothing outside of the root", async () => {
    symlinkSync("..", join(root, "up"));
    symlinkSync(join(directory, "outside.md"), join(root, "file"));
    symlinkSync(join(directory, "new.md"), join(root, "dangling"));
    for (const write of ["../outside.md", "up/outside.md", "up/new/x.md", "file"]) {
      await expect(run({ write, text: "no" })).rejects.toThrow("leads out of the root");
    }
    await expect(run({ write: "dangling", text: "no" })).rejects.toThrow("a file that does not exist");
    await expect(run({ write: "dangling/x", text: "no" })).rejects.toThrow("a file that does not exist");
    expect(readFileSync(join(directory, "outside.md"), "utf8")).toBe("outside");
    expect(readdirSync(directory).sort()).toEqual(["outside.md", "root"]);
  });

  test("refuses directories and large texts, and keeps the former file", async () => {
    await expect(run({ write: "notes", text: "no" })).rejects.toThrow("is not a file");
    await expect(run({ write: ".", text: "no" })).rejects.toThrow("is the root directory");
    await expect(run({ write: "notes/a.md", text: "12345", maxBytes: 4 })).rejects.toThrow("larger than 4 bytes");
    await expect(run({ write: "notes/a.md/b", text: "no" })).rejects.toThrow("as if it were a directory");
    expect(readFileSync(join(root, "notes", "a.md"), "utf8")).toBe("one\n");
  });

  test("writes nothing after a cancellation", async () => {
    const controller = new AbortController();
    controller.abort(new Error("stopped"));
    const context = fakeContext({ signal: controller.signal });
    await expect(run({ write: "new.md", text: "no" }, context)).rejects.toThrow("stopped");
    expect(existsSync(join(root, "new.md"))).toBe(false);
  });

  test("writers at the same time leave one whole text", async () => {
    const texts = Array.from({ length: 20 }, (_, index) => `${index}`.repeat(10_000));
    await Promise.all(texts.map((text) => run({ write: "shared", text })));
    expect(texts).toContain(readFileSync(join(root, "shared"), "utf8"));
  });
});

describe("glob", () => {
  test.each([
    ["**/*.md", ["notes/a.md", "notes/deep/b.md"]],
    ["notes/*.md", ["notes/a.md"]],
    ["notes/**", ["notes/a.md", "notes/deep/b.md"]],
    ["**/deep/?.md", ["notes/deep/b.md"]],
    ["**/**/b*", ["notes/deep/b.md"]],
    ["notes/.*.md", ["notes/.hidden.md"]],
    ["notes/a.md", ["notes/a.md"]],
    ["notes", []],
    ["none/*", []],
    ["*/*/*/*", []],
    ["notes/[a].md", []],
  ])("%s", async (glob, paths) => {
    expect(await run({ glob })).toEqual(paths);
  });

  test("finds links to files below the root, and follows no others", async () => {
    symlinkSync("a.md", join(root, "notes", "c.md"));
    symlinkSync(join(directory, "outside.md"), join(root, "notes", "d.md"));
    symlinkSync("..", join(root, "notes", "up"));
    expect(await run({ glob: "notes/**" })).toEqual(["notes/a.md", "notes/c.md", "notes/deep/b.md"]);
  });

  test("lists no runs of ngc", async () => {
    mkdirSync(join(root, ".ngraph"), { recursive: true });
    writeFileSync(join(root, ".ngraph", "runs.db"), "");
    expect(await run({ glob: ".ngraph/*" })).toEqual([]);
    expect(await run({ glob: ".*/*" })).not.toContain(".ngraph/runs.db");
  });

  test.each(["../*", "/etc/*", "", "a/../../*"])("refuses %j", async (glob) => {
    await expect(run({ glob })).rejects.toThrow("is not relative to the root");
  });
});

describe("in a graph", () => {
  const SOURCE = `graph g {
    output paths: string[]
    state texts: string[]
    output saved: string
    node find = file(glob: "notes/**/*.md") into paths
    node load = file(path) for path in paths into texts
    node save = file(write: "out.md", text: join(texts, "")) into saved
    start -> find -> load -> save -> end
  }`;

  test("the forms have their own types, and the effect is `files`", async () => {
    const { tables, diagnostics } = compile(SOURCE, { path: "g.ngraph" });
    expect(diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
    const table = tables.get("g") as Table;
    expect(table.effects).toEqual(["files"]);
    const { output, error } = await createEngine(table, { builtins: { file: createFile({ root }) } }).run({});
    expect(error).toBeNull();
    expect(output).toMatchObject({ saved: "out.md" });
    expect(readFileSync(join(root, "out.md"), "utf8")).toBe("one\ntwo é\n");
    expect(() => createEngine(table, { allow: ["net"] })).toThrow("has the effects files");
  });

  const errors = (call: string, type = "json"): readonly string[] => {
    const { diagnostics } = checkText(`graph g { output o: ${type}  node a = ${call} into o  start -> a }`, {
      raw: true,
    });
    return diagnostics.flatMap(({ severity, message }) => (severity === "error" ? [message] : []));
  };

  test("a call has exactly one form", () => {
    expect(errors('file("a")')).toEqual([]);
    expect(errors("file()")).toEqual([expect.stringContaining("needs `read`")]);
    expect(errors('file(write: "a")')).toEqual([expect.stringContaining("needs `text`")]);
    expect(errors('file(read: "a", glob: "b")')).toEqual(["`file` with `read` does not take `glob`"]);
    expect(errors('file(glob: "a", maxBytes: 1)')).toEqual(["`file` with `glob` does not take `maxBytes`"]);
    expect(errors('file(glob: "a")', "string")).not.toEqual([]);
    expect(errors('file(read: "a")', "string[]")).not.toEqual([]);
  });

  test("a model that chooses a path is a warning", () => {
    const codes = (call: string): readonly string[] => {
      const text = `graph g { state x: string  output o: json
        node m = llm("a") into x  node a = ${call} into o  start -> m -> a }`;
      return checkText(text, { raw: true }).diagnostics.map(({ code }) => code);
    };
    expect(codes("file(read: x)")).toContain("NG412");
    expect(codes("file(write: `a/${x}`, text: x)")).toContain("NG412");
    expect(codes('file(write: "a", text: x)')).not.toContain("NG412");
  });
});
