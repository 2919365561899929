/** Small random graphs as text, with what the oracle needs to run them. */

/** mulberry32: small, seeded, good enough to choose edges. */
export function randomSource(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

export type Value = string | number | boolean | null;

export interface RandomNode {
  readonly name: string;
  readonly writes?: {
    readonly channel: string;
    /** `any`: an imported function may return any value of the type. */
    readonly kind: "any" | "count" | "constant" | "copy";
    readonly value?: Value;
    /** Of a copy. */
    readonly from?: string;
  };
  readonly canFail: boolean;
  readonly goes: readonly string[];
}

/**
 * `free`: every choice is made by an imported function. `conditions`: choices compare values that the graph itself
 * writes, in terms that the proofs compute exactly. `beyond`: they also use terms that the proofs only approximate.
 */
export type Family = "free" | "conditions" | "beyond";

export interface RandomGraph {
  readonly family: Family;
  readonly text: string;
  readonly nodes: readonly RandomNode[];
  /** Channel -> every value of its type; numbers are counters and have none. */
  readonly domains: Readonly<Record<string, readonly Value[]>>;
  readonly initial: Readonly<Record<string, readonly Value[]>>;
  /** Beyond this a counter's value makes no difference. */
  readonly counterLimit: number;
  /** Names: before a b, once a, eventually a, never a with b. */
  readonly assertions: readonly {
    readonly form: "before" | "before each" | "once" | "eventually" | "never";
    readonly a: string;
    readonly b?: string;
  }[];
}

export function randomGraph(seed: number, family: Family): RandomGraph {
  const random = randomSource(seed);
  const settles = randomSource(seed ^ 0x5e771ed);
  const chance = (probability: number): boolean => random() < probability;
  const below = (count: number): number => Math.floor(random() * count);
  const pick = <T>(items: readonly T[]): T => items[below(items.length)]!;
  const names = ["a", "b", "c", "d", "e", "f", "g"].slice(0, 2 + below(6));
  const withData = family !== "free";
  const beyond = family === "beyond";
  // Some choices leave values out: then a run may have no route.
  const isLoose = withData && chance(0.3);
  const nullable = withData && chance(0.15);
  const lines: string[] = [
    "input flag: bool",
    nullable ? `state kind: "x" | "y" | "z"` : `state kind: "x" | "y" | "z" = "x"`,
    "state ready: bool = false",
    "state count: int = 0",
    ...(beyond ? [`state other: "x" | "y" | "z" = "x"`, "state level: 0 | 1 | 2 = 0"] : []),
  ];
  const nodes = names.map((name): RandomNode => {
    const roll = random();
    const writes: RandomNode["writes"] = !withData
      ? undefined
      : roll < 0.2
        ? { channel: "kind", kind: "any" }
        : roll < 0.35
          ? { channel: "ready", kind: "any" }
          : roll < 0.55
            ? { channel: "count", kind: "count" }
            : roll < 0.6
              ? { channel: "ready", kind: "constant", value: chance(0.5) }
              : roll < 0.65
                ? { channel: "kind", kind: "constant", value: pick(["x", "y"]) }
                : beyond && roll < 0.72
                  ? { channel: "other", kind: "any" }
                  : beyond && roll < 0.79
                    ? { channel: "other", kind: "copy", from: "kind" }
                    : beyond && roll < 0.86
                      ? { channel: "level", kind: "any" }
                      : undefined;
    const isFunction = writes === undefined || writes.kind === "any";
    const goes =
      isFunction && chance(0.05) ? [pick([...names, "end"])].filter((target) => target !== name || chance(0.3)) : [];
    return { name, ...(writes === undefined ? {} : { writes }), canFail: chance(0.12), goes };
  });
  // Without values, a choice calls a function with a channel that no other node reads.
  let freeChoices = 0;
  const freeChannels: string[] = [];
  const target = (from: number): string => {
    if (chance(0.12)) return "end";
    if (from >= 0 && chance(0.14)) return names[below(from + 1)]!;
    const later = names.slice(from + 1);
    return later.length === 0 ? "end" : pick(chance(0.6) ? later.slice(0, 2) : later);
  };
  const targets = (from: number, parallel = 0.25): string => {
    const found = new Set([target(from)]);
    if (chance(parallel)) found.add(target(from));
    if (chance(parallel * 0.4)) found.add(target(from));
    const list = [...found].filter((name) => name !== "end");
    return list.length === 0 ? "end" : list.join(", ");
  };
  const free = (): string => {
    const channel = `free${freeChoices++}`;
    freeChannels.push(channel);
    lines.push(`state ${channel}: bool = false`);
    return channel;
  };
  const edges: string[] = [];
  const freeWriters: { node: number; channel: string }[] = [];
  const routes = (from: number): string[] => {
    const name = from < 0 ? "start" : names[from]!;
    const roll = random();
    const to = (): string => targets(from);
    if (from >= 0 && roll < 0.1) return [];
    if (roll < 0.5 || (from < 0 && roll < 0.85)) return [`${name} -> ${targets(from, 0.4)}`];
    if (!withData || from < 0) {
      if (from < 0) return [`${name} -> match flag { true -> ${to()}  false -> ${to()} }`];
      // A node that already writes cannot write a separate free choice.
      if (nodes[from]!.writes !== undefined) return [`${name} -> ${to()}`];
      const channel = free();
      freeWriters.push({ node: from, channel });
      return [`${name} -> match ${channel} { true -> ${to()}  false -> ${to()} }`];
    }
    const fallback = (text: string): string => (isLoose && chance(0.4) ? "" : text);
    if (beyond && chance(0.5)) {
      const condition = pick([
        "count * 2 > 3",
        "count % 2 == 0",
        "kind == other",
        "count > level",
        "other != kind && ready",
      ]);
      return [`${name} -> ${to()} when ${condition}`, `${name} -> ${to()} otherwise`];
    }
    if (roll < 0.62)
      return [`${name} -> match kind { "x" -> ${to()}  "y" -> ${to()}${fallback(`  else -> ${to()}`)} }`];
    if (roll < 0.68) return [`${name} -> match kind { "x" | "z" -> ${to()}${fallback(`  else -> ${to()}`)} }`];
    if (roll < 0.76) return [`${name} -> match ready { true -> ${to()}${fallback(`  false -> ${to()}`)} }`];
    if (roll < 0.88) {
      const limit = 1 + below(3);
      const rest = pick(["otherwise", "otherwise", `when count ${isLoose && chance(0.4) ? ">" : ">="} ${limit}`]);
      return [`${name} -> ${to()} when count < ${limit}`, `${name} -> ${to()} ${rest}`];
    }
    if (roll < 0.94) {
      return [
        `${name} -> ${to()} when ready`,
        `${name} -> ${to()} when count >= 2 || flag`,
        ...(fallback("otherwise") === "" ? [] : [`${name} -> ${to()} otherwise`]),
      ];
    }
    return [
      `${name} -> match { count > 1 && ready -> ${to()}  kind == "x" -> ${to()}${fallback(`  else -> ${to()}`)} }`,
    ];
  };
  const gated = chance(0.12) && names.length > 3 ? 2 + below(names.length - 2) : -1;
  edges.push(...routes(-1));
  names.forEach((name, index) => {
    edges.push(...routes(index));
    if (nodes[index]!.canFail) edges.push(`${name} -> ${targets(index, 0.1)} on error`);
  });
  const barriers = chance(0.65) ? 1 + below(2) : 0;
  for (let index = 0; index < barriers && names.length > 2; index++) {
    const members = [...names].sort(() => random() - 0.5).slice(0, 2 + (chance(0.2) ? 1 : 0));
    const open = names.filter((_, position) => position !== gated);
    const later = open.filter((name) => !members.includes(name) && name > members.toSorted().at(-1)!);
    const to = later.length > 0 && chance(0.85) ? pick(later) : chance(0.3) ? "end" : pick(open);
    const shown = members.map((member) => {
      const other = pick(names);
      return chance(0.15) && !members.includes(other) ? `any(${member}, ${other})` : member;
    });
    const used: readonly string[] = shown.join().match(/[a-g]/g) ?? [];
    // Drawn apart, so that graphs without it stay as they are.
    const isSettled = !used.includes(to) && settles() < 0.35;
    const other = later.find((name) => name !== to);
    const also = isSettled && to !== "end" && other !== undefined && settles() < 0.3 ? `, ${other}` : "";
    const word = isSettled ? "settled" : "all";
    if (new Set(used).size === used.length) edges.push(`${word}(${shown.join(", ")}) -> ${to}${also}`);
  }
  const waits =
    gated === -1
      ? []
      : names
          .slice(0, gated)
          .sort(() => random() - 0.5)
          .slice(0, 2);
  if (waits.length === 2) {
    for (const member of waits) {
      if (!edges.some((edge) => edge.startsWith(`${member} ->`) && edge.includes(names[gated]!))) {
        edges.push(`${member} -> ${names[gated]!}`);
      }
    }
  }
  const finalNodes = nodes.map((node, index): RandomNode => {
    const writer = freeWriters.find((candidate) => candidate.node === index);
    return writer === undefined ? node : { ...node, writes: { channel: writer.channel, kind: "any" } };
  });
  const declared = finalNodes.map((node, index) => {
    const { writes } = node;
    const call =
      writes?.kind === "count"
        ? "count + 1"
        : writes?.kind === "constant"
          ? JSON.stringify(writes.value)
          : writes?.kind === "copy"
            ? writes.from
            : index % 5 === 4 && node.goes.length === 0 && writes === undefined
              ? "act(item) for item in [1, 2]"
              : "act()";
    const policies = [
      ...(index === gated && waits.length === 2 ? [`waits ${waits.join(", ")}`] : []),
      ...(node.goes.length > 0 ? [`goes ${node.goes.join(", ")}`] : []),
    ];
    const into = writes === undefined ? "" : ` into ${writes.channel}`;
    return `node ${node.name} = ${call}${into}${policies.length === 0 ? "" : ` { ${policies.join("  ")} }`}`;
  });
  const any = (): string => pick(names);
  const [a, b] = [any(), chance(0.2) ? "end" : any()];
  const assertions: RandomGraph["assertions"] = [
    { form: "before", a, b },
    { form: "once", a: any() },
    { form: "eventually", a: any() },
    { form: "never", a: any(), b: any() },
    ...(b === "end" ? [] : [{ form: "before each" as const, a, b }]),
  ];
  const booleans = [true, false];
  const domains: Record<string, readonly Value[]> = { flag: booleans, kind: ["x", "y", "z"], ready: booleans };
  if (beyond) Object.assign(domains, { other: ["x", "y", "z"], level: [0, 1, 2] });
  const initial: Record<string, readonly Value[]> = {
    flag: booleans,
    kind: [nullable ? null : "x"],
    ready: [false],
    count: [0],
    ...(beyond ? { other: ["x"], level: [0] } : {}),
  };
  for (const channel of freeChannels) {
    domains[channel] = booleans;
    initial[channel] = [false];
  }
  const asserted = assertions.map(({ form, a, b }) =>
    form === "before" || form === "before each"
      ? `assert ${a} ${form} ${b}`
      : form === "never"
        ? `assert never ${a} with ${b}`
        : `assert ${form} ${a}`,
  );
  const text = `import { act } from "functions"\ngraph random {\n${[...lines, ...declared, ...asserted, ...edges].map((line) => `  ${line}`).join("\n")}\n}\n`;
  return { family, text, nodes: finalNodes, domains, initial, counterLimit: 5, assertions };
}
