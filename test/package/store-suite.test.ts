/** The suite of stores as another project runs it: from the built package, under `node:test`, and with its types. */
import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { createProject } from "../cli/project.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

function projectWith(files: Record<string, string>) {
  const project = createProject({ "package.json": '{ "type": "module" }', ...files });
  const modules = join(project.directory, "node_modules");
  mkdirSync(join(modules, "@types"), { recursive: true });
  symlinkSync(ROOT, join(modules, "ngraph"));
  symlinkSync(join(ROOT, "node_modules/@types/node"), join(modules, "@types/node"));
  return project;
}

const TEST = `import { describe, it } from "node:test";
  import { MemoryStore } from "ngraph/runtime";
  import { describeStore } from "ngraph/stores/conformance";
  describeStore({ describe, it }, "a store", () => new MemoryStore());
  class Forgetful extends MemoryStore { list() { return []; } }
  if (process.env["BROKEN"]) describeStore({ describe, it }, "a broken one", () => new Forgetful());`;

describe("ngraph/stores/conformance", () => {
  const run = (directory: string, environment: Record<string, string>): string => {
    const { NODE_TEST_CONTEXT: _, ...inherited } = process.env;
    const options = {
      cwd: directory,
      encoding: "utf8",
      timeout: 240_000,
      env: { ...inherited, ...environment },
    } as const;
    try {
      // Not with `--test`: the parent process of Node 20 sometimes reads the results of the file without end.
      return execFileSync(process.execPath, ["--test-reporter=tap", "store.test.mjs"], options);
    } catch (error) {
      return (error as { stdout: string }).stdout;
    }
  };

  test("runs under node:test, which reports skipped cases", () => {
    const { directory } = projectWith({ "store.test.mjs": TEST });
    const output = run(directory, {});
    expect(output).toMatch(/^# fail 0$/m);
    const skipped = output.match(/# SKIP the store has no \w+/g) ?? [];
    expect(skipped).toContain("# SKIP the store has no reopen");
    expect(output).toMatch(new RegExp(`^# skipped ${skipped.length}$`, "m"));
  });

  test("reports under node:test how a broken store behaves", () => {
    const { directory } = projectWith({ "store.test.mjs": TEST });
    const output = run(directory, { BROKEN: "1" });
    expect(output).not.toMatch(/^# fail 0$/m);
    expect(output).toContain("history without a limit: expected 100 items, got 0: []");
  });

  test("has types for a strict project", () => {
    const { directory } = projectWith({
      "store.ts": `import { describe, it } from "node:test";
        import { MemoryStore, type Store } from "ngraph/runtime";
        import { ConformanceError, describeStore, storeConformance } from "ngraph/stores/conformance";
        import type { MakeStore, Need, OptionalMethod, StoreCase, StoreUnderTest } from "ngraph/stores/conformance";
        const make: MakeStore = async () => {
          const store: Store = new MemoryStore();
          const under: StoreUnderTest = { store, reopen: () => store, size: () => 0, dispose: async () => {} };
          return under;
        };
        describeStore({ describe, it }, "a store", make);
        export const optional: readonly StoreCase[] = storeConformance.filter(({ needs }) => needs.length > 0);
        export const first: Need | OptionalMethod | undefined = optional[0]?.needs[0];
        export const error = (caught: unknown): unknown => (caught instanceof ConformanceError ? caught.expected : caught);`,
    });
    const tsc = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin", "tsc");
    const options = "--strict --noEmit --exactOptionalPropertyTypes --module nodenext --target es2023 --types node";
    const compiled = execFileSync(process.execPath, [tsc, ...options.split(" "), "store.ts"], {
      cwd: directory,
      encoding: "utf8",
    });
    expect(compiled).toBe("");
  });
});
