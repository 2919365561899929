import { tokenizeModule, type ModuleToken } from "./module-tokens.ts";

/** What a module exports, as far as its text shows it. */
export interface ModuleExports {
  /** By exported name: a value, a type, or both (a class, an enum; anything that is not certain). */
  readonly names: ReadonlyMap<string, "value" | "type" | "both">;
  /** Modules all of whose exports are exported again: `export * from "./more.ts"`. */
  readonly stars: readonly string[];
}

/**
 * Finds the exports of a TypeScript or JavaScript module without running it. `undefined` where the text leaves a doubt
 * (CommonJS, `export =`, destructuring, JSX, unreadable text): then every name must be taken to exist.
 */
export function readModuleExports(text: string, path: string): ModuleExports | undefined {
  if (/\.[cm]?[jt]sx$|\.c[jt]s$/.test(path)) return undefined;
  const tokens = tokenizeModule(text);
  if (tokens === undefined) return undefined;
  const found = collectExports(tokens);
  // A script without exports may be CommonJS, which assigns them.
  if (found !== undefined && found.names.size === 0 && found.stars.length === 0 && !path.endsWith("ts"))
    return undefined;
  return found;
}

function collectExports(tokens: readonly ModuleToken[]): ModuleExports | undefined {
  const names = new Map<string, "value" | "type" | "both">();
  const stars: string[] = [];
  const add = (name: string, kind: "value" | "type" | "both"): void => {
    const known = names.get(name);
    names.set(name, known === undefined || known === kind ? kind : "both");
  };
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i];
    if (token?.kind !== "word" || token.text !== "export" || token.depth !== 0) continue;
    // `x.export` and `{ export: 1 }` are no declarations.
    if (tokens[i - 1]?.text === ".") continue;
    if (!readExport(tokens, i + 1, add, stars)) return undefined;
  }
  return { names, stars };
}

type Add = (name: string, kind: "value" | "type" | "both") => void;

/** One `export …`; `false` where it is not understood. */
function readExport(tokens: readonly ModuleToken[], from: number, add: Add, stars: string[]): boolean {
  let at = from;
  const word = (): string => (tokens[at]?.kind === "word" ? (tokens[at]?.text ?? "") : "");
  const text = tokens[at]?.text;
  if (text === "*") return readStar(tokens, at + 1, add, stars);
  if (text === "{") return readList(tokens, at, "both", add);
  if (text === "default") {
    add("default", "both");
    return true;
  }
  while (["declare", "abstract", "async"].includes(word())) at++;
  const name = tokens[at + 1];
  switch (word()) {
    case "type":
      if (name?.text === "{") return readList(tokens, at + 1, "type", add);
      if (name?.text === "*") return readStar(tokens, at + 2, add, stars);
      return addName(name, "type", add);
    case "interface":
      return addName(name, "type", add);
    case "function":
      return addName(name?.text === "*" ? tokens[at + 2] : name, "value", add);
    case "class":
    case "enum":
    case "namespace":
    case "module":
    case "import":
      return addName(name, "both", add);
    case "const":
    case "let":
    case "var":
      if (name?.text === "enum") return addName(tokens[at + 2], "both", add);
      return readVariables(tokens, at + 1, add);
    default:
      return false;
  }
}

function addName(token: ModuleToken | undefined, kind: "value" | "type" | "both", add: Add): boolean {
  if (token?.kind !== "word") return false;
  add(token.text, kind);
  return true;
}

/** `export * from "m"`, `export * as ns from "m"`. */
function readStar(tokens: readonly ModuleToken[], from: number, add: Add, stars: string[]): boolean {
  if (tokens[from]?.text === "as") return addName(tokens[from + 1], "both", add);
  const specifier = tokens[from + 1];
  if (tokens[from]?.text !== "from" || specifier?.kind !== "string" || specifier.text === "") return false;
  stars.push(specifier.text);
  return true;
}

/** `{ a, b as c, type d, default as e }` */
function readList(tokens: readonly ModuleToken[], from: number, kind: "type" | "both", add: Add): boolean {
  let at = from + 1;
  while (tokens[at]?.text !== "}") {
    const words: string[] = [];
    for (; tokens[at]?.kind === "word" || tokens[at]?.kind === "string"; at++) words.push(tokens[at]?.text ?? "");
    const name = words.at(-1);
    if (name === undefined || name === "") return false;
    const isType = words[0] === "type" && words.length > 1 && words[1] !== "as";
    add(name, isType ? "type" : kind);
    if (tokens[at]?.text === ",") at++;
    else if (tokens[at]?.text !== "}") return false;
  }
  return true;
}

/** `const a = 1, b = 2`. What follows a comma is taken for a further name: one too many does no harm. */
function readVariables(tokens: readonly ModuleToken[], from: number, add: Add): boolean {
  if (!addName(tokens[from], "value", add)) return false;
  const depth = tokens[from]?.depth;
  for (let at = from + 1; at < tokens.length; at++) {
    const token = tokens[at];
    if (token === undefined || token.depth !== depth) continue;
    if (token.text === ";" || ["export", "import", "const", "let", "var", "function", "class"].includes(token.text))
      break;
    if (token.text === "," && token.kind === "punctuation") {
      const next = tokens[at + 1];
      if (next?.kind === "word") add(next.text, "value");
      else if (next?.text === "{" || next?.text === "[") return false;
    }
  }
  return true;
}
