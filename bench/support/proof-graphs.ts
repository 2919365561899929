/** Generates graphs of a given size with the shapes of real graphs, as text. */

const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

function graph(lines: readonly string[]): string {
  return `import { act, check } from "functions"\ngraph large {\nlimit steps none\n${lines.join("\n")}\n}\n`;
}

/** A part of a graph: its first node, its last node, and its statements. */
interface Part {
  readonly first: string;
  readonly last: string;
  readonly size: number;
  readonly lines: readonly string[];
}

const node = (name: string): string => `node ${name} = act()`;

function chainPart(name: string): Part {
  const names = range(5).map((i) => `${name}c${i}`);
  return {
    first: names[0]!,
    last: names[4]!,
    size: 5,
    lines: [...names.map(node), names.join(" -> ")],
  };
}

/** A fork into three branches of different length, and a barrier. */
function diamondPart(name: string): Part {
  const [fork, a, b, b2, c, join] = ["fork", "a", "b", "b2", "c", "join"].map((part) => name + part) as [
    string,
    string,
    string,
    string,
    string,
    string,
  ];
  return {
    first: fork,
    last: join,
    size: 6,
    lines: [
      ...[fork, a, b, b2, c, join].map(node),
      `${fork} -> ${a}, ${b}, ${c}`,
      `${b} -> ${b2}`,
      `all(${a}, ${b2}, ${c}) -> ${join}`,
    ],
  };
}

/** A classifier with three branches, one of them longer. */
function choicePart(name: string): Part {
  const of = (part: string): string => name + part;
  return {
    first: of("classify"),
    last: of("merge"),
    size: 6,
    lines: [
      `state ${of("kind")}: "low" | "middle" | "high"`,
      `node ${of("classify")} = check() into ${of("kind")}`,
      ...["low", "middle", "high", "review", "merge"].map((part) => node(of(part))),
      `${of("classify")} -> match ${of("kind")} { "low" -> ${of("low")}  "middle" -> ${of("middle")}  "high" -> ${of("high")} }`,
      `${of("high")} -> ${of("review")} -> ${of("merge")}`,
      `any(${of("low")}, ${of("middle")}) -> ${of("merge")}`,
    ],
  };
}

/** A loop that improves a draft until it is good, at most three times. */
function loopPart(name: string): Part {
  const of = (part: string): string => name + part;
  return {
    first: of("draft"),
    last: of("done"),
    size: 4,
    lines: [
      `state ${of("good")}: bool = false`,
      `state ${of("rounds")}: int = 0`,
      node(of("draft")),
      `node ${of("judge")} = check() into ${of("good")}`,
      `node ${of("count")} = ${of("rounds")} + 1 into ${of("rounds")}`,
      node(of("done")),
      `${of("draft")} -> ${of("judge")} -> ${of("count")}`,
      `${of("count")} -> ${of("draft")} when !${of("good")} && ${of("rounds")} < 3`,
      `${of("count")} -> ${of("done")} otherwise`,
    ],
  };
}

function inSequence(size: number, make: readonly ((name: string) => Part)[]): string {
  const parts: Part[] = [];
  for (let made = 0; made < size;) {
    const part = make[parts.length % make.length]!(`p${parts.length}`);
    parts.push(part);
    made += part.size;
  }
  const links = parts.map((part, index) => `${parts[index - 1]?.last ?? "start"} -> ${part.first}`);
  return graph([...parts.flatMap((part) => part.lines), ...links, `${parts.at(-1)?.last ?? "start"} -> end`]);
}

export const chains = (size: number): string => inSequence(size, [chainPart]);
export const diamonds = (size: number): string => inSequence(size, [diamondPart]);
export const choices = (size: number): string => inSequence(size, [choicePart]);
export const loops = (size: number): string => inSequence(size, [loopPart]);
export const mixture = (size: number): string => inSequence(size, [chainPart, diamondPart, choicePart, loopPart]);

/** Blocks of ten nodes: a choice, two parallel branches and a barrier each. */
export function soundWithBarriers(blocks: number): string {
  const names = range(blocks).map((i) => `b${i}`);
  return graph([
    ...names.flatMap((name) => [
      `state ${name}ok: bool = false`,
      `node ${name}check = check() into ${name}ok`,
      ...["fix", "fork", "left", "left2", "right", "right2", "right3", "join", "after"].map((part) =>
        node(name + part),
      ),
      `${name}check -> match ${name}ok { true -> ${name}fork  false -> ${name}fix }`,
      `${name}fix -> ${name}fork -> ${name}left, ${name}right`,
      `${name}left -> ${name}left2`,
      `${name}right -> ${name}right2 -> ${name}right3`,
      `all(${name}left2, ${name}right3) -> ${name}join`,
      `${name}join -> ${name}after`,
    ]),
    ...names.map((name, i) => `${i === 0 ? "start" : `b${i - 1}after`} -> ${name}check`),
    `b${blocks - 1}after -> end`,
  ]);
}

