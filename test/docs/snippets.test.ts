/** The programs of README.md and of the pages for programmers type-check under strict options as they are printed, and beside their graphs. */
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { compile, emitDeclarations, memoryHost } from "../../compiler/index.ts";
import { createProject } from "../emit/project.ts";
import { fencedBlocks } from "./fenced-blocks.ts";

/** The examples of the API reference. */
const API_EXAMPLES = "test/package/api-examples";

const read = (path: string): string => readFileSync(path, "utf8");

/** The `ts` blocks of a page as files of their own; a block that begins with `// nodes.ts` has this name. */
function programs(page: string, directory: string): Record<string, string> {
  const files: Record<string, string> = {};
  for (const { language, text, line } of fencedBlocks(read(page))) {
    if (language !== "ts") continue;
    const name = /^\/\/ (\S+\.ts)\n/.exec(text)?.[1] ?? `${page.replaceAll(/\W/g, "-")}-${line}.ts`;
    // A block without imports or exports is a script: its names must not collide with those of other blocks.
    files[`${directory}/${name === "nodes.ts" ? `nodes-${line}.ts` : name}`] = `${text}\nexport {};\n`;
  }
  return files;
}

const SUPPORT_NODES = `
export const searchDocs = async (ticket: string): Promise<string[]> => [ticket];
export const searchTickets = async (ticket: string): Promise<string[]> => [ticket];
export const draftReply = async (ticket: string, notes: string[]) => ({ reply: ticket, score: notes.length });
`;

test("README.md, and the pages guide, durability and deployment", async () => {
  const readme = programs("README.md", "readme");
  const guide = Object.assign(
    {},
    ...["guide", "durability", "deployment"].map((page) => programs(`docs/${page}.md`, "guide")),
  ) as Record<string, string>;
  expect(Object.keys(readme).length).toBeGreaterThan(1);
  expect(Object.keys(guide).length).toBeGreaterThan(3);
  const support = fencedBlocks(read("README.md")).find(({ language }) => language === "ngraph");
  const review = {
    "guide/review.ngraph": read("examples/review-loop/review.ngraph"),
    "guide/nodes.ts": read("examples/review-loop/nodes.ts"),
  };
  const path = "guide/review.ngraph";
  const compiled = compile(review[path], { path, host: memoryHost(review) });
  const project = createProject({
    ...review,
    "guide/review.d.ngraph.ts": emitDeclarations(compiled, { outPath: "guide/review.d.ngraph.ts" }),
    ...readme,
    ...guide,
    ...Object.fromEntries(readdirSync(API_EXAMPLES).map((file) => [`api/${file}`, read(`${API_EXAMPLES}/${file}`)])),
    "readme/support.ngraph": support?.text ?? "",
    "readme/nodes.ts": SUPPORT_NODES,
  });
  expect(await project.typeCheck()).toEqual([]);
}, 300_000);

test("the page of the service, with its hook of React", async () => {
  const page = "docs/serving.md";
  const files = programs(page, "serving");
  const hook = fencedBlocks(read(page)).find(({ text }) => text.includes("export function useThread"));
  expect(Object.keys(files)).toHaveLength(3);
  const project = createProject({
    ...files,
    "serving/hook.ts": hook?.text ?? "",
    "serving/nodes.ts": SUPPORT_NODES,
    // The hooks of Preact have the types of those of React.
    "serving/react.d.ts": `declare module "react" {\n  export * from "preact/hooks";\n}\n`,
  });
  expect(await project.typeCheck()).toEqual([]);
}, 300_000);
