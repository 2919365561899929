/** Results of runs as JSON, between the processes of a host. `JSON.stringify` writes their errors with `toJSON`. */
import type { Checkpoint } from "../../runtime/interface/checkpoint.ts";
import type { LimitKind, RunResult } from "../../runtime/interface/engine-options.ts";
import { RunError, type ErrorJson, type NgraphError } from "../../runtime/interface/errors.ts";
import type { Table } from "../../runtime/table/table.ts";
import type { Json } from "../../runtime/value/json.ts";
import { setField } from "../../runtime/expression/operations.ts";
import { readError } from "./wire-error.ts";

type WireFinally = Omit<NonNullable<RunResult["finally"]>, "error"> & { readonly error: ErrorJson | null };

export type WireResult = Omit<RunResult, "error" | "finally"> & {
  readonly error: ErrorJson | null;
  readonly finally?: WireFinally;
};

export function wireResult(result: RunResult): WireResult {
  const { error, finally: part, ...others } = result;
  return {
    ...others,
    // A large state is a lazy property.
    state: result.state,
    error: error === null ? null : error.toJSON(),
    ...(part === undefined ? {} : { finally: { ...part, error: part.error === null ? null : part.error.toJSON() } }),
  };
}

export function readResult(wire: WireResult): RunResult {
  const { error, finally: part, ...others } = wire;
  return {
    ...others,
    error: readFailure(error),
    ...(part === undefined ? {} : { finally: { ...part, error: readFailure(part.error) } }),
  };
}

function readFailure(error: ErrorJson | null): RunResult["error"] {
  return error === null ? null : readError(error);
}

/** The result of a run that has stopped, from its last checkpoint: for a driver that starts again after the run has ended. */
export function storedResult(table: Table, head: Checkpoint, state: Readonly<Record<string, Json>>): RunResult {
  const output: Record<string, Json> = {};
  for (const { name, role } of table.channels) if (role === "output") setField(output, name, state[name] ?? null);
  const status = head.status === "running" ? "cancelled" : head.status;
  return {
    status,
    ...(status === "limit" ? { limit: limitOf(head) } : {}),
    ...(head.usage === undefined ? {} : { usage: head.usage }),
    output,
    state,
    steps: [],
    pauses: head.pauses,
    incompleteBarriers: [],
    error: failureOf(head),
    ...(head.outcome === undefined ? {} : { outcome: head.outcome }),
    thread: head.threadId,
    checkpointId: head.id,
  } as RunResult;
}

function limitOf({ failure }: Checkpoint): LimitKind {
  if (failure?.code === "NG_TOKEN_LIMIT") return "tokens";
  return failure?.code === "NG_COST_LIMIT" ? "cost" : "steps";
}

function failureOf({ failure, status, threadId }: Checkpoint): NgraphError | null {
  if (failure === undefined) {
    return status === "cancelled"
      ? new RunError("NG_CANCELLED", `the run of thread \`${threadId}\` was cancelled`)
      : null;
  }
  const { code, message, node, attempts } = failure;
  if (node === undefined) return readError({ name: "RunError", code, message });
  return readError({
    name: "NodeError",
    code,
    message,
    nodeId: node,
    threadId,
    ...(attempts === undefined ? {} : { attempts }),
  });
}
