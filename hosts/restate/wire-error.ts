/** Errors of the runtime as JSON, between the processes of a host. */
import {
  NgraphError,
  NodeError,
  RunError,
  StoreError,
  TableError,
  type ErrorJson,
  type NodeErrorCode,
  type RunErrorCode,
  type StoreErrorCode,
  type TableErrorCode,
  type ThreadErrorCode,
} from "../../runtime/interface/errors.ts";
import { ThreadError } from "../../runtime/interface/thread-error.ts";

/** What a handler returns: a value, or an error of the runtime. Errors of other kinds make Restate repeat the call. */
export type Answer<T> = { readonly value: T } | { readonly error: ErrorJson };

/** Calls `work`, and returns an error of the runtime as data. */
export async function answer<T>(work: () => Promise<T>): Promise<Answer<T>> {
  try {
    return { value: await work() };
  } catch (error) {
    if (error instanceof NgraphError) return { error: error.toJSON() };
    throw error;
  }
}

/** The value of an answer. @throws NgraphError the error of the answer, with its class and its code */
export function readAnswer<T>(given: Answer<T>): T {
  if ("error" in given) throw readError(given.error);
  return given.value;
}

export function readError(json: ErrorJson): NgraphError {
  const { code, message, nodeId = "", nodeIds = [], attempts = 1, items = [], threadId, details = [] } = json;
  const cause = json.cause === undefined ? {} : { cause: json.cause };
  switch (json.name) {
    case "NodeError":
      return new NodeError(code as NodeErrorCode, nodeId, message, { attempts, items, threadId, ...cause });
    case "ThreadError":
      return new ThreadError(code as ThreadErrorCode, threadId ?? "", message, { details, ...cause });
    case "StoreError":
      return new StoreError(code as StoreErrorCode, message, cause);
    case "TableError":
      return new TableError(code as TableErrorCode, message, cause);
    default:
      return new RunError(code as RunErrorCode, message, { nodeIds, ...cause });
  }
}
