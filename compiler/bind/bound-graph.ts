/**
 * A graph after binding: names are resolved, expressions are typed and have the table's form, and every part links to
 * its syntax. Binding produces it, checks and proofs read it, and lowering turns it into a table. A graph with
 * `hasErrors` is not lowered; checks whose findings do not depend on the missing parts still run.
 */
import type { SourceFile, Span } from "../../diagnostics/source.ts";
import type * as Ast from "../../grammar/ast.ts";
import type { Expression } from "../../runtime/expression/expression.ts";
import type { Json } from "../../runtime/value/json.ts";
import type { Effect, FunctionSpec, Table } from "../../runtime/table/table.ts";
import type { FieldType, ValueType } from "../../runtime/table/value-type.ts";
import type { ControlNet, NetEntry } from "../control/net.ts";
import type { TypeScriptCheck } from "../expressions/typescript-check.ts";
import type { BoundPlan, BoundPlanCall } from "./plan/bound-plan.ts";
import type { NodeSignature } from "../../stdlib/signature.ts";

/** `start` and `finally` as sources, `end` as a target. */
export const START = "start";
export const END_NAME = "end";
/** The other source without a node: its edges are taken when the run has ended. */
export const FINALLY = "finally";
/** A target that ends the run and undoes what has completed. */
export const ROLLBACK_NAME = "rollback";

export interface BoundGraph {
  readonly file: SourceFile;
  readonly declaration: Ast.GraphDecl;
  readonly name: string;
  readonly doc?: string;
  /** Earlier names. */
  readonly was?: readonly string[];
  /** Channels of earlier versions, whose values are dropped. */
  readonly dropped?: readonly string[];
  /** In declaration order (the table orders by role). */
  readonly channels: readonly BoundChannel[];
  /** The configuration of a run: of this graph and of all that it calls, one entry for each name. */
  readonly config: readonly BoundConfig[];
  readonly nodes: readonly BoundNode[];
  /** In source order; a chain `a -> b -> c` is split into its edges. Edges that name unknown nodes are omitted. */
  readonly edges: readonly BoundEdge[];
  /** Of a part of a graph (`checks/graph-parts.ts`): the source where its runs begin. */
  readonly entry?: NetEntry;
  /** Of a part: nodes that do not run in it, and that its barriers or assertions name. */
  readonly absent?: ReadonlySet<string>;
  /** Of a part: nodes that the other part runs, too. */
  readonly shared?: ReadonlySet<string>;
  /** The types of derived names, for editors; absent where there are none. Names with errors have none. */
  readonly derivedTypes?: () => ReadonlyMap<Ast.DeriveDecl, ValueType>;
  /** The control flow of the nodes and edges. */
  readonly control: ControlNet;
  readonly assertions: readonly BoundAssertion[];
  readonly limits: Table["limits"];
  /** Imported functions that the graph uses, once each, in order of first use. */
  readonly functions: readonly FunctionSpec[];
  /** The digest of an imported function's signatures, by its name; `undefined` if its module declares none. */
  readonly signatureOf?: (name: string) => string | undefined;
  /** Whether an imported function may pause the run (`context.interrupt`), by its name; absent: each may. */
  readonly mayInterrupt?: (name: string) => boolean;
  /** Named types that are used, once each, sorted by name; recursive ones through `ref`. */
  readonly types: readonly { readonly name: string; readonly type: ValueType }[];
  /** Checks that only `tsc` can make, in source order. */
  readonly typeScriptChecks: readonly TypeScriptCheck[];
  /** Graphs that are called, once each, in order of first use. */
  readonly graphs: readonly BoundGraph[];
  /** Plans that are called, once each, in order of first use; absent where there are none. */
  readonly plans?: readonly BoundPlan[];
  /** All secrets of the file: an imported function may read those that no expression reads. */
  readonly secrets: readonly string[];
  readonly hasErrors: boolean;
  /** Names in statements that could not be parsed: no findings are reported about them. */
  readonly poisoned: ReadonlySet<string>;
}

