/** Generated modules in the projects of users: each TypeScript version, each module resolution, the strictest options. */
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { createProject } from "../cli/project.ts";
import { PARCEL, USE_OF_PARCEL } from "../emit/parcel-graph.ts";
import { SUPPORT, SUPPORT_NODES } from "../emit/support-graph.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

const STRICT = {
  target: "es2022",
  lib: ["es2023", "dom", "dom.iterable", "dom.asynciterable"],
  types: [],
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noPropertyAccessFromIndexSignature: true,
  verbatimModuleSyntax: true,
  erasableSyntaxOnly: true,
  isolatedModules: true,
  noUnusedLocals: true,
  noUnusedParameters: true,
  noImplicitReturns: true,
  noFallthroughCasesInSwitch: true,
  allowUnreachableCode: false,
  skipLibCheck: false,
};
/** The options of a plain `tsc` project, and those of a project that a bundler or Node runs. */
const PROJECTS = {
  "nodenext, emitting": { module: "nodenext", outDir: "out", rootDir: "." },
  "nodenext, rewriting": { module: "nodenext", outDir: "out", rootDir: ".", rewriteRelativeImportExtensions: true },
  bundler: { module: "esnext", moduleResolution: "bundler", noEmit: true, allowImportingTsExtensions: true },
} as const;

/** A long chain of operators, which must not exhaust the stack of a compiler. */
const SUM = `graph sum { input x: int  output y: int  node a = ${Array(900).fill("x").join(" + ")} into y  start -> a -> end }`;

const APP = (extension: string): string => `
import { MemoryStore } from "ngraph/runtime";
import { PostgresStore } from "ngraph/stores/postgres";
import { SqliteStore } from "ngraph/stores/sqlite";
import { support } from "./support.ngraph.${extension}";

export const stores = [PostgresStore, SqliteStore];
const result = await support({ store: new MemoryStore() }).run({ ticket: "the API answers 500" }, { thread: "42" });
if (result.status === "completed") {
  const reply: string = result.output.reply;
  console.log(reply);
}
`;

/**
 * TypeScript 5.9 and 6 are installed by `npm ci --prefix test/peers`: as dependencies of this package, their commands would replace
 * its own `tsc`.
 */
const VERSIONS = [
  join(ROOT, "node_modules/typescript"),
  ...["typescript-6", "typescript-5"].map((name) => join(ROOT, "test/peers/node_modules", name)),
].filter((path) => existsSync(path));

function tsc(version: string, directory: string): Promise<string> {
  const script = join(version, "bin/tsc");
  return new Promise((done) => {
    const args = [script, "-p", directory, "--pretty", "false"];
    execFile(process.execPath, args, { cwd: directory, timeout: 240_000 }, (_, stdout) => done(stdout));
  });
}

test.each(Object.entries(PROJECTS))(
  "%s: tsc 5.9, 6 and 7 accept a module that ngc compile writes",
  async (_, options) => {
    const extension =
      "allowImportingTsExtensions" in options || "rewriteRelativeImportExtensions" in options ? "ts" : "js";
    const project = createProject({
      "package.json": `{ "type": "module" }`,
      "tsconfig.json": `{
  // The options of the project.
  "compilerOptions": ${JSON.stringify({ ...STRICT, ...options })},
  "include": ["*.ts"],
}`,
      "support.ngraph": SUPPORT,
      "nodes.ts": SUPPORT_NODES,
      "app.ts": APP(extension),
      "parcel.ngraph": PARCEL,
      "sum.ngraph": SUM,
      "use.ts": USE_OF_PARCEL(extension),
    });
    mkdirSync(join(project.directory, "node_modules"));
    symlinkSync(ROOT, join(project.directory, "node_modules/ngraph"), "junction");
    expect(project.ngc(["compile", "support.ngraph", "parcel.ngraph", "sum.ngraph"])).toMatchObject({ status: 0 });
    const messages = await Promise.all(VERSIONS.map((version) => tsc(version, project.directory)));
    expect(Object.fromEntries(VERSIONS.map((version, at) => [version, messages[at]]))).toEqual(
      Object.fromEntries(VERSIONS.map((version) => [version, ""])),
    );
  },
);
