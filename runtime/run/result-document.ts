import type { FinallyResult, RunResult } from "../interface/engine-options.ts";
import { NodeError, type NgraphError } from "../interface/errors.ts";

/**
 * The result of a run as JSON (interface.md, "`--json` documents"): of `ngc run --json` and of the HTTP service.
 *
 * @param more further fields of an error
 */
export function resultDocument(result: RunResult, more: (error: NgraphError) => object = () => ({})): object {
  const errorDocument = (error: NgraphError): object => ({
    code: error.code,
    message: error.message,
    ...(error instanceof NodeError ? { node: error.nodeId, attempts: error.attempts, items: error.items } : {}),
    ...more(error),
  });
  const finallyDocument = ({ status, error, steps }: FinallyResult): object => ({
    status,
    steps,
    error: error === null ? null : errorDocument(error),
  });
  return {
    version: 1,
    status: result.status,
    ...(result.limit === undefined ? {} : { limit: result.limit }),
    ...(result.usage === undefined ? {} : { usage: result.usage }),
    thread: result.thread,
    steps: result.steps,
    output: result.output,
    state: result.state,
    pauses: result.pauses,
    incompleteBarriers: result.incompleteBarriers,
    error: result.error === null ? null : errorDocument(result.error),
    ...(result.outcome === undefined ? {} : { outcome: result.outcome }),
    ...(result.finally === undefined ? {} : { finally: finallyDocument(result.finally) }),
    checkpoint: result.checkpointId,
    ...(result.rollback === undefined ? {} : { rollback: result.rollback }),
  };
}
