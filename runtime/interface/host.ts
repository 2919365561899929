/**
 * The port between the engine and the system that its runs live on. The engine decides what a run does next. The system executes the
 * bodies of nodes, stores steps, and has the time:
 *
 * | the engine needs | part |
 * |---|---|
 * | to execute a task | `execute` |
 * | to store a step, and the results and signals of a thread | `store` |
 * | the time, and to wait until a time | `clock` |
 * | random numbers | `random` |
 * | the request to cancel a run | `signal` of its options |
 *
 * Without these options the system is this process: bodies are called, and nothing outlives it. `ngraph/hosts/conformance` tests
 * what an engine promises on any system.
 */
import type { BuiltinContext } from "./context.ts";
import type { Engine, EngineOptions } from "./engine-options.ts";
import type { Table } from "../table/table.ts";
import type { Json } from "../value/json.ts";

/** The call of a node's body with evaluated arguments. */
export interface BodyCall {
  /** The graph that has the node: the graph of the engine, or one that it calls. */
  readonly graph: string;
  readonly node: string;
  /** Of an imported function by position, of a built-in node by name. */
  readonly args: readonly Json[] | Readonly<Record<string, Json>>;
  /** No other task runs at the same time. */
  readonly isAlone: boolean;
}

/**
 * Executes the body of a task: here by calling `local`, or elsewhere. The result, or what is thrown, becomes the result of the
 * attempt. Retries, timeouts, and the types of results are those of the engine.
 */
export type ExecuteBody = (call: BodyCall, context: BuiltinContext, local: () => unknown) => unknown;

/** A system that runs threads outside of this process. An engine with it is a client of that system. */
export interface EngineHost {
  connect(table: Table, options: EngineOptions): Engine;
}
