import { effectOfHost, type Effect } from "../../runtime/table/effects.ts";
import type { Expression } from "../../runtime/expression/expression.ts";
import type { BoundArgument } from "./bound-graph.ts";

/**
 * The effects of a call of `http`: the hosts of the option `hosts` if it is literal, the host of a literal URL, or `net` for any
 * host. The engine restricts redirects to the hosts that it allows.
 */
export function requestEffects(args: readonly BoundArgument[]): readonly Effect[] {
  const valueOf = (name: string): Expression | undefined =>
    args.find((argument) => argument.name === name)?.value.expression;
  const hosts = literalList(valueOf("hosts"));
  const effects = hosts === undefined ? [effectOfUrl(valueOf("url"))] : hosts.map(effectOfHost);
  return effects.every((effect) => effect !== undefined) ? effects : ["net"];
}

function literalList(expression: Expression | undefined): readonly string[] | undefined {
  if (expression?.op === "const") return isTexts(expression.value) ? expression.value : undefined;
  if (expression?.op !== "list") return undefined;
  const values = expression.items.map((item) => ("op" in item && item.op === "const" ? item.value : undefined));
  return isTexts(values) ? values : undefined;
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

/** The host of a URL that is literal, or whose literal beginning contains the host and the character after it. */
function effectOfUrl(url: Expression | undefined): Effect | undefined {
  const { text, isWhole } = literalBeginning(url);
  // Other spellings that `new URL` accepts (spaces, backslashes, credentials, a slash more or less) do not count as literal.
  const [origin, end] = /^https?:\/\/[^/?#@\\\s]+([/?#]|$)/i.exec(text) ?? [];
  if (origin === undefined || (end === "" && !isWhole) || !URL.canParse(origin)) return undefined;
  return effectOfHost(new URL(origin).host);
}

interface Beginning {
  readonly text: string;
  readonly isWhole: boolean;
}

/** The text of an expression up to its first part that is not literal. */
function literalBeginning(expression: Expression | undefined): Beginning {
  const parts: (Expression | string)[] = [];
  let first = expression;
  // Sums nest to the left as deep as they are long.
  for (; first?.op === "binary" && first.operator === "+"; first = first.left) parts.push(first.right);
  const leading = first?.op === "template" ? first.parts : first === undefined ? [] : [first];
  let text = "";
  for (const part of [...leading, ...parts.reverse()]) {
    if (typeof part === "string") text += part;
    else if (part.op === "const" && typeof part.value === "string") text += part.value;
    else return { text, isWhole: false };
  }
  return { text, isWhole: true };
}
