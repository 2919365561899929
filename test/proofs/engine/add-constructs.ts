/**
 * Adds constructs to the text of a random graph: nodes that wait, deadlines, writes with `set`, optional fields of results, `merge` by
 * id, indexes and conditions of `for`, and derived names. The graph keeps its edges, except for the error edges of deadlines.
 */
import type { Random } from "./random.ts";

/** A node statement in its parts. */
interface NodeLine {
  readonly name: string;
  call: string;
  each?: string;
  into?: string;
  policies: string[];
}

/** Channels that added constructs read. The basic graph declares only those that it uses. */
const DECLARATIONS = [
  ["flag", "  state flag: bool = false"],
  ["count", "  state count: int = 0"],
] as const;

/** Policies of functions that a node which waits cannot have. */
const OF_FUNCTIONS = /^(tries|timeout|cache|idempotent|max parallel|goes)/;

export function addConstructs(text: string, random: Random): string {
  const lines = text.split("\n");
  const draft = new Enriched(lines, random);
  if (random.chance(0.2)) draft.receive();
  if (random.chance(0.1)) draft.sleep();
  if (random.chance(0.6)) draft.deadlines();
  if (random.chance(0.3)) draft.optionalFields();
  if (random.chance(0.15)) draft.itemsById();
  if (random.chance(0.35)) draft.set();
  if (random.chance(0.6)) draft.items();
  if (random.chance(0.2)) draft.derive();
  if (random.chance(0.35)) draft.settle();
  if (random.chance(0.2)) draft.growingList();
  if (random.chance(0.6)) draft.bounds();
  if (random.chance(0.08)) draft.lastItem();
  return draft.text();
}

class Enriched {
  readonly #random: Random;
  readonly #lines: string[];
  /** By the index of its line. */
  readonly #nodes = new Map<number, NodeLine>();
  readonly #changed = new Set<NodeLine>();
  readonly #added: string[] = [];
  readonly #reduced: readonly string[];

  constructor(lines: string[], random: Random) {
    this.#random = random;
    this.#lines = lines;
    lines.forEach((line, index) => {
      const node = parseNode(line);
      if (node !== undefined) this.#nodes.set(index, node);
    });
    this.#reduced = lines.flatMap((line) => /^ {2}(?:state|output|memory) (\w+):.* reduce \w+$/.exec(line)?.[1] ?? []);
  }