export function enumChoice(count: number): string {
  const values = range(count).map((i) => `"v${i}"`);
  return graph([
    `state kind: ${values.join(" | ")}`,
    "node sort = check() into kind",
    ...range(count).map((i) => node(`n${i}`)),
    "start -> sort",
    `sort -> match kind { ${values.map((value, i) => `${value} -> n${i}`).join("  ")} }`,
  ]);
}

/**
 * Three parallel branches whose choices take one or two steps. Their positions diverge, and the number of states grows to the cap.
 */
export function driftingBranches(length: number): string {
  const branches = ["x", "y", "z"];
  return graph([
    ...branches.flatMap((name) =>
      range(length).flatMap((i) => [
        `state ${name}ok${i}: bool = false`,
        `node ${name}${i} = check() into ${name}ok${i}`,
        node(`${name}detour${i}`),
        `${name}${i} -> match ${name}ok${i} { true -> ${name}${i + 1}  false -> ${name}detour${i} }`,
        `${name}detour${i} -> ${name}${i + 1}`,
      ]),
    ),
    ...branches.map((name) => node(`${name}${length}`)),
    node("join"),
    `start -> ${branches.map((name) => `${name}0`).join(", ")}`,
    `all(${branches.map((name) => `${name}${length}`).join(", ")}) -> join`,
    "join -> end",
  ]);
}

/** Nodes that jump to, or send tasks to, any of each other: one step has thousands of transitions. */
export function jumpingNodes(count: number): string {
  const names = range(count).map((i) => `n${i}`);
  return graph([
    ...names.map((name, i) => `node ${name} = act() { goes ${names.filter((_, other) => other !== i).join(", ")} }`),
    `start -> ${names.join(", ")}`,
    ...names.map((name) => `${name} -> end`),
  ]);
}

/** A node that jumps to workers, which end or (`reportBack`) return to it. */
export function supervisor(workers: number, reportBack: boolean): string {
  const names = range(workers).map((i) => `worker${i}`);
  return graph([
    "state log: string[] reduce append",
    `node boss = act() { goes ${names.join(", ")}${reportBack ? ", end" : ""} }`,
    ...names.map((name) => `node ${name} = act() into log`),
    "start -> boss",
    ...names.map((name) => `${name} -> ${reportBack ? "boss" : "end"}`),
  ]);
}

/** Repeatable pseudo-random numbers (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/**
 * A business process of about `size` nodes: sequences, choices, parallel branches and loops inside each other. One in three has
 * the mistakes of real models: a choice that is joined by a barrier, or parallel branches that meet without one.
 */
export function processModel(seed: number, size: number): string {
  const random = randomOf(seed);
  const lines: string[] = [];
  let count = 0;
  const isWrong = random() < 1 / 3;
  const fresh = (call: string): string => {
    const name = `t${count++}`;
    lines.push(`node ${name} = ${call}`);
    return name;
  };
  const flag = (): { name: string; node: string } => {
    const name = `f${count}`;
    lines.push(`state ${name}: bool = false`);
    return { name, node: fresh(`check() into ${name}`) };
  };
  const sequence = (budget: number): { first: string; last: string } => {
    const first = fresh("act()");
    let last = first;
    let left = budget - 1;
    while (left > 0) {
      const share = Math.max(1, Math.min(left, Math.floor(random() * left) + 1));
      const inner = block(share);
      lines.push(`${last} -> ${inner.first}`);
      last = inner.last;
      left -= share;
    }
    return { first, last };
  };
  const block = (budget: number): { first: string; last: string } => {
    if (budget < 4) return sequence(budget);
    const kind = random();
    if (kind < 0.25) return sequence(budget);
    const branches = range(2 + Math.floor(random() * 2)).map(() => sequence(Math.max(1, Math.floor(budget / 4))));
    if (kind < 0.35) {
      const { name, node: last } = flag();
      const body = branches[0]!;
      for (const other of branches.slice(1)) lines.push(`${body.last} -> ${other.first}`, `${other.last} -> ${last}`);
      const after = fresh("act()");
      lines.push(`${last} -> ${body.first} when ${name}`, `${last} -> ${after} otherwise`);
      return { first: body.first, last: after };
    }
    const join = fresh("act()");
    const swaps = isWrong && random() < 0.15;
    const barrier = `all(${branches.map(({ last }) => last).join(", ")}) -> ${join}`;
    const meet = branches.map(({ last }) => `${last} -> ${join}`).join("\n");
    if (kind < 0.7) {
      const split = fresh("act()");
      lines.push(`${split} -> ${branches.map(({ first }) => first).join(", ")}`, swaps ? meet : barrier);
      return { first: split, last: join };
    }
    const { name, node: split } = flag();
    const [taken, ...others] = branches;
    lines.push(
      `${split} -> ${taken!.first} when ${name}`,
      ...others.map(({ first }) => `${split} -> ${first} when !${name}`),
      swaps || others.length === 1
        ? swaps
          ? barrier
          : meet
        : `all(${others.map(({ last }) => last).join(", ")}) -> ${join}`,
      ...(swaps || others.length === 1 ? [] : [`${taken!.last} -> ${join}`]),
    );
    return { first: split, last: join };
  };
  const { first } = sequence(size);
  lines.push(`start -> ${first}`);
  return graph(lines);
}