/** An expression with its type and place. */
export interface TypedExpression {
  /** `channel` and `call` hold indexes into `channels` and `functions` of the bound graph; lowering renumbers them. */
  readonly expression: Expression;
  readonly type: ValueType;
  readonly span: Span;
  /** The syntax it came from. */
  readonly syntax: Ast.Expr;
  /** Channels (by name) that it reads. */
  readonly reads: readonly string[];
}

export interface BoundChannel {
  readonly declaration: Ast.ChannelDecl;
  readonly name: string;
  readonly role: Ast.ChannelDecl["role"];
  readonly type: ValueType;
  /** Earlier names. */
  readonly was?: readonly string[];
  /** The declared default. Lowering fills in a start value where there is none. */
  readonly initial?: Json;
  /**
   * Set for an output that a completed run may leave unwritten, so that it is `null` although its type excludes `null`.
   */
  readonly mayEndNull?: true;
  readonly reducer?:
    | { readonly kind: "last" | "append" | "sum" | "min" | "max" | "merge" | "union" }
    | { readonly kind: "function"; readonly function: FunctionSpec };
}

/** A name of a run's configuration, as the outermost graph that has it declares it. */
export interface BoundConfig {
  readonly channel: BoundChannel;
  /** The graph or plan that declares it. */
  readonly owner: string;
  readonly file: SourceFile;
  /** 0 for the graph itself, 1 for what it calls, and so on. */
  readonly depth: number;
}

export type BoundCall =
  | {
      readonly kind: "function";
      readonly function: FunctionSpec;
      readonly args: readonly TypedExpression[];
      /** The function would take the context for a value. */
      readonly withoutContext?: true;
    }
  | {
      readonly kind: "builtin";
      readonly signature: NodeSignature;
      readonly args: readonly BoundArgument[];
      readonly tools?: readonly BoundTool[];
    }
  | { readonly kind: "graph"; readonly graph: BoundGraph; readonly args: readonly BoundArgument[] }
  | { readonly kind: "expression"; readonly expression: TypedExpression }
  /** The call could not be bound; an error has been reported. */
  | { readonly kind: "broken" };

/** A tool of a model: an imported function, or a graph, whose inputs are the parameters. */
export type BoundTool = {
  readonly description?: string;
  readonly approval: boolean;
} & (
  | {
      readonly function: FunctionSpec;
      readonly parameters: readonly FieldType[];
      /** The function would take the context for a value. */
      readonly withoutContext?: true;
    }
  | { readonly name: string; readonly graph: BoundGraph }
);

/** The graphs that a call runs: the called one, or those among its tools. */
export function graphsCalledBy(call: { readonly kind: string } & Partial<CallOfGraphs>): readonly BoundGraph[] {
  if (call.graph !== undefined) return [call.graph];
  return (call.tools ?? []).flatMap((tool) => ("graph" in tool ? [tool.graph] : []));
}

interface CallOfGraphs {
  readonly graph: BoundGraph;
  readonly tools: readonly BoundTool[];
}

/** The `undo` of a node. */
export interface BoundUndo {
  readonly policy: Ast.Policy & { readonly kind: "Undo" };
  readonly call: Extract<BoundCall, { readonly kind: "function" | "builtin" }>;
  readonly tries?: BoundNode["tries"];
  readonly timeout?: number;
  /** Channels that its arguments read and the node itself has written. */
  readonly reads: readonly string[];
}

export interface BoundArgument {
  readonly name: string;
  readonly value: TypedExpression;
}

