/** Random graphs. Each seed draws from a subset of the features, so that these features often occur together. */
import {
  STOP,
  type Habits,
  type HowToFail,
  type Model,
  type ModelBarrier,
  type ModelEdge,
  type ModelNode,
  type Written,
} from "./model.ts";
import { below, chance, pick, someOf, type Random } from "./random.ts";

/** The features of a seed's graphs. */
interface Palette {
  readonly barriers: boolean;
  readonly items: boolean;
  readonly jumps: boolean;
  readonly sends: boolean;
  readonly pauses: boolean;
  readonly asks: boolean;
  readonly failures: boolean;
  readonly timeouts: boolean;
  readonly breaks: boolean;
  readonly calls: boolean;
  readonly loops: boolean;
  readonly rareChannels: boolean;
}

export function randomModel(random: Random): Model {
  const has = (): boolean => chance(random, 0.6);
  const palette: Palette = {
    barriers: has(),
    items: has(),
    jumps: has(),
    sends: has(),
    pauses: has(),
    asks: has(),
    failures: has(),
    timeouts: chance(random, 0.3),
    breaks: chance(random, 0.3),
    calls: has(),
    loops: has(),
    rareChannels: chance(random, 0.4),
  };
  return modelOf(random, palette, "main", 0, true);
}

/** @param mayBreak no caller has an error edge, which would observe the number of failures */
function modelOf(random: Random, palette: Palette, name: string, depth: number, mayBreak: boolean): Model {
  const isChild = depth > 0;
  const count = 2 + below(random, isChild ? 3 : 5);
  const callsOne = palette.calls && depth < 2 && chance(random, isChild ? 0.2 : 0.6);
  const later = (from: number): number[] => Array.from({ length: count - from - 1 }, (_, i) => from + 1 + i);
  const target = (from: number): number => {
    const ahead = later(from);
    // A called graph has no loops, because the caller cannot raise its limit.
    if (!isChild && palette.loops && chance(random, 0.2)) return below(random, count);
    return ahead.length === 0 || chance(random, 0.1) ? STOP : pick(random, ahead);
  };
  const targets = (from: number): number[] => [
    ...new Set(Array.from({ length: 1 + below(random, 2) }, () => target(from))),
  ];
  const { barriers, joins } = palette.barriers
    ? randomBarriers(random, count, isChild)
    : { barriers: [], joins: Array.from({ length: count }, () => []) };

  const nodes = Array.from({ length: count }, (_, index): ModelNode => {
    const kind = below(random, 10);
    const isCall = kind === 0 && callsOne;
    const isFor = palette.items && (isCall ? chance(random, 0.3) : kind < 4);
    const hasErrorEdge = palette.failures && chance(random, 0.4);
    const hasTimeout = palette.timeouts && !isCall && chance(random, 0.5);
    const tries = (palette.failures || palette.timeouts) && chance(random, 0.4) ? 2 + below(random, 2) : 1;
    const allows = isFor && palette.failures && chance(random, 0.4);
    const goes =
      isCall || allows ? [] : [...new Set([...targets(index), ...(chance(random, 0.5) ? later(index) : [])])];
    return {
      name: `n${index}`,
      edges: randomEdges(random, () => targets(index)),
      joins: joins[index]!,
      onError: hasErrorEdge ? targets(index) : [],
      ...(hasErrorEdge && chance(random, 0.2) ? { onErrorWhen: { by: 2, rest: below(random, 2) } } : {}),
      ...(isFor ? { items: below(random, 4) } : {}),
      ...(isFor && chance(random, 0.3) ? { parallel: 1 + below(random, 2) } : {}),
      ...(allows ? { allows } : {}),
      ...(isCall ? { graph: 0 } : {}),
      tries,
      ...(hasTimeout ? { timeout: 50 + below(random, 200) } : {}),
      pauseBefore: palette.pauses && chance(random, isChild ? 0.05 : 0.1),
      pauseAfter: palette.pauses && chance(random, isChild ? 0.05 : 0.1),
      goes,
      writes: randomChannels(random, palette, { isFor, isCall, isChild }),
      does: randomHabits(random, palette, {
        index,
        goes,
        tries,
        isHandled: hasErrorEdge || allows,
        hasTimeout,
        isChild,
        mayBreak,
      }),
    };
  });
  const start = [0, ...someOf(random, count, 0.2).filter((node) => node !== 0)];
  const isHeard = nodes.some((node) => node.graph !== undefined && (node.onError.length > 0 || node.allows));
  const graphs = callsOne ? [modelOf(random, palette, `${name}_called`, depth + 1, mayBreak && !isHeard)] : [];
  return { name, nodes, start, barriers, graphs };
}