// Graphs of up to 10,000 nodes that reach the limits of the search -------------------------------------

/** A node with independent conditions, and a chain behind each. */
export function independentConditions(count: number, size: number): string {
  const length = Math.floor(size / count);
  return graph([
    ...range(count).map((i) => `input wants${i}: bool = false`),
    node("decide"),
    "start -> decide",
    ...range(count).flatMap((i) => {
      const names = range(length).map((at) => `n${i}_${at}`);
      return [...names.map(node), `decide -> ${names[0]!} when wants${i}`, `${names.join(" -> ")} -> end`];
    }),
    "decide -> end otherwise",
  ]);
}

/** Parallel lanes with choices, and a barrier that waits for all lanes. */
export function parallelLanes(lanes: number, size: number): string {
  const length = Math.floor(size / lanes / 2);
  return graph([
    ...range(lanes).flatMap((lane) => [
      `state ok${lane}: bool = false`,
      ...range(length).flatMap((at) => [
        `node check${lane}_${at} = check() into ok${lane}`,
        node(`fix${lane}_${at}`),
        `check${lane}_${at} -> ${at + 1 < length ? `check${lane}_${at + 1}` : `last${lane}`} when ok${lane}`,
        `check${lane}_${at} -> fix${lane}_${at} otherwise`,
        `fix${lane}_${at} -> ${at + 1 < length ? `check${lane}_${at + 1}` : `last${lane}`}`,
      ]),
      node(`last${lane}`),
    ]),
    node("done"),
    `start -> ${range(lanes)
      .map((lane) => `check${lane}_0`)
      .join(", ")}`,
    `all(${range(lanes)
      .map((lane) => `last${lane}`)
      .join(", ")}) -> done`,
  ]);
}

/** Nodes that each jump to some of four nodes. */
export function manyJumps(size: number): string {
  const random = randomOf(1);
  return graph([
    ...range(size).map((i) => {
      const targets = new Set(range(4).map(() => `n${Math.floor(random() * size)}`));
      targets.delete(`n${i}`);
      return `node n${i} = act() { goes ${[...targets, "end"].join(", ")} }`;
    }),
    "start -> n0",
    ...range(size).map((i) => `n${i} -> ${i + 1 < size ? `n${i + 1}` : "end"}`),
  ]);
}

/** Nodes that each start one or two random later nodes. */
export function randomForks(size: number): string {
  const random = randomOf(2);
  return graph([
    ...range(size).map((i) => node(`n${i}`)),
    "start -> n0",
    ...range(size - 1).map((i) => {
      const later = new Set([i + 1, i + 1 + Math.floor(random() * (size - 1 - i))]);
      return `n${i} -> ${[...later].map((at) => `n${at}`).join(", ")}`;
    }),
  ]);
}

/** A node with conditions that compare one number with many bounds. */
export function manyBounds(count: number): string {
  return graph([
    "state x: int = 0",
    "node decide = check() into x",
    ...range(count).map((i) => node(`n${i}`)),
    "start -> decide",
    ...range(count).map((i) => `decide -> n${i} when x > ${i}`),
    "decide -> end otherwise",
  ]);
}

/** Blocks of four nodes in sequence, each with a `settled` statement. */
export function manySettled(count: number): string {
  return graph([
    ...range(count).flatMap((i) => [
      ...["fork", "a", "b", "join"].map((part) => node(part + i)),
      `fork${i} -> a${i}, b${i}`,
      `settled(a${i}, b${i}) -> join${i}`,
      `join${i} -> ${i + 1 < count ? `fork${i + 1}` : "end"}`,
    ]),
    "start -> fork0",
  ]);
}