export interface BoundNode {
  readonly declaration: Ast.NodeDecl;
  readonly name: string;
  readonly doc?: string;
  readonly call: BoundCall | BoundPlanCall;
  readonly each?: {
    readonly item: string;
    readonly index?: string;
    readonly list: TypedExpression;
    readonly condition?: TypedExpression;
  };
  readonly output?:
    | { readonly kind: "channel"; readonly channel: string; readonly optional?: true; readonly set?: true }
    | {
        readonly kind: "fields";
        readonly fields: readonly {
          readonly field: string;
          readonly channel: string;
          readonly optional?: true;
          readonly set?: true;
        }[];
      };
  /** The type of one call's result; absent for imported functions, whose results are only checked at run time. */
  readonly result?: ValueType;
  readonly tries?: { readonly attempts: number; readonly backoff?: { readonly min: number; readonly max: number } };
  readonly timeout?: number;
  /** The deadline of an answer or a signal, in milliseconds. */
  readonly within?: number;
  readonly cache?: { readonly for: number | null };
  readonly maxParallel?: number;
  /** Of a `for` node: items may fail (`allow failure`). */
  readonly allowsFailure?: true;
  readonly pauseBefore: boolean;
  readonly pauseAfter: boolean;
  /** Names of nodes, `end` or `rollback`. */
  readonly goes?: readonly string[];
  readonly waits?: readonly string[];
  /** Earlier names. */
  readonly was?: readonly string[];
  readonly idempotent: boolean;
  readonly undo?: BoundUndo;
  readonly effects: readonly Effect[];
  /** Channels (by name) read by the call, its arguments and `for`. */
  readonly reads: readonly string[];
  readonly writes: readonly string[];
}

/** One edge: from its sources to its right side. A statement that is a chain has several. */
export interface BoundEdge {
  readonly span: Span;
  /** The statement. */
  readonly syntax: Ast.EdgeDecl;
  readonly source:
    /** Nodes, `start` or `finally`; each sends a signal of its own. */
    | { readonly kind: "nodes"; readonly nodes: readonly BoundReference[] }
    /** A barrier: each member is filled by any one of its nodes. */
    | {
        readonly kind: "all" | "settled";
        readonly members: readonly (readonly BoundReference[])[];
        readonly span: Span;
      };
  readonly onError: boolean;
  /** Channels (by name) that its conditions read and that may not have been written there: still `null`. */
  readonly unwritten?: readonly string[];
  readonly to:
    | { readonly kind: "plain"; readonly targets: readonly BoundReference[] }
    | { readonly kind: "when"; readonly condition: TypedExpression; readonly targets: readonly BoundReference[] }
    | { readonly kind: "otherwise"; readonly targets: readonly BoundReference[] }
    | {
        readonly kind: "match";
        readonly subject: TypedExpression;
        readonly arms: readonly {
          readonly span: Span;
          readonly values: readonly (string | number | boolean | null)[];
          readonly targets: readonly BoundReference[];
        }[];
        readonly otherwise?: { readonly span: Span; readonly targets: readonly BoundReference[] };
      }
    | {
        readonly kind: "cases";
        readonly arms: readonly {
          readonly span: Span;
          readonly condition: TypedExpression;
          readonly targets: readonly BoundReference[];
        }[];
        readonly otherwise?: { readonly span: Span; readonly targets: readonly BoundReference[] };
      };
}

/** A node's (or `start`'s, `end`'s) name where an edge uses it. */
export interface BoundReference {
  readonly name: string;
  readonly span: Span;
}

export interface BoundAssertion {
  readonly declaration: Ast.AssertDecl;
  readonly form: "before" | "once" | "eventually" | "never" | "at";
  readonly node: string;
  /** A node, or `end` for `before`. */
  readonly other?: string;
  /** `before each`. */
  readonly each?: true;
  /** Of `condition at a`: what holds whenever the node starts. */
  readonly condition?: TypedExpression;
}

/** Channels that a node writes with `set`. */
export function setBy({ output }: Pick<BoundNode, "output">): readonly string[] {
  if (output?.kind === "fields") return output.fields.flatMap(({ channel, set }) => (set === true ? [channel] : []));
  return output?.set === true ? [output.channel] : NO_CHANNELS;
}

const NO_CHANNELS: readonly string[] = [];

/** Channels that some node writes with `set`: their reducers do not decide all of their values. */
export function setChannels({ nodes }: Pick<BoundGraph, "nodes">): ReadonlySet<string> {
  const found = new Set<string>();
  for (const node of nodes) for (const channel of setBy(node)) found.add(channel);
  return found;
}

/** Whether a channel's `merge` combines a list of records by their ids. */
export function mergesById({ type, reducer }: Pick<BoundChannel, "type" | "reducer">): boolean {
  if (reducer?.kind !== "merge") return false;
  return type.kind === "list" || (type.kind === "union" && type.members.some(({ kind }) => kind === "list"));
}
