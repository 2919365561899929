/** `ngc check --types`: what the project's own TypeScript reports, at the place in the graph. */
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { readErrors } from "../../cli/types/check-types.ts";
import { createProject } from "./project.ts";

const TYPESCRIPT = fileURLToPath(new URL("../../node_modules/typescript", import.meta.url));

const GRAPH = `import { find, open, wrap, type Doc } from "../lib/nodes.ts"
graph docs {
  input query: string
  output text: string
  state doc: Doc
  node search = find(query) into doc
  node show = open(wrap(doc)) into text
  start -> search -> show
}
`;
const BOX = `export class Box<T> { readonly value: T; constructor(value: T) { this.value = value; } }\n`;
const NODES = `import { Box } from "./box.ts";
throw new Error("no code of the graph may run");
export interface Doc { id: number; title?: string }
export async function find(query: string): Promise<Doc> { return { id: query.length }; }
export const wrap = (doc: Doc): Box<Doc> => new Box(doc);
export const open = (box: Box<Doc>): string => box.value.title ?? "none";
`;
// The options of a project that emits its modules, which \`tsc --noEmit\` must not follow.
const CONFIG = `{
  // A comment.
  "compilerOptions": { "module": "nodenext", "target": "es2022", "outDir": "out", "rootDir": ".", "composite": true, "noUnusedLocals": true }
}
`;

function projectWith(nodes: string, config: string | undefined = CONFIG) {
  const project = createProject({ "package.json": `{ "type": "module" }` });
  const write = (file: string, text: string): void => {
    mkdirSync(dirname(join(project.directory, file)), { recursive: true });
    writeFileSync(join(project.directory, file), text);
  };
  write("graphs/docs.ngraph", GRAPH);
  write("lib/nodes.ts", nodes);
  write("lib/box.ts", BOX);
  if (config !== undefined) write("tsconfig.json", config);
  const addTypeScript = (): void => {
    mkdirSync(join(project.directory, "node_modules"), { recursive: true });
    symlinkSync(TYPESCRIPT, join(project.directory, "node_modules/typescript"), "junction");
  };
  return { ...project, write, addTypeScript };
}

test("without TypeScript in the project it says how to install it, and exits with 64", () => {
  const { ngc } = projectWith(NODES);
  const { status, stderr } = ngc(["check", "graphs/docs.ngraph", "--types"]);
  expect(status).toBe(64);
  expect(stderr).toContain("needs the TypeScript of the project");
  expect(stderr).toContain("npm install --save-dev typescript");
});

test("functions that fit are clean, with and without a tsconfig.json, and no code runs", () => {
  for (const config of [CONFIG, undefined]) {
    const { ngc, addTypeScript } = projectWith(NODES, config);
    addTypeScript();
    const { status, stderr } = ngc(["check", "graphs/docs.ngraph", "--types"]);
    expect(stderr).toContain("nothing to report");
    expect(status).toBe(0);
  }
});

test("a type that only tsc knows is an error at the call in the graph", () => {
  const { json, ngc, addTypeScript } = projectWith(
    NODES.replace("Box<Doc>): string", "Box<string>): string").replace("box.value.title ??", "box.value ??"),
  );
  addTypeScript();
  expect(ngc(["check", "graphs/docs.ngraph"]).status).toBe(0);
  const { status, document } = json(["check", "graphs/docs.ngraph", "--types"]);
  expect({ status, ok: document.ok, errors: document.errors }).toEqual({ status: 2, ok: false, errors: 1 });
  const errors = document.diagnostics.filter(({ severity }: { severity: string }) => severity === "error");
  expect(errors).toMatchObject([
    {
      code: "NG408",
      severity: "error",
      file: "graphs/docs.ngraph",
      range: { start: { line: 7, column: 15 }, end: { line: 7, column: 30 } },
      message: "tsc: Type 'Doc' is not assignable to type 'string'. (TS2344)",
    },
  ]);
});

test("imports of packages, of `#` names and of the project by its own name are resolved as from the project", () => {
  const { directory, ngc, write, addTypeScript } = projectWith(NODES);
  addTypeScript();
  const files = {
    "package.json": JSON.stringify({
      type: "module",
      name: "own",
      exports: { "./tools": { types: "./lib/tools.ts" } },
      imports: { "#lib/*": ["./lib/*.ts"] },
    }),
    "lib/tools.ts": `export const shout = (text: string): string => text.toUpperCase();\n`,
    "node_modules/@acme/words/package.json": JSON.stringify({ type: "module", exports: { ".": "./index.js" } }),
    "node_modules/@acme/words/index.d.ts": `export declare function count(text: string): number;\n`,
    "graphs/words.ngraph": `import { count } from "@acme/words"
import { shout } from "#lib/tools"
import { shout as again } from "own/tools"
graph words {
  input  text: string
  output n: int
  output loud: string
  output louder: string
  node c = count(text) into n
  node s = shout(text) into loud
  node t = again(loud) into louder
  start -> c -> s -> t
}
`,
  };
  for (const [file, text] of Object.entries(files)) write(file, text);
  expect(ngc(["check", "graphs/words.ngraph", "--types"]).stderr).toContain("nothing to report");
  write("node_modules/@acme/words/index.d.ts", "export declare function count(text: string): string;\n");
  write("lib/tools.ts", "export const shout = (text: number): number => text;\n");
  const { stderr } = ngc(["check", "graphs/words.ngraph", "--types"]);
  expect(stderr.match(/words\.ngraph\(\d+,12\): error NG408: tsc/g)).toHaveLength(3);
  expect(readdirSync(join(directory, "node_modules")).sort()).toEqual(["@acme", "typescript"]);
});

test("an unusable configuration is an error of its own", () => {
  const { ngc, addTypeScript } = projectWith(NODES, `{ "compilerOptions": { "module": "nosuch" } }`);
  addTypeScript();
  const { status, stderr } = ngc(["check", "graphs/docs.ngraph", "--types"]);
  expect(status).toBe(64);
  expect(stderr).toContain("tsc cannot use the configuration of the project");
});

test("errors have their continuation lines", () => {
  const output =
    "/t/a.ts(3,5): error TS2344: Type 'A'.\n  Types differ.\n    Type 'B'.\nerror TS5023: Unknown option.\n";
  expect(readErrors(output)).toEqual([
    { file: "/t/a.ts", line: 3, code: "TS2344", message: "Type 'A'.", details: ["Types differ.", "Type 'B'."] },
    { file: undefined, line: 1, code: "TS5023", message: "Unknown option.", details: [] },
  ]);
});
