/** Expressions of the language that stand for expressions of Amazon States Language. */
import { quoted } from "../imported.ts";
import type { Helper } from "./stub-functions.ts";
import type { Kind, Shape } from "./shape.ts";

/** An expression. `isAtom`: it needs no parentheses as an operand. */
export interface Said {
  readonly text: string;
  readonly kind: Kind;
  readonly isAtom: boolean;
}

/** An expression that the language cannot say. It becomes an imported function. */
export class Unsaid extends Error {}

export type Path = readonly (string | number)[];

/** A value that paths start from: a channel, and the path inside it. */
export interface Root {
  readonly channel: string;
  readonly path: Path;
}

/** The names that expressions of one state see. */
export interface Scope {
  /** What `$` means; in JSONata, `$states.input`. */
  readonly root: Root;
  /** `$states.result`. */
  readonly result?: string | undefined;
  /** `$$` and `$states.context`, by their paths: `Map.Item.Value`. */
  readonly context: ReadonlyMap<string, Said>;
  /** `$states.errorOutput`. */
  readonly error?: Said | undefined;
  /** The type of the channel of `data`; `undefined`: it is plain JSON. */
  readonly shape: Shape | undefined;
  /** The fields that are used are recorded here. */
  readonly used: Shape;
  /** Whether the path is one of the machine's data. */
  readonly data: string;
  /** The channel of a variable. @throws Unsaid */
  variable(name: string): string;
  helper(name: Helper): string;
}

export function atom(text: string, kind: Kind): Said {
  return { text, kind, isAtom: true };
}

export function compound(text: string, kind: Kind): Said {
  return { text, kind, isAtom: false };
}

/** The expression as an operand. */
export function operand(said: Said): string {
  return said.isAtom ? said.text : `(${said.text})`;
}

/** The expression where a type is expected: a function makes a value fit whose type is another one. */
export function fitting(said: Said, kind: Kind, scope: Scope): Said {
  if (said.kind === kind || said.kind === "any" || kind === "json" || kind === "any") return said;
  return atom(`${scope.helper("untyped")}(${said.text})`, "any");
}

/** A path as text: `$.order.items[0]`. */
export function pathText(path: Path): string {
  const parts = path.map((segment) => {
    if (typeof segment === "number") return `[${segment}]`;
    return /^[A-Za-z_]\w*$/.test(segment) ? `.${segment}` : `[${JSON.stringify(segment)}]`;
  });
  return `$${parts.join("")}`;
}

/**
 * The value at a path. A path of fields that the type knows is an access, every other one a call of `at`.
 *
 * @param expected the type of the value
 * @param isRequired a missing value fails instead of being `null`
 */
export function valueAt(root: Root, path: Path, expected: Kind, scope: Scope, isRequired = false): Said {
  const whole = [...root.path, ...path];
  if (root.channel !== scope.data) return readBy(root.channel, whole, scope);
  scope.used.note(whole, expected);
  if (whole.length === 0) return atom(root.channel, "json");
  const shape = scope.shape?.find(whole);
  if (shape === undefined) return readBy(root.channel, whole, scope);
  const kind = shape.kind;
  if (expected !== "json" && expected !== "any" && kind !== expected) return readBy(root.channel, whole, scope);
  const text = whole.map(String).join(isRequired ? "!." : "?.");
  return atom(`${root.channel}.${text}${isRequired ? "!" : ""}`, kind);
}

function readBy(channel: string, path: Path, scope: Scope): Said {
  if (path.length === 0) return atom(channel, "json");
  return atom(`${scope.helper("at")}(${channel}, ${quoted(pathText(path))})`, "any");
}

/** Parses `$.a.b[0]['c d']`. @throws Unsaid for wildcards, filters, slices and descendants */
export function parsePath(text: string): { readonly name: string | undefined; readonly path: Path } {
  const start = /^\$(\$|[A-Za-z_]\w*)?/.exec(text);
  if (start === null) throw new Unsaid(`\`${text}\` is not a path`);
  const path: (string | number)[] = [];
  const step = /\.([^.[\]\s()*?@'"]+)|\[(\d+)\]|\[\s*'((?:[^'\\]|\\.)*)'\s*\]|\[\s*"((?:[^"\\]|\\.)*)"\s*\]/y;
  step.lastIndex = start[0].length;
  while (step.lastIndex < text.length) {
    const from = step.lastIndex;
    const found = step.exec(text);
    if (found === null) {
      throw new Unsaid(`\`${text.slice(from)}\` of the path \`${text}\` selects several values, or is not a path`);
    }
    const index = found[2];
    if (index !== undefined) path.push(Number(index));
    else path.push((found[1] ?? found[3] ?? found[4] ?? "").replace(/\\(.)/g, "$1"));
    if (path.length > 100) throw new Unsaid(`\`${text.slice(0, 60)}…\` has more than 100 parts`);
  }
  return { name: start[1], path };
}
