import type { Json } from "../value/json.ts";
import { setField } from "../expression/operations.ts";
import type { TaskIndex } from "../table/plan-table.ts";
import type { PlanProgram } from "./plan-program.ts";
import type { TaskCache } from "./task-cache.ts";

/**
 * Fingerprints of what tasks have made, for the cached tasks that depend on them. A task that has run again and has made the same as
 * before has the same fingerprint, so what depends on it need not run (early cut-off).
 */
export class ResultKeys {
  readonly #program: PlanProgram;
  readonly #cache: TaskCache | undefined;
  readonly #keys = new Map<TaskIndex, string>();

  /** `cache`: `undefined` if no task of the plan reads fingerprints. */
  constructor(program: PlanProgram, cache: TaskCache | undefined) {
    this.#program = program;
    this.#cache = cache;
  }

  /** Records a task that is done. The tasks before it have ended. */
  record(task: TaskIndex, updates: Json): void {
    const spec = this.#program.plan.tasks[task];
    if (this.#cache === undefined || spec === undefined) return;
    const written = spec.touches.filter(({ mode }) => mode === "write").map(({ path }) => path);
    // What a task without declared paths changes is unknown: what was before it counts for those behind it, too.
    const isWhole = written.length > 0 || spec.call.kind === "expression";
    this.#keys.set(task, this.#cache.fingerprint(written, [updates, isWhole ? null : this.upstream(task)]));
  }

  /** The fingerprints of the tasks that a task depends on, by name; the empty text for one that is not done. */
  upstream(task: TaskIndex): Record<string, string> {
    const { tasks } = this.#program.plan;
    const upstream: Record<string, string> = {};
    for (const before of tasks[task]?.after ?? []) {
      setField(upstream as Record<string, Json>, tasks[before]?.name ?? "", this.#keys.get(before) ?? "");
    }
    return upstream;
  }
}
