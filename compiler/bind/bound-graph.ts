/**
 * A graph after binding: names resolved, expressions typed and already in the table's form, every part
 * still linked to the syntax it came from. Binding produces it, the checks and the proofs read it, lowering
 * flattens it into a table. Where `hasErrors` is set the graph is not lowered, but checks that can still say
 * something true run on what is there.
 */
import type { SourceFile, Span } from "../../diagnostics/source.ts";
import type * as Ast from "../../grammar/ast.ts";
import type { Expression } from "../../runtime/expression/expression.ts";
import type { Json } from "../../runtime/value/json.ts";
import type { Effect, FunctionSpec } from "../../runtime/table/table.ts";
import type { ValueType } from "../../runtime/table/value-type.ts";
import type { TypeScriptCheck } from "../expressions/typescript-check.ts";
import type { BoundPlan, BoundPlanCall } from "./plan/bound-plan.ts";
import type { NodeSignature } from "../../stdlib/signature.ts";

/** `start` as a source, `end` as a target. */
export const START = "start";
export const END_NAME = "end";

export interface BoundGraph {
  readonly file: SourceFile;
  readonly declaration: Ast.GraphDecl;
  readonly name: string;
  readonly doc?: string;
  /** In declaration order (the table orders by role). */
  readonly channels: readonly BoundChannel[];
  readonly nodes: readonly BoundNode[];
  /** In source order, chains taken apart into single edges. Edges that name unknown nodes are left out. */
  readonly edges: readonly BoundEdge[];
  readonly assertions: readonly BoundAssertion[];
  readonly limits: { readonly steps: number | null; readonly parallel: number | null };
  /** Imported functions that the graph uses, once each, in order of first use. */
  readonly functions: readonly FunctionSpec[];
  /** Named types that are used, once each, sorted by name; recursive ones through `ref`. */
  readonly types: readonly { readonly name: string; readonly type: ValueType }[];
  /** What only `tsc` can check, in the order of the text's parts. */
  readonly typeScriptChecks: readonly TypeScriptCheck[];
  /** Graphs that are called, once each, in order of first use. */
  readonly graphs: readonly BoundGraph[];
  /** Likewise plans; absent where it calls none. */
  readonly plans?: readonly BoundPlan[];
  readonly secrets: readonly string[];
  readonly hasErrors: boolean;
  /** Names that stand in broken statements: nothing is said about them. */
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
  readonly role: "input" | "output" | "state" | "memory";
  readonly type: ValueType;
  /** As declared; the start value where there is none is lowering's to fill in. */
  readonly initial?: Json;
  /** Of an output: a completed run may not have written it, so that it is still `null` although its type has none. */
  readonly mayEndNull?: true;
  readonly reducer?:
    | { readonly kind: "last" | "append" | "sum" | "min" | "max" | "merge" | "union" }
    | { readonly kind: "function"; readonly function: FunctionSpec };
}

export type BoundCall =
  | { readonly kind: "function"; readonly function: FunctionSpec; readonly args: readonly TypedExpression[] }
  | { readonly kind: "builtin"; readonly signature: NodeSignature; readonly args: readonly BoundArgument[] }
  | { readonly kind: "graph"; readonly graph: BoundGraph; readonly args: readonly BoundArgument[] }
  | { readonly kind: "expression"; readonly expression: TypedExpression }
  /** The call could not be bound; an error has been reported. */
  | { readonly kind: "broken" };

export interface BoundArgument {
  readonly name: string;
  readonly value: TypedExpression;
}

export interface BoundNode {
  readonly declaration: Ast.NodeDecl;
  readonly name: string;
  readonly doc?: string;
  readonly call: BoundCall | BoundPlanCall;
  readonly each?: { readonly item: string; readonly list: TypedExpression };
  readonly output?:
    | { readonly kind: "channel"; readonly channel: string }
    | { readonly kind: "fields"; readonly fields: readonly { readonly field: string; readonly channel: string }[] };
  /** Type of one call's result; absent where nothing is known (an imported function). */
  readonly result?: ValueType;
  readonly tries?: { readonly attempts: number; readonly backoff?: { readonly min: number; readonly max: number } };
  readonly timeout?: number;
  readonly cache?: { readonly for: number | null };
  readonly maxParallel?: number;
  readonly pauseBefore: boolean;
  readonly pauseAfter: boolean;
  /** Names of nodes, or `end`. */
  readonly goes?: readonly string[];
  readonly waits?: readonly string[];
  readonly idempotent: boolean;
  readonly effects: readonly Effect[];
  /** Channels (by name) read by the call, its arguments and `for`. */
  readonly reads: readonly string[];
  readonly writes: readonly string[];
}

/** One edge statement's link from its sources to its right side. */
export interface BoundEdge {
  readonly span: Span;
  /** The statement. */
  readonly syntax: Ast.EdgeDecl;
  readonly source:
    /** One signal for each of them. Names of nodes, or `start`. */
    | { readonly kind: "nodes"; readonly nodes: readonly BoundReference[] }
    /** A barrier: each member is filled by any one of its nodes. */
    | { readonly kind: "all"; readonly members: readonly (readonly BoundReference[])[]; readonly span: Span };
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
  readonly form: "before" | "once" | "eventually" | "never";
  readonly node: string;
  /** A node, or `end` for `before`. */
  readonly other?: string;
}
