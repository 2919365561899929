/** The project that `ngc new` writes: checked, type-checked, tested and run, without the network. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { createProject } from "../cli/project.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

test("passes its own tests, and runs", () => {
  const project = createProject();
  expect(project.ngc(["new", "starter"]).status).toBe(0);
  const directory = join(project.directory, "starter");
  // What `npm install` makes.
  const modules = join(directory, "node_modules");
  for (const each of [".bin", "@types"]) mkdirSync(join(modules, each), { recursive: true });
  symlinkSync(ROOT, join(modules, "ngraph"), "junction");
  for (const each of ["typescript", "@types/node"]) {
    symlinkSync(join(ROOT, "node_modules", each), join(modules, each), "junction");
  }
  symlinkSync("../ngraph/dist/cli/ngc.js", join(modules, ".bin/ngc"));
  symlinkSync("../typescript/bin/tsc", join(modules, ".bin/tsc"));
  const npm = (args: readonly string[], input = ""): string => {
    const { NODE_TEST_CONTEXT: _, NODE_OPTIONS: __, ...env } = process.env;
    const options = { cwd: directory, encoding: "utf8", input, timeout: 240_000, stdio: "pipe", env } as const;
    return execFileSync("npm", [...args, "--silent"], options);
  };
  expect(npm(["test"])).toMatch(/^# fail 0$|^ℹ fail 0$/m);
  // Another word is no answer: the question is asked again.
  const output = npm(["start", "Ada"], "again\nyes\nsend\n");
  expect(output.match(/Send this\?/g)).toHaveLength(3);
  expect(output).toMatch(/Ada!\n$/);
  expect(npm(["run", "check"])).toBe("");

  // Without an answer the run waits in its store.
  const ended = spawnSync(process.execPath, ["--import", "ngraph/register", "app.ts", "Ada"], {
    cwd: directory,
    encoding: "utf8",
    input: "",
    timeout: 240_000,
  });
  expect(ended.status).toBe(3);
  expect(ended.stderr).toMatch(/^no answer yet: the run waits in runs\.db as thread [-0-9a-f]+\n$/);
});