  text(): string {
    const lines = this.#lines.map((line, index) => {
      const node = this.#nodes.get(index);
      return node !== undefined && this.#changed.has(node) ? printNode(node) : line;
    });
    const at = lines.indexOf("graph g {") + 1;
    const all = [...lines, ...this.#added].join("\n");
    for (const [name, declaration] of DECLARATIONS) {
      const isMissing = new RegExp(`\\b${name}\\b`).test(all) && !new RegExp(`^ {2}\\w+ ${name}:`, "m").test(all);
      if (isMissing) this.#added.push(declaration);
    }
    const added = this.#added.filter((line) => !line.startsWith("  n"));
    const edges = this.#added.filter((line) => line.startsWith("  n"));
    return lines
      .toSpliced(at, 0, ...added)
      .join("\n")
      .replace(/\}\n$/, `${edges.map((edge) => `${edge}\n`).join("")}}\n`);
  }

  /** Some of the nodes that `fits` accepts. */
  #some(most: number, fits: (node: NodeLine) => boolean): NodeLine[] {
    const found = this.#random.shuffle([...this.#nodes.values()].filter(fits)).slice(0, 1 + this.#random.below(most));
    for (const node of found) this.#changed.add(node);
    return found;
  }

  receive(): void {
    const random = this.#random;
    for (const node of this.#some(2, isPlainCode)) {
      node.call = `receive("${random.pick(["s", "s", "t"])}")`;
      node.policies = node.policies.filter((policy) => !OF_FUNCTIONS.test(policy));
    }
    const inner = this.#lines.findIndex((line) => line.startsWith('  node one = act("one"'));
    if (inner !== -1 && random.chance(0.4))
      this.#lines[inner] = this.#lines[inner]!.replace(/act\([^)]*\)/, 'receive("s")');
  }

  /** Turns barriers into `settled`, except in front of nodes with `waits` and of their own members. */
  settle(): void {
    const gated = new Set(
      [...this.#nodes.values()].flatMap(({ name, policies }) =>
        policies.some((policy) => policy.startsWith("waits")) ? [name] : [],
      ),
    );
    this.#lines.forEach((line, index) => {
      const [, members = "", targets = ""] = /^ {2}all\((.*)\) -> ([\w, ]+)/.exec(line) ?? [];
      const leads = targets.split(", ");
      const isPossible = leads.every((target) => !gated.has(target) && !new RegExp(`\\b${target}\\b`).test(members));
      if (members === "" || !isPossible || !this.#random.chance(0.7)) return;
      const other = this.#random.pick([...this.#nodes.values()]).name;
      const isWider =
        leads.length === 1 && !line.includes("-> end") && line.split("->").length === 2 && this.#random.chance(0.2);
      const isFree = !gated.has(other) && !new RegExp(`\\b${other}\\b`).test(line);
      this.#lines[index] = `${line.replace("all(", "settled(")}${isWider && isFree ? `, ${other}` : ""}`;
    });
  }

  sleep(): void {
    for (const node of this.#some(2, (each) => isPlainCode(each) && each.into === undefined)) {
      node.call = "sleep(2h)";
      node.policies = node.policies.filter((policy) => !OF_FUNCTIONS.test(policy));
    }
  }

  deadlines(): void {
    const random = this.#random;
    for (const node of this.#some(3, ({ call }) => /^(ask|receive)\(/.test(call))) {
      node.policies.push("within 1h");
      const edge = this.#lines.find((line) => line.startsWith(`  ${node.name} -> `));
      const target = edge === undefined ? undefined : /-> (\w+)$/.exec(edge)?.[1];
      const isHandled = this.#lines.some((line) => line.startsWith(`  ${node.name} -> `) && line.includes(" on error"));
      if (target !== undefined && !isHandled && random.chance(0.6)) {
        this.#added.push(`  ${node.name} -> ${target} on error`);
      }
    }
  }

  optionalFields(): void {
    const random = this.#random;
    for (const node of this.#some(2, (each) => isPlainCode(each) && each.into !== undefined)) {
      const { into = "" } = node;
      node.into = into.startsWith("{")
        ? into.replace(/(\w+)(: \w+)?/, "$1?$2")
        : random.chance(0.5)
          ? `{ ${into}? }`
          : `{ value?: ${into} }`;
    }
  }

  /** A list of records that `merge` combines by their ids, and a condition on it. */
  itemsById(): void {
    const random = this.#random;
    const start = random.chance(0.5) ? ` = [{ id: "k", n: 0 }]` : "";
    this.#added.push(`  state rows: { id?: string, n: int }[]${start} reduce merge`);
    for (const node of this.#some(2, (each) => isCode(each) && each.into === undefined)) {
      node.into = "rows";
      if (node.each === undefined && isPlainCode(node) && random.chance(0.4)) {
        node.call = random.pick([
          `[{ id: "k", n: 1 }]`,
          `[{ id: "k", removed: true }]`,
          `[{ n: 2 }, { id: "j", n: 3 }]`,
        ]);
        node.policies = node.policies.filter((policy) => !OF_FUNCTIONS.test(policy));
      }
    }
    const condition = random.pick([
      "len(rows) > 0",
      "len(rows) > 1",
      "first(rows) != null",
      "rows[0]?.n == 1",
      "len([r for r in rows if r.n > 0]) > 0",
    ]);
    this.#condition(condition);
  }

  /** A list to which expressions append, and conditions on its length and its last item. */
  growingList(): void {
    const random = this.#random;
    const start = random.chance(0.3) ? " = [1]" : "";
    this.#added.push(`  state grown: int[]${start} reduce append`);
    for (const node of this.#some(3, (each) => isPlainCode(each) && each.into === undefined)) {
      node.into = "grown";
      node.call = random.pick(["1", "2", "[1, 2]", "[2, 1]", "count", "len(grown)"]);
      node.policies = node.policies.filter((policy) => !OF_FUNCTIONS.test(policy));
    }
    for (let round = 0; round < 2; round++) {
      this.#condition(
        random.pick([
          "len(grown) < 2",
          "len(grown) < 3",
          "len(grown) == 1",
          "len(grown) > 1",
          "last(grown) == 1",
          "last(grown) == null",
          "(last(grown) ?? 0) > 1",
          "len(grown) > 1 && last(grown) == 2",
        ]),
      );
    }
  }

  /** Conditions compare a counter with an input, with a state that no node writes, or with the length of a list. */
  bounds(): void {
    const random = this.#random;
    const bound = random.pick(["most", "most", "least", "len(given_list)"]);
    let isUsed = false;
    // A counter that other nodes write, too, has no bound. Such graphs are not sound as a rule.
    const counting = new Set(
      ["count", "count2"].flatMap((counter) => {
        const writers = this.#lines.filter((line) => new RegExp(`^ {2}node .* into .*\\b${counter}\\b`).test(line));
        const name = new RegExp(`^ {2}node (n\\d+) = ${counter} \\+ 1 into `).exec(writers[0] ?? "")?.[1];
        return name === undefined || writers.length > 1 ? [] : [name];
      }),
    );
    this.#lines.forEach((line, index) => {
      if (!counting.has(/^ {2}(n\d+) -> /.exec(line)?.[1] ?? "")) return;
      this.#lines[index] = line.replace(/\b(count2?) (<|<=|>|>=) \d+\b/g, (_, counter: string, order: string) => {
        isUsed = true;
        return `${counter} ${order} ${bound}`;
      });
    });
    if (!isUsed) return;
    this.#added.push(
      bound === "most"
        ? "  input most: int = 2"
        : bound === "least"
          ? "  state least: int = 2"
          : "  input given_list: string[]",
    );
  }

  /** A list of records, to which functions and expressions append, and a condition on its last item. */
  lastItem(): void {
    const random = this.#random;
    this.#added.push("  state notes: { text: string, calls?: string[] }[] reduce append");
    for (const node of this.#some(3, (each) => isPlainCode(each) && each.into === undefined)) {
      node.into = "notes";
      if (!random.chance(0.3)) continue;
      node.call = random.pick([`{ text: "a" }`, `{ text: "b", calls: ["a"] }`]);
      node.policies = node.policies.filter((policy) => !OF_FUNCTIONS.test(policy));
    }
    this.#condition(random.pick(["len(last(notes)?.calls ?? []) > 0", "last(notes)?.calls == null"]));
  }

  /** Replaces the condition of an edge whose other edge is `otherwise` or `else`. */
  #condition(condition: string): void {
    const lines = this.#lines;
    const found = lines.flatMap((line, index) => {
      if (/ match \{ .+? -> \w+ {2}else -> \w+ \}$/.test(line)) return [index];
      const source = /^ {2}(n\d+) -> \w+ when /.exec(line)?.[1];
      const isChoice =
        source !== undefined && lines.some((each) => each.startsWith(`  ${source} -> `) && each.endsWith(" otherwise"));
      return isChoice ? [index] : [];
    });
    if (found.length === 0) return;
    const at = this.#random.pick(found);
    lines[at] = lines[at]!.replace(/ when .*$/, ` when ${condition}`).replace(
      /match \{ .+? ->/,
      `match { ${condition} ->`,
    );
  }

  set(): void {
    const fits = ({ into }: NodeLine): boolean =>
      this.#reduced.some((name) => (into ?? "").split(/\W+/).includes(name));
    const random = this.#random;
    for (const node of this.#some(2, fits)) {
      const { into = "" } = node;
      node.into = into.startsWith("{")
        ? into.replace(/: (\w+)/, (field, name: string) => (this.#reduced.includes(name) ? `: set ${name}` : field))
        : isPlainCode(node) && random.chance(0.5)
          ? `{ whole: set ${into} }`
          : `set ${into}`;
    }
  }

  /** Indexes and conditions of `for`. */
  items(): void {
    const random = this.#random;
    for (const node of this.#some(2, ({ each }) => each !== undefined)) {
      const list = (node.each ?? "").replace(/^item in /, "");
      if (random.chance(0.25)) {
        node.each = `item in ${list} if ${random.pick(["flag", "count > 0", "test(item)"])}`;
        continue;
      }
      const condition = random.chance(0.65) ? ` if ${random.pick(["i < 1", "i > 0", "i != 1", "flag || i == 0"])}` : "";
      node.each = `item, i in ${list}${condition}`;
      if (isCode(node) && random.chance(0.5)) node.call = node.call.replace(/item\)/, "item, i)");
    }
    if (!this.#lines[0]!.includes("test") && [...this.#nodes.values()].some(({ each }) => each?.includes("test(")))
      this.#lines[0] = this.#lines[0]!.replace("act", "act, test");
  }

  /** Derived names of lists, arguments and values; `nameConditions` has those of conditions. */
  derive(): void {
    const random = this.#random;
    for (const node of this.#some(1, ({ each }) => each !== undefined)) {
      this.#added.push(`  derive list = ${(node.each ?? "").replace(/^item(, i)? in /, "").replace(/ if .*$/, "")}`);
      node.each = (node.each ?? "").replace(/ in .*?( if .*)?$/, " in list$1");
    }
    for (const node of this.#some(1, (each) => isPlainCode(each) && each.call.endsWith(`("${each.name}")`))) {
      this.#added.push("  derive next = count + 1");
      node.call = random.chance(0.5) ? "next" : `act("${node.name}", next)`;
      if (node.call === "next") {
        node.into = "count";
        node.policies = node.policies.filter((policy) => !OF_FUNCTIONS.test(policy));
      }
    }
  }
}

/** A call of an imported function. */
function isCode({ call }: NodeLine): boolean {
  return call.startsWith("act(");
}

/** A call of an imported function, once and without jumps. */
function isPlainCode(node: NodeLine): boolean {
  return isCode(node) && node.each === undefined && !node.policies.some((policy) => policy.startsWith("goes"));
}

const POLICY = "(?:tries|timeout|cache|idempotent|max parallel|goes|waits|pause|within)";

function parseNode(line: string): NodeLine | undefined {
  const found = /^ {2}node (n\d+) = (.*)$/.exec(line);
  if (found === null) return undefined;
  const [, name = ""] = found;
  let rest = found[2] ?? "";
  const take = (pattern: RegExp): string | undefined => {
    const part = pattern.exec(rest);
    if (part === null) return undefined;
    rest = rest.slice(0, part.index);
    return part[1];
  };
  const policies = take(new RegExp(` \\{ (${POLICY} ?.*) \\}$`))?.split(/ {2}/) ?? [];
  const into = take(/ into (\w+|\{[^}]*\})$/);
  const each = take(/ for (item in .*)$/);
  return {
    name,
    call: rest,
    policies,
    ...(into === undefined ? {} : { into }),
    ...(each === undefined ? {} : { each }),
  };
}

function printNode({ name, call, each, into, policies }: NodeLine): string {
  return [
    `  node ${name} = ${call}`,
    ...(each === undefined ? [] : [`for ${each}`]),
    ...(into === undefined ? [] : [`into ${into}`]),
    ...(policies.length === 0 ? [] : [`{ ${policies.join("  ")} }`]),
  ].join(" ");
}
