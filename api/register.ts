/**
 * `ngraph/register`: lets Node import graph files, with `node --import ngraph/register app.js`. Node versions that do not load
 * TypeScript themselves load it here, with the types removed by esbuild.
 *
 * The module registers itself: in the thread of Node's module hooks its URL ends in `?hooks`.
 */
import { existsSync, readFileSync } from "node:fs";
import { register, type LoadHook, type ResolveHook } from "node:module";
import { fileURLToPath } from "node:url";
import { GRAPH_FILE, loadGraphModule } from "./graph-module.ts";

const HOOKS = "?hooks";

if (!import.meta.url.endsWith(HOOKS)) {
  register(import.meta.url + HOOKS);
  process.setSourceMapsEnabled(true);
}

/** An import of `./nodes.js` finds `./nodes.ts` if only that file exists, as in `tsc` and in bundlers. */
export const resolve: ResolveHook = (specifier, context, next) => {
  const match = /^(\.{1,2}\/.*\.)([cm]?)js$/.exec(specifier);
  if (match !== null && context.parentURL?.startsWith("file:") === true) {
    const wanted = new URL(specifier, context.parentURL);
    const source = new URL(`${match[1]}${match[2]}ts`, context.parentURL);
    if (!existsSync(wanted) && existsSync(source)) return next(source.href, context);
  }
  return next(specifier, context);
};

/** Compiles graph files. @throws SyntaxError with the findings and the lines of the graph file */
export const load: LoadHook = async (url, context, next) => {
  if (!url.startsWith("file:")) return next(url, context);
  const path = fileURLToPath(new URL(url));
  if (GRAPH_FILE.test(path)) {
    const { code, map, problems } = loadGraphModule(path);
    if (code === undefined) {
      const errors = problems.filter(({ severity }) => severity === "error");
      throw new SyntaxError(`${path} has errors\n\n${errors.map(({ text }) => text).join("\n\n")}`);
    }
    const comment =
      map === undefined
        ? ""
        : `//# sourceMappingURL=data:application/json;base64,${Buffer.from(map).toString("base64")}\n`;
    return { format: "module", source: code + comment, shortCircuit: true };
  }
  if (!/\.m?ts$/.test(path) || /[\\/]node_modules[\\/]/.test(path) || loadsTypeScript()) return next(url, context);
  const { transform } = await import("esbuild");
  const { code } = await transform(readFileSync(path, "utf8"), {
    loader: "ts",
    format: "esm",
    sourcemap: "inline",
    sourcefile: path,
    target: `node${process.versions.node}`,
  });
  return { format: "module", source: code, shortCircuit: true };
};

/** Whether Node removes types itself: 22.18, 23.6 and newer. */
function loadsTypeScript(): boolean {
  const { typescript } = process.features as { readonly typescript?: string | false };
  return typeof typescript === "string";
}
