/** The state that the parts of binding one graph or plan share. */
import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import type { Suggestions } from "../../diagnostics/similar.ts";
import type { SourceFile, Span } from "../../diagnostics/source.ts";
import type * as Ast from "../../grammar/ast.ts";
import type { Json } from "../../runtime/value/json.ts";
import type { FunctionSpec } from "../../runtime/table/table.ts";
import type { ValueType } from "../../runtime/table/value-type.ts";
import type { BoundChannel, BoundGraph } from "./bound-graph.ts";
import type { BoundPlan } from "./plan/bound-plan.ts";
import type { TypeScriptCheck } from "../expressions/typescript-check.ts";
import type { TypeTable } from "../types/type-table.ts";
import type { CallableUnit, FileScope, GraphUnit, PlanUnit } from "./file-scope.ts";

export interface ChannelEntry {
  readonly declaration: Ast.ChannelDecl;
  readonly name: string;
  readonly index: number;
  readonly role: Ast.ChannelDecl["role"];
  readonly type: ValueType;
  readonly initial?: Json;
  readonly reducer?: NonNullable<BoundChannel["reducer"]>;
  /** It starts as `null` although its type excludes `null`, so reads must come after a write. */
  readonly startsNull: boolean;
  /** Its reducer is wrong and has been reported: writes are not checked. */
  readonly hasWrongReducer: boolean;
}

export interface NodeEntry {
  readonly declaration: Ast.NodeDecl;
  readonly name: string;
  readonly index: number;
}

export interface GraphContext {
  readonly unit: CallableUnit;
  readonly scope: FileScope;
  readonly file: SourceFile;
  readonly types: TypeTable;
  readonly report: (diagnostic: Diagnostic) => void;
  readonly suggestions: Suggestions;
  /** Checks that only `tsc` can make; filled while binding. */
  readonly typeScriptChecks: TypeScriptCheck[];
  readonly channels: ReadonlyMap<string, ChannelEntry>;
  /** By index. */
  readonly channelNames: readonly string[];
  /** By name of a channel: the list with this name alone, which all that read or write nothing else share. */
  readonly channelLists: ReadonlyMap<string, readonly string[]>;
  /** Derived names, with their places. */
  readonly derived: ReadonlyMap<string, Span>;
  readonly nodes: ReadonlyMap<string, NodeEntry>;
  /** The word for them in messages. */
  readonly noun: "node" | "task";
  /** Channels that some node writes, by name. */
  readonly written: ReadonlySet<string>;
  /** Names about which no further findings are reported. */
  readonly poisoned: Set<string>;
  /** A statement with unknown names could not be parsed. */
  readonly hasUnknownNames: boolean;
  /** Imported functions in use, with their indexes. */
  readonly functions: Map<string, { readonly spec: FunctionSpec; readonly index: number }>;
  readonly called: Set<BoundGraph>;
  readonly calledPlans: Set<BoundPlan>;
  /** A graph that this one may call; `undefined` where calling it would close a cycle (reported) or it is broken. */
  readonly boundGraph: (unit: GraphUnit) => BoundGraph | undefined;
  /** A plan that this unit may call, under the same conditions. */
  readonly boundPlan: (unit: PlanUnit) => BoundPlan | undefined;
}

export function placeIn(context: Pick<GraphContext, "file">, span: Span): { file: SourceFile; span: Span } {
  return { file: context.file, span };
}

/** Whether an unknown name in a graph must not be reported. */
export function isSilenced(name: string, context: GraphContext): boolean {
  return context.hasUnknownNames || context.poisoned.has(name);
}

/** Registers the use of an imported function and returns its index. */
export function useFunction(spec: FunctionSpec, context: Pick<GraphContext, "functions">): number {
  const known = context.functions.get(spec.name);
  if (known !== undefined) return known.index;
  const index = context.functions.size;
  context.functions.set(spec.name, { spec, index });
  return index;
}
