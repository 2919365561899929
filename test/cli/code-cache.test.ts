import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { createProject, HELLO, PROGRAM } from "./project.ts";

const ROOT = dirname(dirname(dirname(PROGRAM)));

/** A copy of the program, so that no other test writes its cache. */
function installed() {
  const project = createProject({ "hello.ngraph": HELLO });
  const folder = join(project.directory, "ngraph");
  mkdirSync(join(folder, "dist"), { recursive: true });
  cpSync(dirname(PROGRAM), join(folder, "dist/cli"), {
    recursive: true,
    filter: (path) => !path.includes(".cache"),
  });
  cpSync(join(ROOT, "package.json"), join(folder, "package.json"));
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  const cli = join(folder, "dist/cli");
  const ngc = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [join(cli, "ngc.js"), ...args], {
      cwd: project.directory,
      encoding: "utf8",
      env: { ...process.env, NO_COLOR: "1" },
    });
    return { status, stdout, stderr };
  };
  return {
    cli,
    ngc,
    caches: () => readdirSync(join(cli, ".cache")).filter((name) => name.endsWith(".bin")),
    read: (name: string) => readFileSync(join(cli, ".cache", name)),
    write: (name: string, text: string) => writeFileSync(join(project.directory, name), text),
  };
}

const CHECKED = {
  status: 0,
  stdout: "",
  stderr: "hello.ngraph(1,7): hello: sound\n1 graph checked, nothing to report\n",
};

test("a command writes compiled code beside the program, and has the same output with it", () => {
  const { ngc, caches, read } = installed();
  expect(ngc("check", "hello.ngraph")).toEqual(CHECKED);
  const names = caches();
  expect(names.length).toBeGreaterThan(3);
  for (const name of names) expect(name).toMatch(/^check-[\w-]+\.cjs-v\d+.*\.bin$/);
  expect(names.some((name) => name.startsWith("check-compiler-"))).toBe(true);
  const before = names.map(read);
  expect(ngc("check", "hello.ngraph")).toEqual(CHECKED);
  expect(caches()).toEqual(names);
  expect(names.map((name, at) => read(name).equals(before[at] ?? Buffer.alloc(0)))).toEqual(names.map(() => true));
  ngc("fmt", "--check", "hello.ngraph");
  const more = caches().filter((name) => name.startsWith("fmt-"));
  expect(more.length).toBeGreaterThan(3);
  expect(more.filter((name) => name.startsWith("fmt-compiler-"))).toEqual([]);
});

test("a run that loads another part stores all of its code again", () => {
  const { ngc, caches, read, write } = installed();
  write("f.ts", "export const f = (x: number): number => x;\n");
  write(
    "call.ngraph",
    'import { f } from "./f.ts"\ngraph g { input x: int  output y: int  node n = f(x) into y  start -> n }\n',
  );
  expect(ngc("check", "hello.ngraph")).toEqual(CHECKED);
  const compiler = caches().find((name) => name.startsWith("check-compiler-")) ?? "";
  const before = read(compiler).length;
  expect(ngc("check", "call.ngraph").status).toBe(0);
  expect(caches().some((name) => name.startsWith("check-parser-"))).toBe(true);
  expect(read(compiler).length).toBeGreaterThan(before);
});

test("damaged caches are replaced, and wrong usage leaves none", () => {
  const { ngc, caches, cli, read } = installed();
  expect(ngc("chekc").status).toBe(64);
  expect(existsSync(join(cli, ".cache"))).toBe(false);
  ngc("check", "hello.ngraph");
  const names = caches();
  const sizes = names.map((name) => read(name).length);
  for (const damage of [Buffer.alloc(0), Buffer.from("not a cache"), read(names[0] ?? "").subarray(0, 500)]) {
    for (const name of names) writeFileSync(join(cli, ".cache", name), damage);
    expect(ngc("check", "hello.ngraph")).toEqual(CHECKED);
    expect(names.map((name, at) => read(name).length > (sizes[at] ?? 0) / 2)).toEqual(names.map(() => true));
  }
});

test("all parts are strict code, as the modules are", () => {
  const { cli } = installed();
  const names = readdirSync(join(cli, "parts"));
  expect(names.length).toBeGreaterThan(100);
  const start = /^\(function \([\w, ]+\) \{"use strict";/;
  expect(names.filter((name) => !start.test(readFileSync(join(cli, "parts", name), "utf8")))).toEqual([]);
});

test("a part that was removed is an error with a way out", () => {
  const { ngc, cli } = installed();
  const remove = (part: string): void => {
    const name = readdirSync(join(cli, "parts")).find((each) => each.startsWith(`${part}-`)) ?? "";
    rmSync(join(cli, "parts", name));
  };
  remove("compiler");
  const late = ngc("check", "hello.ngraph");
  expect(late.stderr).toMatch(
    /^error: the file compiler-[\w-]+\.cjs of this program cannot be read: it was replaced or removed\n {2}= help: start the command again\n$/,
  );
  expect(late.status).toBe(1);
  remove("main");
  const early = ngc("check", "hello.ngraph");
  expect(early.stderr).toMatch(/^error: the file main-[\w-]+\.cjs .*\n {2}= help: install ngraph again\n$/);
  expect(early.status).toBe(70);
});

test("without write permission for the program's directory, commands work without a cache", () => {
  const { ngc, cli } = installed();
  // A file where the directory would be: not even root can write into it.
  writeFileSync(join(cli, ".cache"), "");
  chmodSync(cli, 0o555);
  expect(ngc("check", "hello.ngraph")).toEqual(CHECKED);
  expect(ngc("run", "hello.ngraph", "--store", "memory").status).toBe(0);
  chmodSync(cli, 0o755);
});
