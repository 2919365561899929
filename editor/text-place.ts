/** Where a place of a text is: by the words before it, so it reads unfinished texts. */
import { openBrackets } from "./signature-help.ts";

/** What may stand at a place. */
export type Place =
  | { readonly kind: "nodes"; readonly withBoundaries?: true }
  | {
      readonly kind:
        | "tasks"
        | "types"
        | "servers"
        | "reducers"
        | "graphs"
        | "inputs"
        | "callees"
        | "expression"
        | "words"
        | "codes"
        | "none";
    }
  | { readonly kind: "channels" }
  /** The arms of a `match` about `subject`, without those that are `used`. */
  | { readonly kind: "patterns"; readonly subject: string; readonly used: string }
  /** What `subject` can be compared with. */
  | { readonly kind: "values"; readonly subject: string; readonly isQuoted: boolean }
  /** The fields behind a dot. */
  | { readonly kind: "members"; readonly subject: string }
  /** A name or a string of a call, and all that its expressions may have; `before` ends at the place. */
  | { readonly kind: "call"; readonly before: string; readonly isQuoted: boolean }
  /** The parameters of a call that YAML writes as keys, with its text up to the place. */
  | { readonly kind: "parameters"; readonly callee: string; readonly written: string }
  | { readonly kind: "exports"; readonly specifier: string }
  | { readonly kind: "paths"; readonly typed: string };

