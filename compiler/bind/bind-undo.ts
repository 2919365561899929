/** The `undo` of a node: a call with policies of its own, whose arguments read what the node has written. */
import { badUndo } from "../../diagnostics/catalog/policies.ts";
import { namesSecrets } from "../../runtime/expression/secret-arguments.ts";
import type { Effect } from "../../runtime/table/table.ts";
import type { ValueType } from "../../runtime/table/value-type.ts";
import type * as Ast from "../../grammar/ast.ts";
import type { Facts } from "../expressions/facts.ts";
import type { ExpressionScope, NameBinding } from "../expressions/scope.ts";
import { isAssignable } from "../types/assignable.ts";
import { isBroken } from "../types/construct.ts";
import { resolveType } from "../types/type-table.ts";
import { bindCall } from "./bind-call.ts";
import { writtenType } from "./accepted-updates.ts";
import type { Write } from "./resolve-writes.ts";
import type { BoundPolicies } from "./bind-policies.ts";
import { graphsCalledBy, type BoundUndo, type TypedExpression } from "./bound-graph.ts";
import { placeIn, type GraphContext } from "./graph-context.ts";

interface UndoneNode {
  readonly declaration: Ast.NodeDecl;
  readonly undo: NonNullable<BoundPolicies["undo"]>;
  readonly writes: readonly Write[];
  /** The type of its result, if it is known. */
  readonly result: ValueType | undefined;
  /** The scope of its arguments. */
  readonly scope: ExpressionScope;
}

/** Types an `undo`. Reports one that cannot run, and omits it. */
export function bindUndo(
  node: UndoneNode,
  context: GraphContext,
): { readonly undo: BoundUndo | undefined; readonly effects: readonly Effect[] } {
  const { undo, scope, declaration } = node;
  const { call: syntax } = undo.policy;
  const refuse = (message: string, help: string): { readonly undo: undefined; readonly effects: readonly Effect[] } => {
    context.report(badUndo(placeIn(context, syntax.span), { message, help }));
    return { undo: undefined, effects: [] };
  };
  const reads = new Set<string>();
  const { call, effects } = bindCall(syntax, undoScope(node, reads, context), context);
  for (const name of reads) scope.reads.delete(name);
  const name = declaration.name.name;
  switch (call.kind) {
    case "broken":
      return { undo: undefined, effects };
    case "graph":
    case "plan":
      return refuse(`\`undo\` of \`${name}\` calls a ${call.kind}`, UNDO_HELP);
    case "expression":
      return refuse(`\`undo\` of \`${name}\` calls no function`, UNDO_HELP);
    case "builtin":
      if (call.signature.pauses === true || WAITS.has(call.signature.name)) {
        return refuse(`\`undo\` of \`${name}\` waits`, "a rollback runs without people and timers: call a function");
      }
      if (graphsCalledBy(call).length > 0) return refuse(`a tool of the \`undo\` of \`${name}\` is a graph`, UNDO_HELP);
      break;
    case "function":
  }
  const args: readonly TypedExpression[] = call.kind === "builtin" ? call.args.map(({ value }) => value) : call.args;
  const computed = args.find(({ expression }) => !namesSecrets(expression));
  if (computed !== undefined) {
    const message = "an argument of `undo` computes with a secret, which is stored by its name";
    const help = "pass the secret itself, or in a template, a list or a record";
    context.report(badUndo(placeIn(context, computed.span), { message, help }));
    return { undo: undefined, effects };
  }
  const { tries, timeout } = undo;
  return {
    undo: {
      policy: undo.policy,
      call,
      ...(tries === undefined ? {} : { tries }),
      ...(timeout === undefined ? {} : { timeout }),
      reads: [...reads],
    },
    effects,
  };
}

const UNDO_HELP = "an `undo` calls an imported function, or a built-in node that does not wait: `undo cancel(ref)`";
const WAITS: ReadonlySet<string> = new Set(["ask", "receive", "sleep"]);

/** R1: a channel of `into` has the value that the node has written, every other name the value that the node has read. */
function undoScope(node: UndoneNode, reads: Set<string>, context: GraphContext): ExpressionScope {
  const { scope, writes, declaration } = node;
  const written = new Map<string, NameBinding>();
  for (const write of writes) {
    const { channel, isOptional } = write;
    // A field that the result lacks leaves the channel as it is.
    if (isOptional === true || scope.locals.has(channel.name)) continue;
    const type = typeOfWrite(write, node.result, declaration.each !== undefined, context);
    written.set(channel.name, { kind: "channel", index: channel.index, type });
  }
  const facts: Facts = new Map([...scope.facts].filter(([path]) => !written.has(/^\w+/.exec(path)?.[0] ?? "")));
  const { names } = scope;
  const value: typeof names.value = (name, span) => {
    const own = written.get(name);
    if (own === undefined) return names.value(name, span);
    reads.add(name);
    return own;
  };
  return { ...scope, facts, names: { ...names, value } };
}

function typeOfWrite(write: Write, result: ValueType | undefined, isEach: boolean, context: GraphContext): ValueType {
  const type = writtenType(write, isEach, context);
  if (result === undefined || isBroken(result) || write.channel.reducer !== undefined) return type;
  const whole = resolveType(result, context.types);
  const own =
    write.field === undefined
      ? result
      : whole.kind === "record"
        ? whole.fields.find((field) => field.name === write.field && field.optional !== true)?.type
        : undefined;
  if (own === undefined || resolveType(own, context.types).kind === "json") return type;
  // The result of a function may be narrower than its channel: `string` for a channel `string | null`.
  return isAssignable(own, type, context.types) === undefined ? own : type;
}
