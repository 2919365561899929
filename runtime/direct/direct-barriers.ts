import type { BarrierSpec } from "../table/table.ts";

/** A barrier, prepared for signals. */
export interface DirectBarrier {
  readonly target: number;
  /** Of `waits`. */
  readonly gates: boolean;
  /** The members that a node fills; a node that is no member has none. */
  readonly fills: ReadonlyMap<number, readonly number[]>;
  readonly members: number;
  /** By node, a bit, if each member is one node and the members fit into one integer. */
  readonly bits: ReadonlyMap<number, number> | undefined;
  readonly all: number;
}

/** The signals of each barrier of a run. */
export interface DirectBarriers {
  readonly isClear: boolean;
  /** Records a signal. Returns whether it completes the barrier. */
  signal(barrier: number, node: number): boolean;
  /** The nodes that have signalled, ascending. */
  arrived(barrier: number): readonly number[];
  /** The barrier fires: its members are open again. */
  clear(barrier: number): void;
}

/** The code of barriers, which the module of a graph without them leaves out. */
export interface BarrierParts {
  compile(barrier: BarrierSpec): DirectBarrier;
  open(barriers: readonly DirectBarrier[]): DirectBarriers;
}

const MOST_BITS = 31;

function compileDirectBarrier({ kind, target, members }: BarrierSpec): DirectBarrier {
  const fills = new Map<number, number[]>();
  for (const [member, nodes] of members.entries()) {
    for (const node of nodes) {
      const known = fills.get(node);
      if (known === undefined) fills.set(node, [member]);
      else if (!known.includes(member)) known.push(member);
    }
  }
  const isSmall =
    members.length <= MOST_BITS && members.every((nodes) => nodes.length === 1) && fills.size === members.length;
  const bits = isSmall ? new Map(members.map(([node = -1], member) => [node, 1 << member])) : undefined;
  return {
    target,
    gates: kind === "waits",
    fills,
    members: members.length,
    bits,
    all: isSmall ? (2 ** members.length - 1) | 0 : 0,
  };
}

/** The signals of a barrier that has more members than an integer has bits, or members of several nodes. */
interface Progress {
  readonly arrived: Set<number>;
  readonly filled: Uint8Array;
  missing: number;
}

/** The signals of each barrier since it last fired (3.1). */
class Barriers implements DirectBarriers {
  readonly #barriers: readonly DirectBarrier[];
  readonly #masks: number[];
  #progress: Map<number, Progress> | undefined;
  /** The number of barriers with a signal. */
  #filled = 0;

  constructor(barriers: readonly DirectBarrier[]) {
    this.#barriers = barriers;
    this.#masks = barriers.map(() => 0);
  }

  get isClear(): boolean {
    return this.#filled === 0;
  }

  signal(barrier: number, node: number): boolean {
    const { bits, all, fills, members } = this.#barriers[barrier]!;
    if (bits !== undefined) {
      const bit = bits.get(node) ?? 0;
      const before = this.#masks[barrier]!;
      const after = before | bit;
      if (after === before) return false;
      if (before === 0) this.#filled++;
      this.#masks[barrier] = after;
      return after === all;
    }
    const filled = fills.get(node);
    if (filled === undefined) return false;
    this.#progress ??= new Map();
    let progress = this.#progress.get(barrier);
    if (progress === undefined) {
      progress = { arrived: new Set(), filled: new Uint8Array(members), missing: members };
      this.#progress.set(barrier, progress);
      this.#filled++;
    }
    if (progress.arrived.has(node)) return false;
    progress.arrived.add(node);
    const before = progress.missing;
    for (const member of filled) {
      if (progress.filled[member] === 1) continue;
      progress.filled[member] = 1;
      progress.missing--;
    }
    return before > 0 && progress.missing === 0;
  }

  arrived(barrier: number): readonly number[] {
    const { bits } = this.#barriers[barrier]!;
    const mask = this.#masks[barrier]!;
    const nodes =
      bits === undefined
        ? [...(this.#progress?.get(barrier)?.arrived ?? [])]
        : [...bits].flatMap(([node, bit]) => ((mask & bit) === 0 ? [] : [node]));
    return nodes.sort((a, b) => a - b);
  }

  clear(barrier: number): void {
    if (this.#barriers[barrier]!.bits === undefined) {
      if (this.#progress?.delete(barrier) === true) this.#filled--;
    } else if (this.#masks[barrier] !== 0) {
      this.#masks[barrier] = 0;
      this.#filled--;
    }
  }
}

export const barriers: BarrierParts = {
  compile: compileDirectBarrier,
  open: (of) => new Barriers(of),
};
