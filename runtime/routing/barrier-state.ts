import { setField } from "../expression/operations.ts";
import { barrierTargets, END, type BarrierSpec, type Table } from "../table/table.ts";
import type { Json } from "../value/json.ts";

/** Barrier id -> names of the nodes that have signalled. Barriers without a signal are absent. */
export type BarrierSignals = Readonly<Record<string, readonly string[]>>;

/** A barrier prepared for signals: its nodes are numbered, so that progress fits into an array of marks. */
export interface BarrierCode {
  readonly id: string;
  readonly gates: boolean;
  readonly target: number;
  /** `target` first; only `settled` can have more. */
  readonly targets: readonly number[];
  readonly members: readonly (readonly number[])[];
  /** Set for `settled`. */
  readonly reach: ReachCode | undefined;
  /** Every node that can signal, once, in ascending order. */
  readonly sources: readonly number[];
  /** Position of a node in `sources`. */
  readonly position: ReadonlyMap<number, number>;
  /** By position: the members that the node fills. */
  readonly fills: readonly (readonly number[])[];
  /** Marks without any signal. Copying it is the fastest way to create new marks. */
  readonly unmarked: readonly boolean[];
}

/** Bit sets of the members of a `settled`. */
interface ReachCode {
  /** The number of 32-bit words of a set. */
  readonly words: number;
  /** By node: the members that a signal can reach from it. The set of node n begins at `n * words`. */
  readonly bits: Int32Array;
  /** All members. */
  readonly all: Int32Array;
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
    targets: barrierTargets(spec),
    members: spec.members,
    reach: spec.reach === undefined ? undefined : compileReach(spec.reach),
    sources,
    position,
    fills,
    unmarked: [...sources, ...spec.members].map(() => false),
  };
}

function compileReach(members: readonly (readonly number[])[]): ReachCode {
  const words = (members.length + 31) >> 5;
  const last = Math.max(-1, ...members.map((ranges) => ranges.at(-1) ?? -1));
  const bits = new Int32Array((last + 1) * words);
  const all = new Int32Array(words);
  for (const [member, ranges] of members.entries()) {
    const bit = 1 << (member & 31);
    all[member >> 5]! |= bit;
    for (let at = 0; at < ranges.length; at += 2) {
      for (let node = ranges[at]!; node <= ranges[at + 1]!; node++) bits[node * words + (member >> 5)]! |= bit;
    }
  }
  return { words, bits, all };
}

/**
 * By node: the `settled` barriers that a signal can reach from it, ascending. `undefined` if the table has none, so that
 * other graphs pay nothing.
 */
export function compileSettled(
  barriers: readonly BarrierCode[],
  nodes: number,
): readonly (readonly number[])[] | undefined {
  if (barriers.every(({ reach }) => reach === undefined)) return undefined;
  const found = Array.from({ length: nodes }, (): number[] => []);
  for (const [barrier, { reach }] of barriers.entries()) {
    if (reach === undefined) continue;
    const { words, bits } = reach;
    for (let node = 0; node * words < bits.length; node++) {
      if (bits.subarray(node * words, (node + 1) * words).some((word) => word !== 0)) found[node]!.push(barrier);
    }
  }
  return found;
}

/** The progress of one barrier since it last fired. */
interface Progress {
  /** By position in `sources`: whether the node has signalled. Then by member: whether the member is filled. */
  readonly marks: boolean[];
  arrived: number;
  missing: number;
  /** Of `settled`: the set of the members that are not filled. */
  readonly open: Int32Array | undefined;
}

/**
 * The signals of each barrier since it last fired (3.1). Only barriers with a signal have an entry. A signal costs the
 * number of members that its node fills.
 */
export class BarrierState {
  readonly #barriers: readonly BarrierCode[];
  /** Created with the first signal: most runs need none. */
  #progress: Map<number, Progress> | undefined;
  /** `settled` barriers that the next plan looks at whatever ran: their members have changed, or they were restored. */
  #changed: Set<number> | undefined;

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
      if (progress.open !== undefined) progress.open[member >> 5]! &= ~(1 << (member & 31));
    }
    if (code.reach !== undefined) {
      (this.#changed ??= new Set()).add(barrier);
      return false;
    }
    return missing > 0 && progress.missing === 0;
  }

  /**
   * The `settled` barriers with a signal whose reach the step has changed, ascending: they got a signal, or a node that
   * ran can lead to one. They count as looked at until the next change.
   *
   * @param settled by node: the barriers that it can reach
   */
  takeChanged(settled: readonly (readonly number[])[], ran: readonly { readonly node: number }[]): readonly number[] {
    if (this.#progress === undefined) return NONE;
    const changed = this.#changed ?? new Set<number>();
    this.#changed = undefined;
    for (const { node } of ran) {
      const reached = settled[node]!;
      const candidates = reached.length <= this.#progress.size ? reached : this.#progress.keys();
      for (const barrier of candidates) if (this.canReach(barrier, node)) changed.add(barrier);
    }
    return [...changed].filter((barrier) => this.#progress!.has(barrier)).sort((a, b) => a - b);
  }

  /** Makes the next plan look at these barriers again. */
  putBackChanged(barriers: readonly number[]): void {
    for (const barrier of barriers) (this.#changed ??= new Set()).add(barrier);
  }

  /** Whether a signal can come from a node to a member of a `settled` barrier that is not filled. */
  canReach(barrier: number, node: number): boolean {
    const { reach } = this.#barriers[barrier]!;
    const open = this.#progress?.get(barrier)?.open;
    if (reach === undefined || open === undefined) return false;
    const { words, bits } = reach;
    for (let word = 0; word < words; word++) if ((bits[node * words + word]! & open[word]!) !== 0) return true;
    return false;
  }

  /** Whether another barrier with a signal can lead to a member of a `settled` barrier that is not filled. */
  isHeldByOther(barrier: number): boolean {
    for (const other of this.#progress?.keys() ?? []) {
      if (other === barrier) continue;
      for (const target of this.#barriers[other]!.targets) {
        if (target !== END && this.canReach(barrier, target)) return true;
      }
    }
    return false;
  }

  /** The `settled` barriers with a signal, ascending. */
  settledWithSignal(): readonly number[] {
    return this.partlyFilled().filter((barrier) => this.#barriers[barrier]!.reach !== undefined);
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

  /** Called when the run rolls back: signals have no effect any more. */
  clearAll(): void {
    this.#progress = undefined;
    this.#changed = undefined;
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
    open: code.reach?.all.slice(),
  };
}
