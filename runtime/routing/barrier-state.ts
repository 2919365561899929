import { setField } from "../expression/operations.ts";
import type { BarrierSpec, Table } from "../table/table.ts";
import type { Json } from "../value/json.ts";

/** Barrier id -> names of the nodes that have signalled. Barriers without a signal are absent. */
export type BarrierSignals = Readonly<Record<string, readonly string[]>>;

/** A barrier prepared for signals: its nodes are numbered, so that progress fits into an array of marks. */
export interface BarrierCode {
  readonly id: string;
  readonly gates: boolean;
  readonly target: number;
  readonly members: readonly (readonly number[])[];
  /** Every node that can signal, once, in ascending order. */
  readonly sources: readonly number[];
  /** Position of a node in `sources`. */
  readonly position: ReadonlyMap<number, number>;
  /** By position: the members that the node fills. */
  readonly fills: readonly (readonly number[])[];
  /** Marks without any signal. Copying it is the fastest way to create new marks. */
  readonly unmarked: readonly boolean[];
}

export function compileBarrier(spec: BarrierSpec): BarrierCode {
  const sources = [...new Set(spec.members.flat())].sort((a, b) => a - b);
  const position = new Map(sources.map((node, index) => [node, index]));
  const fills = sources.map((): number[] => []);
  spec.members.forEach((nodes, member) => {
    for (const node of nodes) fills[position.get(node)!]!.push(member);
  });
  return {
    id: spec.id,
    gates: spec.kind === "waits",
    target: spec.target,
    members: spec.members,
    sources,
    position,
    fills,
    unmarked: [...sources, ...spec.members].map(() => false),
  };
}

/** The progress of one barrier since it last fired. */
interface Progress {
  /** By position in `sources`: whether the node has signalled. Then by member: whether the member is filled. */
  readonly marks: boolean[];
  arrived: number;
  missing: number;
}

/**
 * The signals of each barrier since it last fired (3.1). Only barriers with a signal have an entry. A signal costs the
 * number of members that its node fills.
 */
export class BarrierState {
  readonly #barriers: readonly BarrierCode[];
  /** Created with the first signal: most runs need none. */
  #progress: Map<number, Progress> | undefined;

  constructor(barriers: readonly BarrierCode[]) {
    this.#barriers = barriers;
  }

  /** No barrier has a signal. */
  get isClear(): boolean {
    return this.#progress === undefined;
  }

  /** Records a signal. Returns whether it completes the barrier. Signals of nodes that are not members are ignored. */
  signal(barrier: number, node: number): boolean {
    const code = this.#barriers[barrier]!;
    const position = code.position.get(node);
    if (position === undefined) return false;
    this.#progress ??= new Map();
    let progress = this.#progress.get(barrier);
    if (progress === undefined) {
      progress = newProgress(code);
      this.#progress.set(barrier, progress);
    }
    const { marks } = progress;
    if (marks[position]!) return false;
    marks[position] = true;
    progress.arrived++;
    const { missing } = progress;
    for (const member of code.fills[position]!) {
      const mark = code.sources.length + member;
      if (marks[mark]!) continue;
      marks[mark] = true;
      progress.missing--;
    }
    return missing > 0 && progress.missing === 0;
  }

  /** Nodes that have signalled, ascending. */
  arrived(barrier: number): number[] {
    const code = this.#barriers[barrier]!;
    const progress = this.#progress?.get(barrier);
    if (progress === undefined) return [];
    return code.sources.filter((_, position) => progress.marks[position]);
  }

  /** Nodes of the members that are not filled. */
  missing(barrier: number): number[] {
    const code = this.#barriers[barrier]!;
    const marks = this.#progress?.get(barrier)?.marks;
    return code.members.flatMap((nodes, member) => (marks?.[code.sources.length + member] === true ? [] : nodes));
  }

  /** Called when the barrier fires: all its members are open again. */
  clear(barrier: number): void {
    this.#progress?.delete(barrier);
    if (this.#progress?.size === 0) this.#progress = undefined;
  }

  /** Barriers with some signals, ascending. */
  partlyFilled(): readonly number[] {
    if (this.#progress === undefined) return NONE;
    const found: number[] = [];
    for (const [barrier, { arrived }] of this.#progress) if (arrived > 0) found.push(barrier);
    return found.sort((a, b) => a - b);
  }
}

/** The state of the barriers by name, as checkpoints store it. Node names are sorted. */
export function signalsOf(table: Table, barriers: BarrierState): BarrierSignals {
  const signals: Record<string, Json> = {};
  for (const barrier of barriers.partlyFilled()) {
    const arrived = barriers.arrived(barrier).map((node) => table.nodes[node]!.name);
    setField(signals, table.barriers[barrier]!.id, arrived.sort());
  }
  return signals as BarrierSignals;
}

const NONE: readonly number[] = Object.freeze([]);

function newProgress(code: BarrierCode): Progress {
  return {
    marks: code.unmarked.slice(),
    arrived: 0,
    missing: code.members.length,
  };
}