/** The place at an offset of a text in the `.ngraph` spelling, by the words before it. */
export function placeAt(text: string, offset: number): Place {
  const typed = /[A-Za-z_]\w*$/.exec(text.slice(0, offset))?.[0] ?? "";
  const at = offset - typed.length;
  const before = text.slice(Math.max(0, at - 2000), at);
  const line = before.slice(before.lastIndexOf("\n") + 1);
  if (/(?:\/\/|\/\*).*ngraph-ignore[\sA-Z\d,]*$/.test(`${line}`)) return { kind: "codes" };
  const path = /^\s*(?:(?:import\b[^"]*|[\w\s,]*\})\s*)?\bfrom\s*"([^"\n]*)$/.exec(line + typed);
  if (path !== null) return { kind: "paths", typed: path[1] ?? "" };
  const imports = /\bimport\s*\{[^}]*$/.test(before) ? /^[^{}]*\}\s*from\s*"([^"\n]*)"/.exec(text.slice(offset)) : null;
  if (imports !== null) return { kind: "exports", specifier: imports[1] ?? "" };
  const state = stateAt(text, offset);
  if (state === "comment" || state === "template") return { kind: "none" };
  const compared = /([A-Za-z_][\w.?]*)\s*(?:==|!=)\s*("?)$/.exec(before) ?? GIVEN.exec(before);
  if (compared !== null && (state === "string") === (compared[2] === '"'))
    return { kind: "values", subject: compared[1] ?? "", isQuoted: state === "string" };
  const open = openBrackets(before);
  const isCall = open.some(({ callee }) => callee !== "" && !GROUPS.has(callee));
  if (state === "string") return isCall ? { kind: "call", before: before + typed, isQuoted: true } : { kind: "none" };
  const member = /([A-Za-z_]\w*(?:\??\.\w+)*)\??\.$/.exec(before);
  if (member !== null) return { kind: "members", subject: member[1] ?? "" };
  if (/\breduce\s+$/.test(before)) return { kind: "reducers" };
  if (/\binto\s+(?:set\s+)?$/.test(before) || /\binto\s*\{[^}]*$/.test(before)) return { kind: "channels" };
  if (/\bafter\s+(?:(?:any|done|failed)\s+)?(?:\w+\s*,\s*(?:(?:done|failed)\s+)?)*$/.test(before))
    return { kind: "tasks" };
  if (/\b(?:status|before)\($/.test(before)) return { kind: "nodes" };
  if (/^\s*test\b.*\bfor\s+$/.test(line)) return { kind: "graphs" };
  if (/\bgiven\s+$/.test(before)) return { kind: "inputs" };
  if (
    /\b(?:mock|answer|ran|undone|at|once|eventually|never|with|before(?:\s+each)?|waits|goes)\s+(?:\w+\s*,\s*)*$/.test(
      before,
    )
  )
    return { kind: "nodes" };
  if (/^\s*assert\s+$/.test(line)) return { kind: "nodes" };
  const arm = /\bmatch\s+([\w.?]+)[^{}]*\{((?:[^{}]|\{[^{}]*\})*)$/.exec(before);
  if (arm !== null && /(?:^|[\n|]|\s)\s*$/.test(before) && !/->\s*(?:\w+\s*,\s*)*$/.test(before)) {
    return { kind: "patterns", subject: arm[1] ?? "", used: arm[2] ?? "" };
  }
  if (/->\s*(?:\w+\s*,\s*)*$/.test(before)) return { kind: "nodes", withBoundaries: true };
  if (/\b(?:any|all|settled)\([^()]*$/.test(before)) return { kind: "nodes" };
  if (/^\s*(?:input|output|state|memory|config)\s+\w+\s*:[^=]*$/.test(line) || /^\s*type\s+\w+\s*=[^=]*$/.test(line))
    return { kind: "types" };
  if (/^\s*(?:node|task|finally\s+task)\s+\w+\s*=\s*$/.test(line)) return { kind: "callees" };
  if (/^\s*$/.test(line)) return { kind: "nodes", withBoundaries: true };
  if (isCall && /[({[,]\s*$/.test(before)) return { kind: "call", before, isQuoted: false };
  const brace = open.at(-1);
  // Braces after a call hold policies, and those of a graph its statements: both begin with words.
  if (brace !== undefined && /[{,]\s*$/.test(before) && /[\w)}\]"`]\s*\{$/.test(before.slice(0, brace.at)))
    return { kind: "words" };
  if (/[=(,[?:]\s*\{\s*$/.test(before)) return { kind: "expression" };
  if (/[=(,[?:+\-*/%<>!&|]\s*$|\b(?:when|in|if|match|then|expect)\s+$|\$\{\s*$/.test(before))
    return { kind: "expression" };
  return { kind: "words" };
}

/** Words before parentheses that are no calls. */
const GROUPS: ReadonlySet<string> = new Set(["any", "all", "settled", "status", "before", "when", "if", "in"]);

/** The value of an input in a test. */
const GIVEN = /\bgiven\s+(\w+)\s*=\s*("?)$/;

/** What the text is at an offset. In a template, `code` is the inside of `${…}`. */
function stateAt(text: string, offset: number): "code" | "string" | "template" | "comment" {
  /** The open templates and braces, from the outside. */
  const open: ("`" | "{")[] = [];
  let at = 0;
  while (at < offset) {
    const isTemplate = open.at(-1) === "`";
    const token = isTemplate ? TEMPLATE : CODE;
    token.lastIndex = at;
    const found = token.exec(text);
    if (found === null || found.index >= offset) return isTemplate ? "template" : "code";
    const [piece] = found;
    at = found.index + piece.length;
    if (piece === "`" && isTemplate) open.pop();
    else if (piece === "`") open.push("`");
    else if (piece === "${" || piece === "{") open.push("{");
    else if (piece === "}") open.pop();
    else if (offset < at || (offset === at && !isClosed(piece))) return piece.startsWith('"') ? "string" : "comment";
  }
  return open.at(-1) === "`" ? "template" : "code";
}

/** A string or comment. The end of a line ends a string that is not closed, and a line comment. */
function isClosed(piece: string): boolean {
  return piece.startsWith('"') ? /^"(?:[^"\\]|\\.)*"$/.test(piece) : /^\/\*[^]*\*\/$/.test(piece);
}

const CODE = /"(?:[^"\\\n]|\\.)*"?|`|\{|\}|\/\/[^\n]*|\/\*[^]*?(?:\*\/|$)/g;
const TEMPLATE = /\\.|`|\$\{/gs;
