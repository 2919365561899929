import type { FunctionNode } from "./parse-module.ts";

/** A node that a function calls `goto` or `send` with. */
export interface Jump {
  readonly target: string;
  readonly by: "goto" | "send";
}

/**
 * The targets of `context.goto("x")` and `context.send("x", …)` in a function. `position` is the index of the parameter
 * that receives the context: the one after the arguments of the graph. Finds string literals only, and only calls of
 * methods of this parameter.
 */
export function findJumps(body: FunctionNode, position: number): readonly Jump[] {
  const context = body.params[position];
  if (context === undefined || body.type === "TSDeclareFunction") return [];
  const methodOf = contextMethods(context);
  const jumps = new Map<string, Jump>();
  const open: unknown[] = [body.body];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (typeof node !== "object" || node === null) continue;
    if (!Array.isArray(node) && (node as AnyNode).type === "CallExpression") {
      const call = node as AnyNode;
      const by = methodOf(call.callee);
      if (by !== undefined) for (const target of targetsOf(call, by)) jumps.set(`${by} ${target}`, { target, by });
    }
    for (const child of Object.values(node)) if (typeof child === "object" && child !== null) open.push(child);
  }
  return [...jumps.values()];
}

interface AnyNode {
  readonly type: string;
  readonly callee?: AnyNode;
  readonly object?: AnyNode;
  readonly property?: AnyNode;
  readonly computed?: boolean;
  readonly name?: string;
  readonly value?: unknown;
  readonly arguments?: readonly AnyNode[];
}

/** Recognises `context.goto`, and `goto` if the parameter is `{ goto }`. Does not recognise renamed methods. */
function contextMethods(
  parameter: FunctionNode["params"][number],
): (callee: AnyNode | undefined) => Jump["by"] | undefined {
  if (parameter.type === "Identifier") {
    return (callee) => {
      const isMethod =
        (callee?.type === "MemberExpression" || callee?.type === "OptionalMemberExpression") &&
        callee.computed !== true &&
        callee.object?.type === "Identifier" &&
        callee.object.name === parameter.name;
      return isMethod ? asJump(callee.property?.name) : undefined;
    };
  }
  if (parameter.type !== "ObjectPattern") return () => undefined;
  const own = new Set(
    parameter.properties.flatMap((property) =>
      property.type === "ObjectProperty" && property.shorthand && property.key.type === "Identifier"
        ? [property.key.name]
        : [],
    ),
  );
  return (callee) =>
    callee?.type === "Identifier" && callee.name !== undefined && own.has(callee.name)
      ? asJump(callee.name)
      : undefined;
}

function asJump(name: string | undefined): Jump["by"] | undefined {
  return name === "goto" || name === "send" ? name : undefined;
}

/** The targets of a call: `goto` takes several targets, `send` takes one target and its input. */
function targetsOf(call: AnyNode, by: Jump["by"]): readonly string[] {
  const targets: string[] = [];
  for (const argument of call.arguments ?? []) {
    if (argument.type !== "StringLiteral" || typeof argument.value !== "string" || argument.value === "") break;
    targets.push(argument.value);
    if (by === "send") break;
  }
  return targets;
}
