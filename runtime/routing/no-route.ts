import { NodeError } from "../interface/errors.ts";
import { reasonOf } from "../interface/thrown-reason.ts";
import { ExpressionError } from "../expression/expression-error.ts";
import { printExpression } from "../expression/print-expression.ts";
import type { RouteSpec, Table } from "../table/table.ts";

/**
 * The error of a node whose edges cannot be followed. `NG_NO_ROUTE` (2.4): no edge leads to a target; the message lists
 * the evaluated conditions and how to cover the case. `NG_CONDITION`: a condition has no value. A resume evaluates the
 * edges again.
 *
 * @param node a node's index, or -1 for `entry`
 */
export function noRoute(
  table: Table,
  node: number,
  subject: (expression: number) => unknown,
  details: {
    readonly cause?: unknown;
    readonly threadId?: string | undefined;
    /** The edges are the `on error` edges of a failed node. */
    readonly hasFailed?: boolean | undefined;
    /** Removes secrets. An expression may call a function that throws an error with one. */
    readonly redact?: (text: string) => string;
  } = {},
  entry: "start" | "finally" = "start",
): NodeError {
  const name = node === -1 ? entry : (table.nodes[node]?.name ?? String(node));
  const routes = (node === -1 ? table[entry] : table.nodes[node]?.routes) ?? [];
  const { cause, threadId, redact = (text) => text } = details;
  if (cause !== undefined) {
    const reason = redact(reasonOf(cause));
    const place = cause instanceof ExpressionError && cause.place !== undefined ? ` (${cause.place})` : "";
    const edges = details.hasFailed === true ? "`on error` edges" : "edges";
    const message = `a condition of the ${edges} of \`${name}\` cannot be evaluated: ${reason}${place}`;
    return new NodeError("NG_CONDITION", name, message, { threadId, cause, causeMessage: reason });
  }
  const conditions = routes.map((route) => describe(table, route, subject)).join("; ");
  const message =
    `node \`${name}\` has no next node: none of its edges applies: ${redact(conditions)}; ` +
    "add an `otherwise` edge, or an `else` arm as the default";
  return new NodeError("NG_NO_ROUTE", name, message, { threadId });
}

/** The error for a failed node without an `on error` edge that applies. */
export function failedWithoutRoute(name: string, threadId?: string): NodeError {
  const message = `node \`${name}\` has no next node: it failed, and no \`on error\` edge applies`;
  return new NodeError("NG_NO_ROUTE", name, message, { threadId });
}

function describe(table: Table, route: RouteSpec, subject: (expression: number) => unknown): string {
  switch (route.kind) {
    case "match": {
      const known = route.arms.flatMap((arm) => arm.values.map((value) => JSON.stringify(value)));
      const value = shorten(JSON.stringify(subject(route.subject)) ?? "nothing");
      return `\`${expressionText(table, route.subject)}\` is ${value}, the arms match ${known.join(", ")}`;
    }
    case "cases":
      return `none of ${route.arms.map((arm) => `\`${expressionText(table, arm.condition)}\``).join(", ")} holds`;
    case "when":
      return `\`${expressionText(table, route.condition)}\` does not hold`;
    default:
      return "it has no targets";
  }
}

/** An expression of a table as text, shortened. */
export function expressionText(table: Table, expression: number): string {
  const names = {
    channels: table.channels.map((channel) => channel.name),
    functions: table.functions.map((item) => item.name),
  };
  return shorten(printExpression(table.expressions[expression]!, names));
}

function shorten(text: string): string {
  return text.length > 80 ? `${text.slice(0, 77)}…` : text;
}
