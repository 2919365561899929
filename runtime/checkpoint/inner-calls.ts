import type { CheckpointId } from "../interface/checkpoint.ts";

/** By the namespace of a called graph: the calls that it has made, and those below them. Linear in the calls and in their depth. */
export class InnerCalls {
  readonly #under = new Map<string, Record<string, CheckpointId>>();

  constructor(children: Readonly<Record<string, CheckpointId>> = {}) {
    for (const [namespace, id] of Object.entries(children)) this.add(namespace, id);
  }

  add(namespace: string, id: CheckpointId): void {
    for (let end = namespace.lastIndexOf("/"); end > 0; end = namespace.lastIndexOf("/", end - 1)) {
      const above = namespace.slice(0, end);
      let inner = this.#under.get(above);
      if (inner === undefined) this.#under.set(above, (inner = {}));
      inner[namespace] = id;
    }
  }

  of(namespace: string): Readonly<Record<string, CheckpointId>> | undefined {
    return this.#under.get(namespace);
  }
}
