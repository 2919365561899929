/**
 * Graphs whose runs need no engine, prepared for `direct-loop.ts`. The generated module has the calls of the nodes as code; the rest comes from
 * the table.
 */
import type { Evaluate, GeneratedExpression, Scope } from "../expression/compile-expression.ts";
import type { ExpressionFunction } from "../expression/call-function.ts";
import { endWork, startWork } from "../expression/work-meter.ts";
import type { Clock } from "../interface/clock.ts";
import type { BuiltinNode } from "../interface/context.ts";
import type { LongTermMemory } from "../interface/memory.ts";
import { compileRoutes, isBarrier, type RoutesCode } from "../routing/routes.ts";
import type { Turn } from "../run/take-turns.ts";
import { END, type ChannelSpec, type Table } from "../table/table.ts";
import type { Json, JsonObject } from "../value/json.ts";
import { acceptType, acceptUpdate, type Accept } from "./accept.ts";
import type { BarrierParts, DirectBarrier } from "./direct-barriers.ts";
import type { DirectContext } from "./direct-context.ts";
import type { DirectField, FieldParts } from "./direct-fields.ts";
import type { ItemParts, ItemsCode } from "./direct-items.ts";
import type { Goals, JumpParts } from "./direct-jumps.ts";
import type { RecordParts } from "./direct-records.ts";
import type { DirectSecrets, SecretParts } from "./direct-secrets.ts";
import type { TimeoutParts } from "./direct-timeouts.ts";

/** The call of a node: `$s` are the values that its arguments read, `$f` the functions and `$e` the expressions of the table. */
export type DirectCall = (
  scope: Scope,
  functions: readonly (ExpressionFunction | undefined)[],
  expressions: readonly Evaluate[],
  context: DirectContext,
) => unknown;

/** The code of a graph in a generated module. */
export interface DirectModule {
  /** By node. */
  readonly calls: readonly DirectCall[];
  /** The outputs, and all channels, of a state. Absent for a graph with many channels, which has `records`. */
  readonly output?: (state: readonly Json[]) => JsonObject;
  readonly state?: (state: readonly Json[]) => JsonObject;
  readonly records?: RecordParts;
  /** The built-in nodes that the graph uses. Its calls name them. */
  readonly builtins?: Readonly<Record<string, BuiltinNode>>;
  /** The reducers that the graph uses, except `last`. */
  readonly reducers?: Readonly<Partial<Record<string, DirectReducer>>>;
  /** The code of results that several channels store, if a node has one. */
  readonly fields?: FieldParts;
  /** The code of barriers, if the graph has one. */
  readonly barriers?: BarrierParts;
  /** The code of `for` nodes, if the graph has one. */
  readonly items?: ItemParts;
  /** The code of jumps, if a node has them. */
  readonly jumps?: JumpParts;
  /** The code of timeouts, if a node has one. */
  readonly timeouts?: TimeoutParts;
  /** The code of secrets, if the graph may read some. */
  readonly secrets?: SecretParts;
}

export interface DirectNode {
  readonly index: number;
  readonly call: DirectCall;
  /** The channel that stores the result; `NO_CHANNEL`, or `FIELDS` for several. */
  readonly channel: number;
  readonly accept: Accept;
  readonly fields: readonly DirectField[];
  /** The channels without a reducer that it writes. */
  readonly exclusive: readonly number[];
  readonly routes: RoutesCode;
  /** Of `goes`. */
  readonly goals: Goals | undefined;
  /** What runs after the node if it ran alone, whatever the state is; `undefined` if that depends on the state or on barriers. */
  readonly next: readonly number[] | undefined;
  /** The nodes of a step that this node runs alone. */
  readonly alone: readonly number[];
  /** The node names of such a step. */
  readonly stepNames: readonly string[];
  readonly hasTimeout: boolean;
  /** Of a `for` node. */
  readonly items: ItemsCode | undefined;
}

export const NO_CHANNEL = -1;
export const FIELDS = -2;

export interface DirectReducer {
  readonly one: (current: Json, update: Json) => Json;
  /** Applies several updates in linear time. */
  readonly all?: (current: Json, updates: readonly Json[]) => Json;
}

export interface DirectGraph {
  readonly table: Table;
  readonly module: DirectModule;
  readonly nodes: readonly DirectNode[];
  /** By channel. */
  readonly reducers: readonly (DirectReducer | undefined)[];
  readonly inputs: ReadonlyMap<string, { readonly channel: number; readonly accept: Accept }>;
  /** Inputs without a start value. */
  readonly required: readonly string[];
  readonly initial: readonly Json[];
  readonly start: RoutesCode;
  /** The nodes of the first step, whatever the input is; `undefined` if they depend on it. */
  readonly first: readonly number[] | undefined;
  /** By node: the barrier that gates it, or -1. */
  readonly gates: readonly number[];
  readonly barriers: readonly DirectBarrier[];
  readonly functions: readonly (ExpressionFunction | undefined)[];
  readonly expressions: readonly Evaluate[];
  readonly clock: Clock;
  readonly turn: Turn;
  readonly memory: LongTermMemory;
  readonly secrets: DirectSecrets | undefined;
  /** Marks of nodes and channels; a new generation replaces clearing them. */
  readonly scratch: { readonly nodes: Float64Array; readonly channels: Float64Array; generation: number };
}

