/** What LangGraph programs see of their checkpointer, in a form that does not depend on ids and times. */
import type { StateSnapshot } from "@langchain/langgraph";

/**
 * Records values with each id replaced by its position of first occurrence. Two programs with the same behaviour have
 * equal transcripts, although their ids differ.
 */
export class Transcript {
  readonly #ids = new Map<string, string>();
  readonly lines: unknown[] = [];

  note(what: string, value: unknown): void {
    this.lines.push([what, this.#plain(value)]);
  }

  snapshot(what: string, { values, next, config, parentConfig, metadata, tasks }: StateSnapshot): void {
    const { source, step } = metadata ?? {};
    this.note(what, {
      values,
      next,
      at: placeOf(config),
      parent: parentConfig && placeOf(parentConfig),
      ...{ source, step },
      tasks: tasks.map(({ name, error, interrupts, state }) => ({
        name,
        failed: error !== undefined,
        interrupts: interrupts.map(({ value }) => value as unknown),
        state: isSnapshot(state) ? { values: state.values as unknown, next: state.next } : state && "configured",
      })),
    });
  }

  #plain(value: unknown): unknown {
    const text = JSON.stringify(value, (key, inner: unknown) => (key === "checkpoint_map" ? undefined : inner)) as
      string | undefined;
    if (text === undefined) return undefined;
    const named = text.replaceAll(
      /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\b[0-9a-f]{32}\b/g,
      (id) => {
        const known = this.#ids.get(id) ?? `#${this.#ids.size + 1}`;
        this.#ids.set(id, known);
        return known;
      },
    );
    return JSON.parse(named) as unknown;
  }
}

function placeOf({ configurable }: StateSnapshot["config"]) {
  const { thread_id: thread, checkpoint_ns: namespace, checkpoint_id: id } = configurable ?? {};
  return { thread, namespace, id } as unknown;
}

function isSnapshot(state: unknown): state is StateSnapshot {
  return typeof state === "object" && state !== null && "values" in state;
}
