/** A bundled page in a browser: it loads what its graphs use, and the code for threads when a graph has a store. */
import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import { expect, onTestFinished, test } from "vitest";
import { createProject } from "../cli/project.ts";
import { launchBrowser, newPage } from "../support/browser.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

const GRAPHS = `import { double } from "./nodes.js"

graph sum {
  input  n: int
  output twice: int = 0
  output late: string = ""
  node calc = double(n) into twice
  node last = outcome.status into late
  start -> calc
  finally -> last
}

graph review {
  input  n: int
  output twice: int = 0
  output verdict: "yes" | "no" | null
  node inner = sum(n: n) into { twice }
  node sure = ask("Sure?", choices: ["yes", "no"]) into verdict
  start -> inner -> sure
}
`;
const MAIN = `import { MemoryStore } from "ngraph/runtime";
import { review, sum } from "./flow.ngraph";

globalThis.app = {
  sum: async () => (await sum().run({ n: 21 })).output,
  async review() {
    const graph = review({ store: new MemoryStore() });
    const { status } = await graph.run({ n: 4 }, { thread: "t" });
    const { output } = await graph.resume("t", { answer: "yes" });
    return [status, output];
  },
};
`;

test("a page runs graphs, and loads the code for threads with the first store", async () => {
  const project = createProject({
    "package.json": `{ "type": "module" }`,
    "flow.ngraph": GRAPHS,
    "nodes.js": "/** @param {number} n\n * @returns {Promise<number>} */\nexport const double = async (n) => n * 2;\n",
    "main.js": MAIN,
  });
  mkdirSync(join(project.directory, "node_modules"));
  symlinkSync(ROOT, join(project.directory, "node_modules/ngraph"), "junction");
  const { ngraph } = (await import(
    pathToFileURL(join(ROOT, "dist/api/esbuild.js")).href
  )) as typeof import("../../api/esbuild.ts");
  await build({
    absWorkingDir: project.directory,
    entryPoints: ["main.js"],
    plugins: [ngraph()],
    outdir: "out",
    bundle: true,
    minify: true,
    splitting: true,
    format: "esm",
    platform: "browser",
    logLevel: "silent",
  });

  const browser = await launchBrowser();
  onTestFinished(() => browser.close());
  const page = await newPage(browser);
  const problems: string[] = [];
  page.on("pageerror", ({ message }) => problems.push(message));
  const loaded = new Set<string>();
  await page.route("http://app.test/**", async (route) => {
    const name = basename(new URL(route.request().url()).pathname);
    if (name === "") {
      await route.fulfill({ contentType: "text/html", body: `<script type="module" src="/main.js"></script>` });
      return;
    }
    loaded.add(name);
    await route.fulfill({ contentType: "text/javascript", body: readFileSync(join(project.directory, "out", name)) });
  });
  await page.goto("http://app.test/");
  await page.waitForFunction("globalThis.app !== undefined");
  expect(await page.evaluate("app.sum()")).toEqual({ twice: 42, late: "completed" });
  const start = loaded.size;
  expect([...loaded].filter((name) => name.startsWith("threads"))).toEqual([]);

  expect(await page.evaluate("app.review()")).toEqual(["paused", { twice: 8, verdict: "yes" }]);
  expect(loaded.size).toBeGreaterThan(start);
  expect([...loaded].filter((name) => name.startsWith("threads"))).toHaveLength(1);
  expect(problems).toEqual([]);
});
