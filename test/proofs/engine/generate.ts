/**
 * Random graphs as text. Most begin as a sound composition: sequences, choices, parallel blocks with the barrier that matches,
 * loops with a bound, error handlers, jumps and calls. Mutations then break some of them. A few have no structure at all.
 */
import { addConstructs } from "./add-constructs.ts";
import { addEnds } from "./add-ends.ts";
import { type Choice, createConditions, type Conditions } from "./conditions.ts";
import { createRandom, type Random } from "./random.ts";

interface DraftNode {
  readonly name: string;
  call: string;
  each?: string;
  into?: string;
  readonly policies: string[];
}

/** A part of a graph with one way in and one way out: `exit` has no edges yet. */
interface Block {
  readonly entry: string;
  readonly exit: string;
}

/** Channels that one arm of a parallel block may write: two arms have none in common. */
type Writable = readonly string[];

/** A graph as text, one statement a line. Each seed is always the same graph. */
export function generateGraph(seed: number): string {
  const random = createRandom(Math.imul(seed + 3, 0xc2b2ae35));
  const text = generateBasicGraph(seed);
  return random.chance(0.6) ? addConstructs(text, random) : text;
}

/** The graph of a seed with a `finally` part, edges to `rollback` or configuration. */
export function generateGraphWithEnds(seed: number): string {
  return addEnds(generateGraph(seed), createRandom(Math.imul(seed + 11, 0x27d4eb2f)));
}

/** The graph of a seed before `addConstructs` changes it: past mistakes are recorded as seeds of these graphs. */
export function generateBasicGraph(seed: number): string {
  const random = createRandom(Math.imul(seed + 1, 0x9e3779b1));
  return nameConditions(new Draft(random).text(), createRandom(Math.imul(seed + 7, 0x85ebca6b)));
}

