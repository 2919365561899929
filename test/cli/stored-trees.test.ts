import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { treesIn } from "../../cli/sources/stored-trees.ts";
import { compile } from "../../compiler/compile.ts";
import type { SyntaxTrees } from "../../compiler/load/host.ts";
import { memoryHost } from "../../compiler/load/host.ts";
import { parseModule, parseStoredModule } from "../../compiler/modules/parse-module.ts";

const MODULE = `
/** Finds documents. */
export interface Doc { id: string; score?: number; kind: "a" | "b"; when: -1 | 2.5 | true | null }
/**
 * Searches.
 * @throws when the index is closed
 */
export async function search(text: string, docs: readonly Doc[], context: { emit(value: unknown): void }): Promise<Doc[]> {
  context.emit({ pattern: /a[/]b/u, big: 10n, template: \`x\${text}\` });
  return docs.filter((doc) => doc.id !== text);
}
export const first = (docs: Doc[]): Doc | undefined => docs[0];
export default class Index { #size = 1; get size() { return this.#size } }
`;
const GRAPH = `import { search, first, type Doc } from "./nodes.ts"
graph find {
  input docs: Doc[]
  output found: Doc[]
  node look = search("a", docs) into found
  node wrong = search(1, docs) into found
  start -> look -> wrong -> end
}
`;

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "ngraph-trees-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

describe("stored syntax trees", () => {
  it("say what a fresh parse says", () => {
    const trees = treesIn(directory);
    const fresh = check(undefined);
    expect(JSON.stringify(fresh)).toContain("search");
    expect(check(trees)).toEqual(fresh);
    expect(readdirSync(directory)).toHaveLength(1);
    const counted = counting(trees);
    expect(check(counted.trees)).toEqual(fresh);
    expect(counted).toMatchObject({ hits: 1, added: 0 });
  });

  it("depend on the whole text and on the extension", () => {
    const trees = treesIn(directory);
    trees.set("a.ts", "text", "{}");
    expect(trees.get("elsewhere/b.ts", "text")).toBe("{}");
    expect(trees.get("a.ts", "text ")).toBeUndefined();
    for (const path of ["a.d.ts", "a.tsx", "a.mts", "a.js"]) expect(trees.get(path, "text")).toBeUndefined();
  });

  it.each([
    ["cut", (content: string) => content.slice(0, -10)],
    ["empty", () => ""],
    ["changed", (content: string) => content.replace("search", "starch")],
    ["not text", () => "\u0000\uFFFD"],
  ])("are not used when the file is %s, and are stored again", (_, damage) => {
    const trees = treesIn(directory);
    const fresh = check(trees);
    const file = join(directory, readdirSync(directory)[0] ?? "");
    const content = readFileSync(file, "utf8");
    writeFileSync(file, damage(content));
    expect(check(trees)).toEqual(fresh);
    expect(readFileSync(file, "utf8")).toBe(content);
  });

  it("are not stored for what JSON cannot say, for short modules, and for modules with syntax errors", () => {
    const trees = counting(treesIn(directory));
    const filler = `// ${"x".repeat(300)}\n`;
    for (const text of [`${filler}export type T = 1e999;`, "export type T = 1;", `${filler}export type = ;`]) {
      expect(parseStoredModule(text, "a.ts", trees.trees)).toEqual(parseModule(text, "a.ts"));
    }
    expect(trees.added).toBe(0);
  });

  it("do without a directory that cannot be written", () => {
    const file = join(directory, "file");
    writeFileSync(file, "");
    expect(check(treesIn(join(file, "below")))).toEqual(check(undefined));
    chmodSync(directory, 0o500);
    expect(check(treesIn(directory))).toEqual(check(undefined));
    chmodSync(directory, 0o700);
  });

  it("are removed when they have become many", () => {
    for (let index = 0; index <= 2000; index++) writeFileSync(join(directory, `old-${index}`), "");
    treesIn(directory).set("a.ts", "text", "{}");
    expect(readdirSync(directory)).toHaveLength(1);
  });
});

function check(syntaxTrees: SyntaxTrees | undefined): readonly { readonly code: string; readonly message: string }[] {
  const host = { ...memoryHost({ "nodes.ts": MODULE }), ...(syntaxTrees === undefined ? {} : { syntaxTrees }) };
  return compile(GRAPH, { path: "find.ngraph", host }).diagnostics.map(({ code, message, labels }) => ({
    code,
    message,
    labels,
  }));
}

function counting(trees: SyntaxTrees): { readonly trees: SyntaxTrees; readonly hits: number; readonly added: number } {
  let hits = 0;
  let added = 0;
  return {
    get hits() {
      return hits;
    },
    get added() {
      return added;
    },
    trees: {
      get: (path, text) => {
        const tree = trees.get(path, text);
        hits += tree === undefined ? 0 : 1;
        return tree;
      },
      set: (path, text, tree) => {
        added++;
        trees.set(path, text, tree);
      },
    },
  };
}
