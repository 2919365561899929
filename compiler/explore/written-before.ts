import { type ControlModel, END_TARGET, type Routing } from "./model.ts";

/**
 * By node: which of the wanted channels have certainly been written once its own step is over, on every way from
 * `start`. A channel that starts as `null` is not null any more where it is among them.
 */
export function channelsWrittenAfter(model: ControlModel, wanted: ReadonlySet<number>): readonly ReadonlySet<number>[] {
  const count = model.nodes.length;
  const own = model.data.writes.map(
    (writes) => new Set(writes.filter((w) => !w.optional && wanted.has(w.channel)).map((w) => w.channel)),
  );
  const arrivals = arrivalsOf(model);
  // `undefined` is "everything": the greatest solution, from which sets only shrink.
  const before: (ReadonlySet<number> | undefined)[] = model.nodes.map(() => undefined);
  const after = (node: number): ReadonlySet<number> | undefined => {
    const known = before[node];
    if (known === undefined) return undefined;
    const added = own[node] ?? NONE;
    return added.size === 0 ? known : new Set([...known, ...added]);
  };
  const pending = new Set<number>();
  for (let node = 0; node < count; node++) if (arrivals[node]?.fromStart === true) pending.add(node);
  for (const node of pending) {
    pending.delete(node);
    const next = writtenBefore(arrivals[node]!, (from) => after(from), before);
    const known = before[node];
    if (next === undefined || (known !== undefined && known.size === next.size)) continue;
    before[node] = next;
    for (const successor of arrivals[node]?.leadsTo ?? []) pending.add(successor);
  }
  return model.nodes.map((node) => after(node.index) ?? NONE);
}

const NONE: ReadonlySet<number> = new Set();

interface Arrivals {
  fromStart: boolean;
  readonly direct: Set<number>;
  /** Nodes whose failure leads here: what they write does not count. */
  readonly failed: Set<number>;
  /** By barrier and member: who fills it. */
  readonly barriers: (readonly (readonly number[])[])[];
  readonly leadsTo: Set<number>;
}

function arrivalsOf(model: ControlModel): Arrivals[] {
  const arrivals = model.nodes.map((): Arrivals => ({
    fromStart: false,
    direct: new Set(),
    failed: new Set(),
    barriers: [],
    leadsTo: new Set(),
  }));
  const visit = (routing: Routing | undefined, from: number | undefined, kind: "direct" | "failed"): void => {
    for (const group of routing?.groups ?? []) {
      const branches =
        group.kind === "always"
          ? [group]
          : group.kind === "several" && group.otherwise !== undefined
            ? [...group.branches, group.otherwise]
            : group.branches;
      for (const { signals } of branches) {
        for (const { place } of signals) {
          const target = place === undefined ? undefined : arrivals[place];
          if (target === undefined) continue;
          if (from === undefined) target.fromStart = true;
          else {
            target[kind].add(from);
            arrivals[from]?.leadsTo.add(place!);
          }
        }
      }
    }
  };
  visit(model.start, undefined, "direct");
  for (const node of model.nodes) {
    visit(node.routing, node.index, "direct");
    visit(node.errorRouting, node.index, "failed");
    for (const jump of node.jumps ?? []) {
      arrivals[jump]?.direct.add(node.index);
      if (jump >= 0) arrivals[node.index]?.leadsTo.add(jump);
    }
  }
  for (const barrier of model.barriers) {
    if (barrier.target === END_TARGET) continue;
    arrivals[barrier.target]?.barriers.push(barrier.members.map((member) => member.nodes));
    for (const member of barrier.members) for (const node of member.nodes) arrivals[node]?.leadsTo.add(barrier.target);
  }
  return arrivals;
}

function writtenBefore(
  arrivals: Arrivals,
  after: (node: number) => ReadonlySet<number> | undefined,
  before: readonly (ReadonlySet<number> | undefined)[],
): ReadonlySet<number> | undefined {
  let result: ReadonlySet<number> | undefined = arrivals.fromStart ? NONE : undefined;
  const meet = (set: ReadonlySet<number> | undefined): void => {
    if (set === undefined) return;
    result = result === undefined ? set : new Set([...result].filter((channel) => set.has(channel)));
  };
  for (const node of arrivals.direct) meet(after(node));
  for (const node of arrivals.failed) meet(before[node]);
  for (const members of arrivals.barriers) {
    const all = new Set<number>();
    let known = false;
    for (const nodes of members) {
      const any = nodes.map(after).filter((set) => set !== undefined);
      if (any.length === 0) continue;
      known = true;
      for (const channel of any[0]!) if (any.every((set) => set.has(channel))) all.add(channel);
    }
    if (known) meet(all);
  }
  return result;
}
