import { tokenizeModule, type ModuleToken } from "./module-tokens.ts";

/** Where a function's code jumps or sends to, as far as its text says so for certain. */
export interface Jump {
  readonly target: string;
  readonly by: "goto" | "send";
}

/**
 * The targets of `context.goto("x")` and `context.send("x", …)` in a function that a module exports under its own name.
 * `position` is the parameter that is the context: the one after those that the graph gives. Only string literals in calls
 * on that very parameter count; where the text is not understood there are none.
 */
export function findJumps(text: string, name: string, position: number): readonly Jump[] {
  const tokens = tokenizeModule(text);
  if (tokens === undefined) return [];
  const open = parametersOf(tokens, name);
  if (open === undefined) return [];
  const { parameters, end } = splitParameters(tokens, open);
  const context = parameters[position];
  if (context === undefined) return [];
  const isCalled = callMatcher(tokens, context);
  const jumps = new Map<string, Jump>();
  for (let at = end + 1; at < tokens.length && !isNextStatement(tokens, at, end); at++) {
    const call = isCalled(at);
    if (call === undefined) continue;
    for (let argument = call.open + 1; tokens[argument]?.kind === "string"; argument += 2) {
      const target = tokens[argument]?.text ?? "";
      const after = tokens[argument + 1]?.text;
      if (target === "" || (after !== "," && after !== ")")) break;
      jumps.set(`${call.by} ${target}`, { target, by: call.by });
      if (after === ")" || call.by === "send") break;
    }
  }
  return [...jumps.values()];
}

/** Index of the `(` of a top-level function's parameters: `function f(`, `const f = async (`, `const f = function (`. */
function parametersOf(tokens: readonly ModuleToken[], name: string): number | undefined {
  for (let at = 0; at + 1 < tokens.length; at++) {
    const token = tokens[at];
    if (token?.kind !== "word" || token.depth !== 0 || tokens[at + 1]?.text !== name) continue;
    if (token.text === "function") return tokens[at + 2]?.text === "(" ? at + 2 : undefined;
    if (token.text !== "const" || tokens[at + 2]?.text !== "=") continue;
    let open = at + 3;
    while (["async", "function"].includes(tokens[open]?.text ?? "")) open++;
    return tokens[open]?.text === "(" ? open : undefined;
  }
  return undefined;
}

/** The tokens of each parameter, and the index of the closing parenthesis. */
function splitParameters(
  tokens: readonly ModuleToken[],
  open: number,
): { parameters: readonly (readonly ModuleToken[])[]; end: number } {
  const depth = tokens[open]?.depth ?? 0;
  const parameters: ModuleToken[][] = [[]];
  let angles = 0;
  let at = open + 1;
  for (; at < tokens.length; at++) {
    const token = tokens[at] as ModuleToken;
    if (token.text === ")" && token.depth === depth && token.kind === "punctuation") break;
    if (token.text === "<") angles++;
    // The arrow of a function type closes no angle.
    if (token.text === ">" && tokens[at - 1]?.text !== "=") angles--;
    if (token.text === "," && token.depth === depth && angles === 0) parameters.push([]);
    else parameters.at(-1)?.push(token);
  }
  return { parameters: parameters.filter((parameter) => parameter.length > 0), end: at };
}

/** Finds `context.goto(` at an index, or `goto(` where the parameter is `{ goto }`. */
function callMatcher(
  tokens: readonly ModuleToken[],
  parameter: readonly ModuleToken[],
): (at: number) => { by: Jump["by"]; open: number } | undefined {
  const [first] = parameter;
  const by = (at: number): Jump["by"] | undefined => {
    const text = tokens[at]?.text;
    return text === "goto" || text === "send" ? text : undefined;
  };
  if (first?.kind === "word") {
    return (at) => {
      if (tokens[at]?.text !== first.text || tokens[at]?.kind !== "word" || tokens[at - 1]?.text === ".")
        return undefined;
      const found = tokens[at + 1]?.text === "." && tokens[at + 3]?.text === "(" ? by(at + 2) : undefined;
      return found === undefined ? undefined : { by: found, open: at + 3 };
    };
  }
  const own = new Set<string>();
  for (const [i, token] of parameter.entries()) {
    if (token.text === "}") break;
    // `goto: jump` gives it another name, which is not followed.
    if (token.kind === "word" && parameter[i + 1]?.text !== ":" && parameter[i - 1]?.text !== ":") own.add(token.text);
  }
  return (at) => {
    const found = by(at);
    const isCall =
      found !== undefined && own.has(found) && tokens[at - 1]?.text !== "." && tokens[at + 1]?.text === "(";
    return isCall ? { by: found, open: at + 1 } : undefined;
  };
}

/** Whether a statement of the module begins here, so that the function is over. */
function isNextStatement(tokens: readonly ModuleToken[], at: number, end: number): boolean {
  const token = tokens[at];
  if (token?.kind !== "word" || token.depth !== 0 || at < end + 2) return false;
  return ["export", "import", "function", "const", "let", "var", "class", "interface", "type", "enum"].includes(
    token.text,
  );
}
