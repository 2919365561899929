import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
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
  return { cli, ngc, caches: () => readdirSync(join(cli, ".cache")) };
}

const CHECKED = {
  status: 0,
  stdout: "",
  stderr: "hello.ngraph(1,7): hello: sound\n1 graph checked, nothing to report\n",
};

test("a command writes compiled code beside the program, and has the same output with it", () => {
  const { ngc, caches, cli } = installed();
  expect(ngc("check", "hello.ngraph")).toEqual(CHECKED);
  const [only = "", ...others] = caches();
  expect(only).toMatch(/^check-v\d+.*\.bin$/);
  expect(others).toEqual([]);
  const before = readFileSync(join(cli, ".cache", only));
  expect(ngc("check", "hello.ngraph")).toEqual(CHECKED);
  expect(readFileSync(join(cli, ".cache", only)).equals(before)).toBe(true);
  ngc("fmt", "--check", "hello.ngraph");
  expect(caches()).toHaveLength(2);
});

test("a damaged cache is replaced, and wrong usage leaves none", () => {
  const { ngc, caches, cli } = installed();
  expect(ngc("chekc").status).toBe(64);
  ngc("check", "hello.ngraph");
  const [only = ""] = caches();
  const path = join(cli, ".cache", only);
  for (const damage of [Buffer.alloc(0), Buffer.from("not a cache"), readFileSync(path).subarray(0, 5000)]) {
    writeFileSync(path, damage);
    expect(ngc("check", "hello.ngraph")).toEqual(CHECKED);
    expect(readFileSync(path).length).toBeGreaterThan(100_000);
  }
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