/** Gives a third of the conditions of edges a name: a proof must not depend on it. */
function nameConditions(text: string, random: Random): string {
  const derived: string[] = [];
  const named = text.replace(
    /^( {2}\w.* -> .*) when (?!.*\berror\b)(.+)$/gm,
    (line, edge: string, condition: string) => {
      if (line.includes("{") || !random.chance(1 / 3)) return line;
      derived.push(`  derive d${derived.length} = ${condition}`);
      return `${edge} when d${derived.length - 1}`;
    },
  );
  if (derived.length === 0) return text;
  return named.replace(/^graph g \{$/m, `graph g {\n${derived.join("\n")}`);
}

const INNER_GRAPHS: readonly string[] = [
  `graph inner {
  input p: int = 0
  output q: int = 0
  node one = act("one", p) into q
  start -> one
}`,
  `graph inner {
  input p: int = 0
  output q: int = 0
  node one = p + 1 into q
  node two = act("two")
  node last = act("last")
  start -> one, two
  all(one, two) -> last
}`,
  `graph inner {
  input p: int = 0
  output q: int = 0
  node one = llm(prompt: "q") into q
  node bad = act("bad")
  start -> one
  one -> bad on error
}`,
  `graph inner {
  input p: int = 0
  output q: int = 0
  node one = act("one") into q
  node two = act("two")
  node last = act("last")
  start -> one
  one -> two when q > 0
  one -> last otherwise
  all(one, two) -> last
}`,
];

const PLAN = `plan job {
  task first = print("first")
  task second = print("second") after first
}`;

class Draft {
  readonly random: Random;
  readonly conditions: Conditions;
  readonly nodes: DraftNode[] = [];
  readonly edges: string[] = [];
  readonly channels: string[];
  readonly header: string[] = [];
  readonly extra: string[] = [];
  /** How many nodes may still be drawn. */
  left: number;
  readonly pauses: boolean;

  constructor(random: Random) {
    this.random = random;
    this.left = 3 + random.below(10);
    this.pauses = random.chance(0.12);
    this.conditions = createConditions(random);
    this.channels = [...this.conditions.declarations];
  }

  text(): string {
    const { random } = this;
    if (random.chance(0.08)) this.unstructured();
    else this.structured();
    const mutations = random.chance(0.86) ? 0 : 1 + random.below(3);
    for (let count = 0; count < mutations; count++) this.mutate();
    this.decorate();
    // Nodes that jump cannot allow failures.
    for (const { policies } of this.nodes) {
      const at = policies.indexOf("allow failure");
      if (at !== -1 && policies.some((policy) => policy.startsWith("goes "))) policies.splice(at, 1);
    }
    const names = this.nodes.map(({ name }) => name);
    const asserted = new Set<string>();
    for (let count = 1 + random.below(2); count > 0; count--) {
      asserted.add(mutations === 0 && random.chance(0.94) ? this.likelyAssertion(names) : this.assertion(names));
    }
    for (const text of [...asserted]) {
      if (/ before n\d+$/.test(text)) asserted.add(text.replace("before", "before each"));
    }
    this.extra.push(...asserted);
    if (random.chance(0.08)) this.extra.push(`limit steps ${1 + random.below(12)}`);
    if (random.chance(0.08)) this.extra.push(`max parallel ${1 + random.below(3)}`);
    const used = this.nodes.map((node) => this.nodeText(node));
    const body = [...used, ...this.extra, ...this.renderEdges()];
    // The order of statements affects only the order of updates.
    const shown = random.chance(0.4) ? random.shuffle(body) : body;
    if (random.chance(0.12)) shown.push(`assert ${this.assertedCondition(body)}`);
    const all = shown.join("\n");
    const channels = this.channels.filter((line) => {
      const name = / (\w+):/.exec(line)?.[1] ?? "";
      return new RegExp(`\\b${name}\\b`).test(all);
    });
    const imports = ["act"];
    if (/\btest\(/.test(all)) imports.push("test");
    if (channels.some((line) => line.endsWith("reduce fold"))) imports.push("fold");
    const header = [`import { ${imports.join(", ")} } from "functions"`];
    if (/\binner\(/.test(all)) header.push(random.pick(INNER_GRAPHS));
    if (/\bjob\(/.test(all)) header.push(PLAN);
    return `${header.join("\n")}\ngraph g {\n${[...channels, ...shown].map((line) => `  ${line}`).join("\n")}\n}\n`;
  }

  // Nodes -------------------------------------------------------------------------------------------------

  add(call: string, into?: string, each?: string): DraftNode {
    this.left--;
    const name = `n${this.nodes.length}`;
    const node: DraftNode = {
      name,
      call: call.replaceAll("$NAME", name),
      policies: [],
      ...(into === undefined ? {} : { into }),
      ...(each === undefined ? {} : { each }),
    };
    this.nodes.push(node);
    return node;
  }

  /** Some node: of any call, writing any channel that it may. */
  work(writable: Writable): DraftNode {
    const { random, conditions } = this;
    const roll = random.next();
    const target = writable.length > 0 && random.chance(0.75) ? random.pick(writable) : undefined;
    const args = random.chance(0.25) ? `, ${random.pick(conditions.readable)}` : "";
    const act = `act("$NAME"${args})`;
    if (roll < 0.28) return this.add(act, target);
    if (roll < 0.5 && target !== undefined) return this.add(conditions.valueFor(target), target);
    if (roll < 0.62) return this.forNode(writable);
    if (roll < 0.66 && writable.length > 1) {
      const [first = "", second = ""] = random.shuffle(writable);
      return this.add(act, random.chance(0.5) ? `{ ${first}, out: ${second} }` : `{ one: ${first}, two: ${second} }`);
    }
    if (roll < 0.69) return this.add(`print("$NAME")`);
    if (roll < 0.73) return this.add(`llm(prompt: "$NAME")`, target);
    if (roll < 0.75) return this.add(`http(url: "$NAME")`);
    if (roll < 0.77) return this.add(`shell("$NAME")`);
    if (roll < 0.79) return this.add(`tool("s", "$NAME")`, target);
    if (roll < 0.81) return this.add(`sleep(5ms)`);
    if (roll < 0.84) {
      const number = conditions.intTarget(writable);
      return this.add(
        `inner(p: ${random.pick(["1", "count", "0"])})`,
        number === undefined ? undefined : `{ q: ${number} }`,
      );
    }
    if (roll < 0.85) return this.add(`job()`);
    if (roll < 0.89 && this.pauses) return this.add(`ask("?")`, target);
    return this.add(act, target);
  }

  forNode(writable: Writable): DraftNode {
    const { random, conditions } = this;
    const list = random.pick(conditions.lists);
    const target = random.chance(0.7) ? conditions.eachTarget(writable) : undefined;
    const call = random.chance(0.75) ? `act("$NAME", item)` : random.pick([`"s"`, "1", "item"]);
    const node = this.add(call, target, `item in ${list}`);
    if (random.chance(0.15)) node.policies.push(`max parallel ${1 + random.below(2)}`);
    if (random.chance(0.3)) node.policies.push("allow failure");
    return node;
  }

  plain(writable: Writable = []): DraftNode {
    return this.random.chance(0.5) ? this.work(writable) : this.add(`act("$NAME")`);
  }

  edge(from: string, to: string): void {
    this.edges.push(`${from} -> ${to}`);
  }

  // Structured graphs -------------------------------------------------------------------------------------

  structured(): void {
    const { random } = this;
    const writable = this.conditions.writable;
    const roll = random.next();
    if (roll < 0.12) {
      const choice = this.conditions.givenChoice();
      const blocks = choice.arms.map(() => this.block(writable, 1));
      this.route(
        "start",
        choice,
        blocks.map(({ entry }) => entry),
      );
      const last = random.chance(0.5) ? this.block(writable, 1) : undefined;
      for (const { exit } of blocks) this.finish(exit, last?.entry);
      if (last !== undefined) this.finish(last.exit, undefined);
      return;
    }
    if (roll < 0.24) {
      const [first = [], second = []] = this.split(writable, 2);
      const [one, two] = [this.block(first, 1), this.block(second, 1)];
      this.edge("start", `${one.entry}, ${two.entry}`);
      const last = this.plain(writable);
      this.join([one.exit, two.exit], last);
      this.finish(last.name, undefined);
      return;
    }
    const main = this.block(writable, 0);
    this.edge("start", main.entry);
    if (random.chance(0.12)) this.dispatch(main.exit);
    else this.finish(main.exit, undefined);
  }

  /** A last node that starts others by its code alone: jumps of every kind are sound there. */
  dispatch(from: string): void {
    const { random } = this;
    const decides = this.add(`act("$NAME")`);
    this.edge(from, decides.name);
    const others = Array.from(
      { length: 1 + random.below(2) },
      () => this.add(random.chance(0.7) ? `act("$NAME")` : `act("$NAME", 1)`).name,
    );
    decides.policies.push(`goes ${[...others, ...(random.chance(0.5) ? ["end"] : [])].join(", ")}`);
    for (const name of others) this.finish(name, undefined);
  }

  finish(exit: string, next: string | undefined): void {
    if (next !== undefined) this.edge(exit, next);
    else if (this.random.chance(0.5)) this.edge(exit, "end");
  }

  block(writable: Writable, depth: number): Block {
    const { random } = this;
    if (this.left <= 1 || depth > 4) return this.single(writable);
    const roll = random.next();
    if (roll < 0.26) return this.sequence(writable, depth);
    if (roll < 0.44) return this.choice(writable, depth);
    if (roll < 0.62) return this.parallel(writable, depth);
    if (roll < 0.74) return this.loop(writable, depth);
    if (roll < 0.85) return this.handled(writable, depth);
    if (roll < 0.89) return this.jump(writable, depth);
    if (roll < 0.91) return this.failures();
    return this.single(writable);
  }

  single(writable: Writable): Block {
    const { name } = this.plain(writable);
    return { entry: name, exit: name };
  }

  sequence(writable: Writable, depth: number): Block {
    const first = this.block(writable, depth + 1);
    const second = this.block(writable, depth + 1);
    this.edge(first.exit, second.entry);
    return { entry: first.entry, exit: second.exit };
  }

  /** A node whose edges are arms, and one in which they meet. */
  choice(writable: Writable, depth: number): Block {
    const { random, conditions } = this;
    const choice = conditions.choice(writable);
    const { arms, writes } = choice;
    const decides =
      writes === undefined
        ? this.plain(writable)
        : this.add(random.chance(0.8) ? `act("$NAME")` : conditions.valueFor(writes), writes);
    const blocks = arms.map((_, index) =>
      index > 0 && random.chance(0.3) ? undefined : this.block(writable, depth + 1),
    );
    const end = this.plain(writable);
    this.route(
      decides.name,
      choice,
      blocks.map((block) => block?.entry ?? end.name),
    );
    for (const block of blocks) if (block !== undefined) this.edge(block.exit, end.name);
    return { entry: decides.name, exit: end.name };
  }

  /** Writes the edges of a choice, one target an arm. */
  route(from: string, { form, subject, arms }: Choice, targets: readonly string[]): void {
    const to = (index: number): string => targets[index] ?? targets[0] ?? "end";
    if (form === "edges") arms.forEach((arm, index) => this.edges.push(`${from} -> ${to(index)} ${arm}`));
    else {
      const shown = arms.map((arm, index) => `${arm} -> ${to(index)}`).join("  ");
      this.edges.push(`${from} -> match ${subject === undefined ? "" : `${subject} `}{ ${shown} }`);
    }
  }

  split(writable: Writable, count: number): Writable[] {
    const parts: string[][] = Array.from({ length: count }, () => []);
    for (const channel of writable) {
      if (this.conditions.isReduced(channel)) for (const part of parts) part.push(channel);
      else parts[this.random.below(count)]?.push(channel);
    }
    return parts;
  }

  parallel(writable: Writable, depth: number): Block {
    const { random } = this;
    const fork = this.plain(writable);
    const count = random.chance(0.8) ? 2 : 3;
    const parts = this.split(writable, count);
    const blocks = parts.map((part) => this.block(part, depth + 1));
    this.edge(fork.name, blocks.map(({ entry }) => entry).join(", "));
    const end = this.plain(writable);
    this.join(
      blocks.map(({ exit }) => exit),
      end,
    );
    return { entry: fork.name, exit: end.name };
  }

  /** A barrier over the exits of arms: `all(…)` with substitutes for arms that fail, or `waits`. */
  join(exits: readonly string[], end: DraftNode): void {
    const { random } = this;
    if (random.chance(0.06)) {
      // No barrier: the arms meet as they come.
      for (const exit of exits) this.edge(exit, end.name);
      return;
    }
    if (random.chance(0.3)) {
      for (const exit of exits) {
        // A gate counts whichever edge leads to it.
        if (random.chance(0.4)) this.route(exit, this.conditions.cover(), [end.name, end.name]);
        else this.edge(exit, end.name);
      }
      end.policies.push(`waits ${exits.join(", ")}`);
      return;
    }
    const members = exits.map((exit) => {
      if (!random.chance(0.22)) return exit;
      const node = this.nodes.find(({ name }) => name === exit);
      if (node === undefined) return exit;
      const stand = this.add(`act("$NAME")`);
      this.edges.push(`${exit} -> ${stand.name} on error`);
      return `any(${exit}, ${stand.name})`;
    });
    this.edges.push(`all(${members.join(", ")}) -> ${end.name}`);
  }

  /** Nodes that may fail in one step, each with edges that ask for its own failure. */
  failures(): Block {
    const { random } = this;
    const fork = this.add(`act("$NAME")`);
    const end = this.add(`act("$NAME")`);
    const members = [0, 1].map(() => {
      const risky = this.add(random.pick([`fail("x")`, `fail("y")`, `act("$NAME")`]));
      const helps = [this.add(`act("$NAME")`), this.add(`act("$NAME")`)].map(({ name }) => name);
      this.edges.push(`${risky.name} -> ${helps[0] ?? ""} on error when error.message == "x"`);
      this.edges.push(`${risky.name} -> ${helps[1] ?? ""} on error otherwise`);
      return { name: risky.name, helps };
    });
    this.edge(fork.name, members.map(({ name }) => name).join(", "));
    if (random.chance(0.5)) {
      const shown = members.map(({ name, helps }) => `any(${[name, ...helps].join(", ")})`);
      this.edges.push(`all(${shown.join(", ")}) -> ${end.name}`);
    } else {
      const [first, second] = members;
      this.edges.push(`all(${first?.helps[0] ?? ""}, ${second?.helps[random.below(2)] ?? ""}) -> ${end.name}`);
    }
    return { entry: fork.name, exit: end.name };
  }

  loop(writable: Writable, depth: number): Block {
    const { random, conditions } = this;
    const body = this.block(writable, depth + 1);
    const after = this.plain(writable);
    const counter = writable.find((channel) => channel.startsWith("count"));
    const bool = writable.find((channel) => channel === "flag");
    if (counter !== undefined && random.chance(0.7)) {
      const limit = 1 + random.below(3);
      const step = this.add(`${counter} + 1`, conditions.isReduced(counter) ? undefined : counter);
      this.edge(body.exit, step.name);
      const forms: readonly Choice[] = [
        { form: "edges", arms: [`when ${counter} < ${limit}`, "otherwise"] },
        { form: "edges", arms: [`when ${counter} < ${limit}`, `when ${counter} >= ${limit}`] },
        { form: "edges", arms: [`when ${counter} <= ${limit}`, `when ${counter} > ${limit}`] },
        { form: "cases", arms: [`${counter} < ${limit}`, "else"] },
      ];
      this.route(step.name, random.pick(forms), [body.entry, after.name]);
      return { entry: body.entry, exit: after.name };
    }
    if (bool !== undefined) {
      const decides = this.add(`act("$NAME")`, bool);
      this.edge(body.exit, decides.name);
      const forms: readonly Choice[] = [
        { form: "edges", arms: [`when ${bool}`, "otherwise"] },
        { form: "value", subject: bool, arms: ["true", "false"] },
      ];
      this.route(decides.name, random.pick(forms), [body.entry, after.name]);
      return { entry: body.entry, exit: after.name };
    }
    this.edge(body.exit, after.name);
    return { entry: body.entry, exit: after.name };
  }

  /** A node that may fail, and what runs then. */
  handled(writable: Writable, depth: number): Block {
    const { random } = this;
    const risky = random.chance(0.12) ? this.add(random.pick([`fail("x")`, `fail("y")`])) : this.work(writable);
    const end = this.plain(writable);
    this.edge(risky.name, end.name);
    if (risky.into !== undefined && !risky.into.startsWith("{") && random.chance(0.4)) {
      // The next nodes depend on whether it has written.
      const help = this.add(`act("$NAME")`);
      const choice = this.conditions.choiceAbout(risky.into);
      this.edges.push(`${risky.name} -> ${help.name} on error`);
      this.route(
        help.name,
        choice,
        choice.arms.map((_, index) => (index === 0 ? end.name : this.add(`act("$NAME")`).name)),
      );
      const { nodes } = this;
      for (let count = choice.arms.length - 1; count > 0; count--)
        this.edge(nodes[nodes.length - count]?.name ?? "", end.name);
    } else if (random.chance(0.25)) this.edges.push(`${risky.name} -> ${end.name} on error`);
    else {
      const help = this.block(writable, depth + 1);
      const roll = random.next();
      if (roll < 0.4) {
        const condition = random.pick([
          `error.message == "x"`,
          `error.code == "NG_NODE_TIMEOUT"`,
          `error.code == "NG_NODE_FAILED"`,
          `error.attempts > 1`,
          `error.node == "${risky.name}"`,
          `len(error.items ?? []) > 0`,
        ]);
        this.edges.push(`${risky.name} -> ${help.entry} on error when ${condition}`);
        if (random.chance(0.85)) this.edges.push(`${risky.name} -> ${end.name} on error otherwise`);
      } else this.edges.push(`${risky.name} -> ${help.entry} on error`);
      this.edge(help.exit, end.name);
    }
    return { entry: risky.name, exit: end.name };
  }

  /** A node that may jump over a block, or out of the graph, or send a task beside its edges. */
  jump(writable: Writable, depth: number): Block {
    const { random } = this;
    const decides = random.chance(0.2)
      ? this.forNode(writable)
      : this.add(`act("$NAME")`, random.chance(0.5) ? this.random.pick([...writable, undefined]) : undefined);
    if (!decides.call.startsWith("act(")) decides.call = `act("${decides.name}", item)`;
    const inner = this.block(writable, depth + 1);
    const end = this.plain(writable);
    const goes = [end.name];
    if (random.chance(0.3)) goes.push(inner.entry);
    if (random.chance(0.2)) goes.push("end");
    decides.policies.push(`goes ${random.shuffle(goes).join(", ")}`);
    if (random.chance(0.85)) this.edge(decides.name, inner.entry);
    else if (!goes.includes(inner.entry)) this.edge(decides.name, inner.entry);
    this.edge(inner.exit, end.name);
    return { entry: decides.name, exit: end.name };
  }

  // Unstructured graphs and mutations ---------------------------------------------------------------------

  unstructured(): void {
    const { random, conditions } = this;
    const { writable } = conditions;
    const count = 2 + random.below(6);
    for (let index = 0; index < count; index++) this.work(writable);
    const names = this.nodes.map(({ name }) => name);
    const target = (from: number): string => {
      if (random.chance(0.1)) return "end";
      if (random.chance(0.15) || from + 1 >= names.length) return random.pick(names);
      return random.pick(names.slice(from + 1, from + 4));
    };
    const targets = (from: number): string => {
      const found = new Set([target(from)]);
      if (random.chance(0.3)) found.add(target(from));
      const list = [...found].filter((name) => name !== "end");
      return list.length === 0 ? "end" : list.join(", ");
    };
    this.edge("start", targets(-1).replace(/^end$/, names[0] ?? "end"));
    names.forEach((name, index) => {
      const roll = random.next();
      if (roll < 0.12) return;
      if (roll < 0.5) this.edge(name, targets(index));
      else {
        const choice = conditions.choice(writable);
        this.route(
          name,
          choice,
          choice.arms.map(() => targets(index)),
        );
      }
      if (random.chance(0.2)) this.edges.push(`${name} -> ${targets(index)} on error`);
      if (random.chance(0.12)) {
        const goes = [...new Set([target(index), target(index)])].filter((each) => each !== name || random.chance(0.4));
        if (goes.length > 0 && this.nodes[index]?.call.startsWith("act(") === true)
          this.nodes[index]?.policies.push(`goes ${goes.join(", ")}`);
      }
    });
    for (let barriers = random.below(3); barriers > 0 && names.length > 2; barriers--) {
      const [a = "", b = "", c = "", d = ""] = random.shuffle(names);
      const members = random.chance(0.25) && d !== "" ? `any(${a}, ${d}), ${b}` : `${a}, ${b}`;
      this.edges.push(`all(${members}) -> ${random.chance(0.12) ? "end" : c}`);
    }
  }

  mutate(): void {
    const { random, edges, nodes } = this;
    const names = nodes.map(({ name }) => name);
    const at = random.below(edges.length);
    const edge = edges[at] ?? "";
    const roll = random.next();
    if (roll < 0.14 && edges.length > 2) edges.splice(at, 1);
    else if (roll < 0.32) {
      const found = [...edge.matchAll(/\bn\d+\b/g)];
      const one = found.at(-1);
      if (one !== undefined) {
        const start = one.index;
        edges[at] = edge.slice(0, start) + random.pick(names) + edge.slice(start + one[0].length);
      }
    } else if (roll < 0.42) edges[at] = edge.replace(/^all\((\w+), (\w+)\)/, (_, a: string, b: string) => `${a}, ${b}`);
    else if (roll < 0.5) edges.push(`${random.pick(names)} -> ${random.pick([...names, "end"])}`);
    else if (roll < 0.58) edges.push(`${random.pick(names)} -> ${random.pick([...names, "end"])} on error`);
    else if (roll < 0.66) {
      const node = random.pick(nodes);
      const channel = random.pick(this.conditions.writable);
      if (node.call.startsWith("act(") && node.each === undefined) node.into = channel;
    } else if (roll < 0.76) {
      const node = random.pick(nodes);
      if (node.call.startsWith("act(") && !node.policies.some((policy) => policy.startsWith("goes")))
        node.policies.push(`goes ${[...new Set([random.pick([...names, "end"]), random.pick(names)])].join(", ")}`);
    } else if (roll < 0.84) {
      edges[at] = edge.includes(" when ")
        ? edge.replace(/ when .*$/, ` when ${this.conditions.condition()}`)
        : edge.replace(/ otherwise$/, "");
    } else if (roll < 0.92) {
      const [a = "", b = ""] = random.shuffle(names);
      edges.push(`all(${a}, ${b}) -> ${random.pick([...names, "end"])}`);
    } else {
      const node = random.pick(nodes);
      node.call = random.pick([`fail("x")`, `fail("y")`, `act("${node.name}")`]);
      delete node.into;
      delete node.each;
    }
  }

  /** Policies that change the time at which a node runs, but not its edges. */
  decorate(): void {
    const { random } = this;
    for (const node of this.nodes) {
      const isCode = /^(act|llm|http|tool|shell|inner)\(/.test(node.call);
      if (isCode && random.chance(0.1)) node.policies.push(random.pick(["tries 2", "tries 3 backoff 1ms..4ms"]));
      if (isCode && random.chance(0.08)) node.policies.push("timeout 50ms");
      if (isCode && random.chance(0.05)) node.policies.push(random.pick(["cache", "cache for 1h"]));
      if (isCode && random.chance(0.05)) node.policies.push("idempotent");
      if (this.pauses && random.chance(0.12)) node.policies.push(random.pick(["pause before", "pause after"]));
    }
  }

  /** What holds in most structured graphs: about the node that runs first. */
  likelyAssertion(names: readonly string[]): string {
    const { random } = this;
    const start = this.edges.filter((edge) => edge.startsWith("start ->"));
    const first = /\bn\d+/.exec(start[0] ?? "")?.[0] ?? "n0";
    const isAlone = start.length === 1 && start[0] === `start -> ${first}`;
    const own = new RegExp(`-> .*\\b${first}\\b`);
    const repeats =
      this.edges.some((edge) => !edge.startsWith("start") && own.test(edge)) ||
      this.nodes.some(({ policies }) => policies.some((policy) => policy.startsWith("goes") && policy.includes(first)));
    const mayFail = this.edges.some((edge) => edge.startsWith(`${first} ->`) && edge.includes("on error"));
    const other = random.pick(names);
    const likely = [
      ...(repeats ? [] : [`assert once ${first}`]),
      ...(mayFail || !isAlone ? [] : [`assert eventually ${first}`, `assert ${first} before end`]),
      ...(mayFail || !isAlone || other === first ? [] : [`assert ${first} before ${other}`]),
      ...(repeats || !isAlone || other === first ? [] : [`assert never ${first} with ${other}`]),
    ];
    return likely.length === 0 ? this.assertion(names) : random.pick(likely);
  }

  /** A condition at a node: one of an edge that leads to it, or one about any channel. */
  assertedCondition(body: readonly string[]): string {
    const { random } = this;
    const known = body.flatMap((line) => {
      const found = /^n\d+ -> (n\d+) when (.*)$/.exec(line);
      return found === null ? [] : [`${found[2] ?? ""} at ${found[1] ?? ""}`];
    });
    if (known.length > 0 && random.chance(0.7)) return random.pick(known);
    return `${this.conditions.condition()} at ${random.pick(this.nodes).name}`;
  }

  assertion(names: readonly string[]): string {
    const { random } = this;
    const [a, b] = [random.pick(names), random.pick(names)];
    switch (random.below(4)) {
      case 0:
        return `assert ${a} before ${random.chance(0.25) ? "end" : b}`;
      case 1:
        return `assert once ${a}`;
      case 2:
        return `assert eventually ${a}`;
      default:
        return `assert never ${a} with ${b === a ? (names.find((name) => name !== a) ?? b) : b}`;
    }
  }

  nodeText({ name, call, each, into, policies }: DraftNode): string {
    const parts = [`node ${name} = ${call}`];
    if (each !== undefined) parts.push(`for ${each}`);
    if (into !== undefined) parts.push(`into ${into}`);
    if (policies.length > 0) parts.push(`{ ${policies.join("  ")} }`);
    return parts.join(" ");
  }

  /** Some plain edges are written as chains and lists. */
  renderEdges(): string[] {
    const { random } = this;
    const edges = [...this.edges];
    const plain = /^(n\d+) -> (n\d+|end)$/;
    for (let at = 0; at < edges.length; at++) {
      const first = /^(.*-> )?(n\d+) -> (n\d+)$/.exec(edges[at] ?? "");
      if (first === null || edges[at]?.startsWith("all(") === true || edges[at]?.includes(", ") === true) continue;
      if (random.chance(0.5)) {
        const next = edges.findIndex((edge, index) => index !== at && plain.exec(edge)?.[1] === first[3]);
        if (next !== -1 && edges.filter((edge) => edge.startsWith(`${first[3] ?? ""} ->`)).length === 1) {
          edges[at] = `${edges[at] ?? ""} -> ${plain.exec(edges[next] ?? "")?.[2] ?? "end"}`;
          edges.splice(next, 1);
          at = -1;
          if (random.chance(0.3)) break;
        }
      } else if (random.chance(0.3)) {
        const own = plain.exec(edges[at] ?? "");
        const other = edges.findIndex(
          (edge, index) => index !== at && own !== null && plain.exec(edge)?.[2] === own[2],
        );
        if (own !== null && other !== -1) {
          edges[at] = `any(${own[1] ?? ""}, ${plain.exec(edges[other] ?? "")?.[1] ?? ""}) -> ${own[2] ?? ""}`;
          edges.splice(other, 1);
          at = Math.max(-1, at - 2);
        }
      }
    }
    return edges;
  }
}
