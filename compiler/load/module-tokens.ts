/**
 * The tokens of a TypeScript or JavaScript module, as far as finding its exports needs them. Modules are never executed,
 * and this is no parser: where the text is not understood the answer is `undefined`, and nobody draws conclusions.
 */

export interface ModuleToken {
  readonly kind: "word" | "string" | "number" | "template" | "regex" | "punctuation";
  /** Words and punctuation as written; strings without their quotes (and only when free of escapes, else empty). */
  readonly text: string;
  /** How many brackets of any kind are open around it. A bracket counts as inside itself. */
  readonly depth: number;
}

/** Words after which a `/` begins a regular expression. */
const BEFORE_REGEX = new Set(
  "return typeof instanceof in of new delete void throw case do else yield await default extends".split(" "),
);
const MAX_LENGTH = 2 * 1024 * 1024;

export function tokenizeModule(text: string): readonly ModuleToken[] | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const tokens: ModuleToken[] = [];
  /** What each open bracket is; `${` stands for the hole of a template. */
  const open: string[] = [];
  let at = text.startsWith("#!") ? lineEnd(text, 0) : 0;
  const push = (kind: ModuleToken["kind"], value: string, depth = open.length): void => {
    tokens.push({ kind, text: value, depth });
  };
  while (at < text.length) {
    const char = text[at] ?? "";
    if (/\s/.test(char)) {
      at++;
    } else if (text.startsWith("//", at)) {
      at = lineEnd(text, at);
    } else if (text.startsWith("/*", at)) {
      const end = text.indexOf("*/", at + 2);
      if (end === -1) return undefined;
      at = end + 2;
    } else if (char === '"' || char === "'") {
      const end = stringEnd(text, at, char);
      if (end === undefined) return undefined;
      const value = text.slice(at + 1, end - 1);
      push("string", value.includes("\\") ? "" : value);
      at = end;
    } else if (char === "`" || (char === "}" && open.at(-1) === "${")) {
      if (char === "}") open.pop();
      const end = templateEnd(text, at + 1);
      if (end === undefined) return undefined;
      push("template", "");
      if (text[end - 1] === "{") open.push("${");
      at = end;
    } else if (char === "/" && mayBeRegex(tokens.at(-1))) {
      const end = regexEnd(text, at);
      if (end === undefined) return undefined;
      push("regex", "");
      at = end;
    } else if (/[A-Za-z_$\u0080-\uffff#@]/.test(char)) {
      const end = matchEnd(/[\w$\u0080-\uffff#@]*/y, text, at);
      push("word", text.slice(at, end));
      at = end;
    } else if (/[0-9]/.test(char)) {
      const end = matchEnd(/[\w.]*/y, text, at);
      push("number", text.slice(at, end));
      at = end;
    } else if (char === "\\") {
      return undefined;
    } else {
      if ("([{".includes(char)) open.push(char);
      push("punctuation", char);
      if (")]}".includes(char)) {
        const opened = open.pop();
        if (opened === undefined || "([{".indexOf(opened) !== ")]}".indexOf(char)) return undefined;
      }
      at++;
    }
  }
  return open.length === 0 ? tokens : undefined;
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end === -1 ? text.length : end;
}

/** After the closing quote; `undefined` when the line ends first. */
function stringEnd(text: string, from: number, quote: string): number | undefined {
  for (let at = from + 1; at < text.length; at++) {
    const char = text[at];
    if (char === "\\") at++;
    else if (char === quote) return at + 1;
    else if (char === "\n") return undefined;
  }
  return undefined;
}

/** After the closing backtick or the next `${`. */
function templateEnd(text: string, from: number): number | undefined {
  for (let at = from; at < text.length; at++) {
    const char = text[at];
    if (char === "\\") at++;
    else if (char === "`") return at + 1;
    else if (char === "$" && text[at + 1] === "{") return at + 2;
  }
  return undefined;
}

function regexEnd(text: string, from: number): number | undefined {
  let inClass = false;
  for (let at = from + 1; at < text.length; at++) {
    const char = text[at];
    if (char === "\\") at++;
    else if (char === "\n") return undefined;
    else if (char === "[") inClass = true;
    else if (char === "]") inClass = false;
    else if (char === "/" && !inClass) return matchEnd(/[a-z]*/y, text, at + 1);
  }
  return undefined;
}

/** A `/` after a value divides; anywhere else it begins a regular expression. After `)` and `}` it most often divides. */
function mayBeRegex(before: ModuleToken | undefined): boolean {
  if (before === undefined) return true;
  if (before.kind === "word") return BEFORE_REGEX.has(before.text);
  return before.kind === "punctuation" && !")]}".includes(before.text);
}

function matchEnd(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return at + (pattern.exec(text)?.[0].length ?? 0);
}
