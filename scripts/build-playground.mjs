/** Builds the playground: static files that any server can send. */
import { copyFileSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

/** @returns the paths of the bundled modules */
export async function buildPlayground(root, outdir) {
  const common = {
    absWorkingDir: root,
    outdir,
    bundle: true,
    // The browsers of which the oldest has `light-dark()` in styles.
    target: ["chrome123", "firefox120", "safari17.5"],
    minify: true,
    legalComments: "none",
    logLevel: "warning",
  };
  const { metafile } = await build({
    ...common,
    entryPoints: { playground: "playground/main.tsx", worker: "playground/worker.ts" },
    format: "esm",
    splitting: true,
    chunkNames: "[name]-[hash]",
    jsx: "automatic",
    jsxImportSource: "preact",
    define: { process: "undefined" },
    plugins: [examplesOf(root), browserModules(root)],
    metafile: true,
  });
  await build({ ...common, entryPoints: ["playground/playground.css"] });
  copyFileSync(join(root, "playground", "index.html"), join(outdir, "index.html"));
  return Object.keys(metafile.inputs).map((file) => join(root, file));
}

/** The examples with a graph file, as the projects of the page. */
function examplesOf(root) {
  return {
    name: "examples",
    setup(builder) {
      builder.onResolve({ filter: /^virtual:examples$/ }, ({ path }) => ({ path, namespace: "examples" }));
      builder.onLoad({ filter: /.*/, namespace: "examples" }, () => {
        const directory = join(root, "examples");
        const examples = readdirSync(directory).flatMap((name) => {
          const names = readdirSync(join(directory, name));
          const graph = names.find((file) => file.endsWith(".ngraph"));
          const read = (file) => readFileSync(join(directory, name, file), "utf8");
          if (graph === undefined) return [];
          const modules = names.filter((file) => file === "nodes.ts").map((file) => [file, read(file)]);
          const files = Object.fromEntries([["graph.ngraph", read(graph)], ...modules]);
          return [{ name, project: { files, main: "graph.ngraph" } }];
        });
        return { contents: JSON.stringify(examples), loader: "json" };
      });
    },
  };
}

/** In place of the modules of the command line that use Node. */
function browserModules(root) {
  return {
    name: "browser modules",
    setup(builder) {
      builder.onResolve({ filter: /\/start\/import-module\.ts$/ }, () => ({
        path: join(root, "playground", "import-module.ts"),
      }));
    },
  };
}