function randomBarriers(random: Random, count: number, isChild: boolean) {
  const barriers: ModelBarrier[] = [];
  const joins = Array.from({ length: count }, (): number[] => []);
  for (let i = 1 + below(random, 2); i > 0; i--) {
    const to = below(random, count);
    const members = Array.from({ length: 2 + below(random, 2) }, () => [
      ...new Set(Array.from({ length: chance(random, 0.25) ? 2 : 1 }, () => below(random, count))),
    ]).filter((nodes) => !isChild || nodes.every((node) => node < to));
    if (members.length < 2 || barriers.some((barrier) => barrier.target === to)) continue;
    const gates = chance(random, 0.3);
    if (!gates) for (const node of new Set(members.flat())) joins[node]!.push(barriers.length);
    // Drawn from the numbers, so that the other parts of a seed do not depend on it.
    const sum = members.flat().reduce((total, node) => total + node, to + i);
    const settles = !gates && sum % 3 === 0 && !members.flat().includes(to);
    barriers.push({ target: to, members: gates ? members.map((nodes) => nodes.slice(0, 1)) : members, gates, settles });
  }
  return { barriers, joins };
}

function randomChannels(
  random: Random,
  palette: Palette,
  { isFor, isCall, isChild }: { readonly isFor: boolean; readonly isCall: boolean; readonly isChild: boolean },
): Written[] {
  const rare = palette.rareChannels && !isFor && !isCall;
  return [
    "log",
    "counter",
    ...(isFor || isCall ? [] : ["last" as const]),
    ...(rare && chance(random, 0.25) ? ["solo" as const] : []),
    ...(rare && chance(random, 0.25) ? ["picky" as const] : []),
    ...(!isCall && !isChild && chance(random, 0.4) ? ["diary" as const] : []),
    ...(!isCall && !isChild && chance(random, 0.4) ? ["total" as const] : []),
  ];
}

function randomHabits(
  random: Random,
  palette: Palette,
  node: {
    readonly index: number;
    readonly goes: readonly number[];
    readonly tries: number;
    readonly isHandled: boolean;
    readonly hasTimeout: boolean;
    readonly isChild: boolean;
    readonly mayBreak: boolean;
  },
): Habits {
  const { index, goes, tries, isHandled, hasTimeout, isChild, mayBreak } = node;
  const ways: HowToFail[] = ["throws", "permanent", "misfit", ...(hasTimeout ? (["hangs", "hangs"] as const) : [])];
  // Rare, because a failure without an error edge ends the run.
  const fails = palette.failures && chance(random, isHandled ? 0.6 : isChild ? 0 : 0.04);
  return {
    jumps: palette.jumps && goes.length > 0 && chance(random, 0.4),
    sends: palette.sends && goes.some((to) => to > index) && chance(random, 0.4),
    asks: palette.asks && chance(random, 0.2) ? 1 + below(random, 2) : 0,
    ...(fails ? { fails: pick(random, ways) } : {}),
    stumbles: tries > 1 && chance(random, 0.5) ? 1 + below(random, tries - 1) : 0,
    stumblesBy: hasTimeout && chance(random, 0.6) ? "hangs" : "throws",
    breaks: palette.breaks && mayBreak && !isHandled && chance(random, 0.25) ? 1 + below(random, 2) : 0,
    waits: chance(random, 0.7),
  };
}

function randomEdges(random: Random, targets: () => readonly number[]): ModelEdge[] {
  switch (below(random, 4)) {
    case 0: {
      const by = 2 + below(random, 2);
      return [
        { kind: "when", by, rest: below(random, by), to: targets() },
        ...(chance(random, 0.3) ? [{ kind: "plain" as const, to: targets() }] : []),
        { kind: "otherwise", to: targets() },
      ];
    }
    case 1: {
      const by = 2 + below(random, 2);
      const arms = Array.from({ length: by - 1 }, targets);
      return [{ kind: "match", by, arms, otherwise: targets() }];
    }
    case 2:
      return chance(random, 0.3) ? [] : [{ kind: "plain", to: targets() }];
    default:
      return [{ kind: "plain", to: targets() }];
  }
}