/** An error of an expression. The engine adds the text of the expression. */
export class Unlocated {
  readonly expression: number;
  readonly error: unknown;

  constructor(expression: number, error: unknown) {
    this.expression = expression;
    this.error = error;
  }
}

/** Whether a module has the code that its graph uses: the generator of another version may have written it. */
export function hasParts({ barriers, channels, nodes, secrets }: Table, module: DirectModule): boolean {
  const lacks = (use: unknown, part: unknown): boolean => use !== undefined && part === undefined;
  return !(
    (module.records ?? (module.output && module.state)) === undefined ||
    lacks(barriers[0], module.barriers) ||
    lacks(secrets[0], module.secrets) ||
    channels.some(({ reducer }) => lacks(reducer, reducerOf(reducer, module))) ||
    nodes.some(
      ({ each, goes, timeout, output }) =>
        lacks(each, module.items) ||
        lacks(goes, module.jumps) ||
        lacks(timeout, module.timeouts) ||
        lacks(output?.kind === "fields" || undefined, module.fields),
    )
  );
}

export function compileDirect(
  table: Table,
  module: DirectModule,
  code: {
    readonly functions: readonly (ExpressionFunction | undefined)[];
    readonly expressions: readonly GeneratedExpression[];
  } & Pick<DirectGraph, "clock" | "turn" | "memory" | "secrets">,
): DirectGraph {
  const { functions } = code;
  const types = new Map(table.types.map(({ name, type }) => [name, type]));
  const expressions = code.expressions.map((generated, at) => metered(generated, at, functions));
  const gates = table.nodes.map((node) => node.waits ?? -1);
  const updates = table.channels.map((channel) => acceptUpdate(channel, types));
  const isPlain = (target: number): boolean => target === END || (!isBarrier(target) && gates[target] === -1);
  const reducers = table.channels.map(({ reducer }) => reducerOf(reducer, module));
  const nodes = table.nodes.map((spec, index): DirectNode => {
    const { name, output, timeout, routes: specs } = spec;
    const fields = output?.kind === "fields" ? module.fields!.compile(table, output.fields, updates, types) : [];
    const channel = output === undefined ? NO_CHANNEL : output.kind === "channel" ? output.channel : FIELDS;
    const written = channel >= 0 ? [channel] : fields.map((field) => field.channel);
    const routes = compileRoutes(specs, expressions);
    const isFixed = routes.fixed?.every(isPlain) === true;
    return {
      index,
      call: module.calls[index]!,
      channel,
      accept: updates[channel] ?? refuse,
      fields,
      exclusive: written.filter((one) => table.channels[one]!.reducer === undefined),
      routes,
      goals: module.jumps?.goalsOf(table, spec),
      next: isFixed ? sortedNodes(routes.fixed!) : undefined,
      alone: [index],
      stepNames: Object.freeze([name]),
      hasTimeout: timeout !== undefined,
      items: module.items?.compile(spec, table.channels[channel], { expressions, types, reducer: reducers[channel] }),
    };
  });
  const start = compileRoutes(table.start, expressions);
  const inputs = table.channels.flatMap((channel, at) => (channel.role === "input" ? [{ ...channel, at }] : []));
  return {
    ...code,
    table,
    module,
    nodes,
    reducers,
    inputs: new Map(inputs.map(({ name, type, at }) => [name, { channel: at, accept: acceptType(type, types) }])),
    required: table.channels.flatMap(({ name, role, initial }) =>
      (role === "input" || role === "config") && initial === undefined ? [name] : [],
    ),
    initial: table.channels.map(({ initial = null }) => initial),
    start,
    first: (start.fixed ?? []).length > 0 && start.fixed!.every(isPlain) ? sortedNodes(start.fixed!) : undefined,
    gates,
    barriers: table.barriers.map((barrier) => module.barriers!.compile(barrier)),
    expressions,
    scratch: {
      nodes: new Float64Array(table.nodes.length),
      channels: new Float64Array(table.channels.length),
      generation: 0,
    },
  };
}

const refuse: Accept = () => undefined;

/** Nodes in declaration order, each once. */
export function sortedNodes(targets: readonly number[]): readonly number[] {
  return [...new Set(targets)].filter((target) => target !== END).sort((a, b) => a - b);
}

function metered(generated: GeneratedExpression, at: number, functions: DirectGraph["functions"]): Evaluate {
  return (scope) => {
    const outer = startWork();
    try {
      return generated(scope, functions);
    } catch (error) {
      throw new Unlocated(at, error);
    } finally {
      endWork(outer);
    }
  };
}

const LAST: DirectReducer = { one: (_current, update) => update };

function reducerOf(reducer: ChannelSpec["reducer"], { reducers }: DirectModule): DirectReducer | undefined {
  if (reducer === undefined) return undefined;
  return reducer.kind === "last" ? LAST : reducers?.[reducer.kind];
}
