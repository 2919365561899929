import type { Checkpoint } from "../interface/checkpoint.ts";
import type { Store } from "../interface/store.ts";
import type { Program } from "../program/program.ts";
import type { ChannelSpec, Table } from "../table/table.ts";
import { asStoreError } from "./journal.ts";

/** Channel -> its role and reducer: `state`, `memory reduce append`, `output reduce function newest`. */
export type ChannelShapes = Readonly<Record<string, string>>;

const known = new WeakMap<Program, ChannelShapes>();

/** The channels of a graph as a checkpoint records them, computed once for each program. */
export function channelShapes(program: Program): ChannelShapes {
  let shapes = known.get(program);
  if (shapes === undefined) {
    // A channel may be called `__proto__`.
    const record = Object.create(null) as Record<string, string>;
    for (const { name, spec } of program.channels) record[name] = shapeOf(program.table, spec);
    known.set(program, (shapes = Object.freeze(record)));
  }
  return shapes;
}

function shapeOf(table: Table, { role, reducer }: ChannelSpec): string {
  if (reducer === undefined) return role;
  const name = reducer.kind === "function" ? `function ${table.functions[reducer.function]!.name}` : reducer.kind;
  return `${role}${REDUCE}${name}`;
}

/** The reducer of a shape; `undefined` for a channel with one writer a step. */
export function reducerOf(shape: string): string | undefined {
  const at = shape.indexOf(REDUCE);
  return at === -1 ? undefined : shape.slice(at + REDUCE.length);
}

export function isMemory(shape: string): boolean {
  return shape === "memory" || shape.startsWith(`memory${REDUCE}`);
}

const REDUCE = " reduce ";

/**
 * The channels of the graph that wrote a checkpoint. They are recorded in the checkpoint or in an ancestor; the nearest
 * record counts. `undefined` if the history has no record. Only called if the graph has changed.
 */
export async function recordedShapes(store: Store, head: Checkpoint): Promise<ChannelShapes | undefined> {
  if (head.channels !== undefined) return head.channels;
  const { threadId, namespace, digest } = head;
  let before: string | undefined = head.id;
  while (before !== undefined) {
    const page: readonly Checkpoint[] = await asStoreError(() =>
      store.list(threadId, { before: before!, namespace, limit: 100 }),
    );
    for (const checkpoint of page) {
      if (checkpoint.channels !== undefined) return checkpoint.digest === digest ? checkpoint.channels : undefined;
    }
    before = page.at(-1)?.id;
  }
  return undefined;
}
