/** A project on disk, with the package's sources under the package's name: what a user of generated modules has. */
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import { onTestFinished } from "vitest";
import {
  compile,
  emitDeclarations,
  emitJavaScript,
  emitTypeScript,
  memoryHost,
  type CompileResult,
} from "../../compiler/index.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

export interface Project {
  readonly directory: string;
  readonly compiled: Readonly<Record<string, CompileResult>>;
  /** The messages of `tsc --strict`, except those about the package's own sources. */
  typeCheck(): Promise<readonly string[]>;
  /** A module of the project, bundled and imported. */
  load(file: string): Promise<Readonly<Record<string, unknown>>>;
}

/** Writes the files, and beside each graph file its module (`ts`, or `js` with declarations). */
export function createProject(files: Readonly<Record<string, string>>, target: "ts" | "js" = "ts"): Project {
  mkdirSync(join(ROOT, "node_modules/.cache"), { recursive: true });
  const directory = mkdtempSync(join(ROOT, "node_modules/.cache/ngraph-emit-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const write = (file: string, text: string): void => {
    mkdirSync(dirname(join(directory, file)), { recursive: true });
    writeFileSync(join(directory, file), text);
  };
  for (const [file, text] of Object.entries(files)) write(file, text);
  write("package.json", `{ "type": "module" }`);
  write("tsconfig.json", JSON.stringify({ compilerOptions: TS_OPTIONS, include: ["**/*.ts"] }));
  const compiled: Record<string, CompileResult> = {};
  for (const [file, text] of Object.entries(files)) {
    if (!file.endsWith(".ngraph")) continue;
    const result = compile(text, { path: file, host: memoryHost(files) });
    const errors = result.diagnostics.filter((item) => item.severity === "error");
    if (errors.length > 0) throw new Error(errors.map((item) => `${item.code} ${item.message}`).join("\n"));
    compiled[file] = result;
    if (target === "ts") write(`${file}.ts`, emitTypeScript(result));
    else {
      write(`${file}.js`, emitJavaScript(result));
      write(`${file}.d.ts`, emitDeclarations(result));
    }
  }
  return {
    directory,
    compiled,
    typeCheck: () => typeCheck(directory),
    load: (file) => load(directory, file),
  };
}

const TS_OPTIONS = {
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  noUnusedLocals: true,
  noUnusedParameters: true,
  noImplicitReturns: true,
  noFallthroughCasesInSwitch: true,
  allowUnreachableCode: false,
  noImplicitOverride: true,
  noPropertyAccessFromIndexSignature: true,
  verbatimModuleSyntax: true,
  isolatedModules: true,
  erasableSyntaxOnly: true,
  allowImportingTsExtensions: true,
  allowArbitraryExtensions: true,
  noEmit: true,
  skipLibCheck: true,
  target: "es2022",
  module: "nodenext",
  typeRoots: [join(ROOT, "node_modules/@types")],
  types: ["node"],
  paths: { ngraph: [join(ROOT, "api/index.ts")], "ngraph/*": [join(ROOT, "api/*.ts")] },
};

async function typeCheck(directory: string): Promise<readonly string[]> {
  const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
  const output = await new Promise<string>((resolve) => {
    execFile(process.execPath, [tsc, "-p", directory, "--pretty", "false"], { cwd: directory }, (_error, stdout) =>
      resolve(stdout),
    );
  });
  // Continuation lines of an error are indented. tsc prints resolved paths, so a path can start outside of the
  // directory. Errors in other paths belong to the package's own sources.
  const prefix = `${basename(directory)}/`;
  return output
    .split(/\n(?=\S)/)
    .filter((text) => text.includes(prefix) || /^(?:\w|\.\/)/.test(text))
    .map((text) => text.slice(text.includes(prefix) ? text.indexOf(prefix) + prefix.length : 0).trim())
    .filter((text) => text !== "");
}

async function load(directory: string, file: string): Promise<Readonly<Record<string, unknown>>> {
  const outfile = join(directory, `${file}.bundle.mjs`);
  await build({
    entryPoints: [join(directory, file)],
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    logLevel: "silent",
    plugins: [
      {
        name: "sources",
        setup: ({ onResolve }) =>
          onResolve({ filter: /^ngraph\// }, ({ path }) => ({ path: join(ROOT, "api", `${path.slice(7)}.ts`) })),
      },
    ],
  });
  return (await import(/* @vite-ignore */ pathToFileURL(outfile).href)) as Readonly<Record<string, unknown>>;
}
