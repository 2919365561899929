/** Parses texts with the tree-sitter grammar: its C code and tree-sitter's library, compiled by the system's C compiler. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createRequire } from "node:module";

export interface Leaf {
  readonly type: string;
  readonly start: number;
  readonly end: number;
}

export interface TreeNode extends Leaf {
  readonly isNamed: boolean;
  /** An error, or a token that is missing. */
  readonly isWrong: boolean;
  /** The field of the parent that it fills. */
  readonly field: string;
  readonly children: TreeNode[];
}

const GRAMMAR = "editors/tree-sitter-ngraph/src";

/** `undefined` where the machine has no C compiler. */
export function hasCompiler(): boolean {
  try {
    execFileSync("cc", ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

export class TreePrinter {
  readonly #folder = mkdtempSync(join(tmpdir(), "tree-sitter-"));
  readonly #program = join(this.#folder, "print-trees");

  constructor() {
    const library = join(
      dirname(createRequire(import.meta.url).resolve("tree-sitter/package.json")),
      "vendor/tree-sitter/lib",
    );
    const sources = ["test/tree-sitter/print-trees.c", `${library}/src/lib.c`, `${GRAMMAR}/parser.c`];
    const includes = [`${library}/include`, `${library}/src`, GRAMMAR].map((folder) => `-I${folder}`);
    execFileSync("cc", ["-O1", "-std=gnu11", "-o", this.#program, ...sources, ...includes]);
  }

  dispose(): void {
    rmSync(this.#folder, { recursive: true });
  }

  trees(texts: readonly string[]): TreeNode[] {
    return this.#run(texts, []).map((lines, at) => readTree(lines, offsets(texts[at] ?? "")));
  }

  /** The captures of a query in a text: `name` of the capture, and the text. */
  captures(query: string, text: string): [name: string, text: string][] {
    const toText = offsets(text);
    return (this.#run([text], [query])[0] ?? []).map((line) => {
      const [start, end, name] = line.split(" ");
      return [name ?? "", text.slice(toText(Number(start)), toText(Number(end)))];
    });
  }

  #run(texts: readonly string[], programArguments: readonly string[]): string[][] {
    const input = Buffer.concat(
      texts.map((text) => {
        const bytes = Buffer.from(text);
        return Buffer.concat([Buffer.from(`${bytes.length}\n`), bytes, Buffer.from("\n")]);
      }),
    );
    const output = execFileSync(this.#program, programArguments, { input, encoding: "utf8", maxBuffer: 2 ** 30 });
    return output
      .split("\n\n")
      .slice(0, texts.length)
      .map((tree) => tree.split("\n").filter((line) => line !== ""));
  }
}

/** From offsets in UTF-8 to offsets in the text. */
function offsets(text: string): (byte: number) => number {
  if (Buffer.byteLength(text) === text.length) return (byte) => byte;
  const map: number[] = [];
  let at = 0;
  for (const character of text) {
    for (let byte = Buffer.byteLength(character); byte > 0; byte -= 1) map.push(at);
    at += character.length;
  }
  map.push(at);
  return (byte) => map[byte] ?? at;
}

function readTree(lines: readonly string[], toText: (byte: number) => number): TreeNode {
  const path: TreeNode[] = [];
  for (const line of lines) {
    const [depth, mark, start, end, type, field] = line.split(" ");
    const node: TreeNode = {
      type: type ?? "",
      start: toText(Number(start)),
      end: toText(Number(end)),
      isNamed: mark === "+",
      isWrong: mark === "!" || mark === "?",
      field: field ?? "",
      children: [],
    };
    path.length = Number(depth);
    path[path.length - 1]?.children.push(node);
    path.push(node);
  }
  const [root] = path;
  if (root === undefined) throw new Error("the program has printed no tree");
  return root;
}

export function allNodes(root: TreeNode): TreeNode[] {
  return [root, ...root.children.flatMap(allNodes)];
}
