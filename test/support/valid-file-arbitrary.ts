/**
 * Random files that compile: every construct of the language, combined without errors. `ast-arbitrary.ts` has random
 * syntax trees, with or without a meaning.
 */
import * as fc from "fast-check";

/** The module that the files import from. */
export const VALID_FILE_NODES = `export type Ticket = { id: number; title: string };
export const load = async (name: string, count: number): Promise<string> => name + count;
export const find = async (options: { text: string; most?: number }): Promise<string[]> => [options.text];
export const rate = async (text: string): Promise<{ score: number; notes: string[] }> => ({ score: 1, notes: [text] });
export const newest = (current: number, update: number): number => Math.max(current, update);
`;

const HEADER = `import { load, find, rate, newest } from "./nodes.ts"
type Verdict = "send" | "again" | "drop"
/// A judgement about a text.
type Note = { text: string, weight: float, tags?: string[] }
secret API_KEY
`;

const CHANNELS = `  input n: int = 3
  /// The next speaker.
  input who: string = "Ada \\"A.\\" L."
  input words: string[] = ["a", "b: c", "# d"]
  memory past: string[] reduce append
  state notes: string[] = [] reduce append
  state total: int = 0 reduce sum
  state best: float = 0.5
  state seen: map<int> = { "a-b": 1, in: 2 } reduce merge
  state last: int = -1 reduce newest
  state verdict: Verdict = "send"
  state flag: bool = false
  config tone: string = "dry"
  derive isLong = len(words) > 2 && n != 3
`;

const INTS = [
  "n",
  "n + 1",
  "-n",
  "len(words)",
  "total * 2 - 1",
  "max(n, 3)",
  "flag ? 1 : 2",
  'seen["a"] ?? 0',
  "round(best)",
];
const STRINGS = [
  "who",
  "`${tone} ${who}`",
  '"text: # with [signs]"',
  "`Dear ${who}`",
  "`two\n    lines ${n + 1}`",
  "upper(trim(who))",
  'words[0] ?? "none"',
  'join(words, ", ")',
  "verdict",
];
const LISTS = [
  "words",
  "[who, `x${n}`]",
  "[upper(w) for w in words if len(w) > 1]",
  'split(who, " ")',
  "unique(sort(words))",
  "[]",
];
const FLAGS = [
  "flag",
  "n > 3",
  "best < 0.8 && n <= 3",
  '!flag || who == "Ada"',
  '"a" in words',
  'who != ""',
  'matches(who, "^A+")',
  'verdict == "send"',
  "isLong",
];

const int = fc.constantFrom(...INTS);
const string = fc.constantFrom(...STRINGS);
const list = fc.constantFrom(...LISTS);
const flag = fc.constantFrom(...FLAGS);

const policies = fc
  .uniqueArray(
    fc.constantFrom(
      "tries 3",
      "tries 2 backoff 200ms..5s",
      "tries 4 backoff 1s",
      "timeout 10s",
      "timeout 1.5m",
      "idempotent",
      "undo load(who, n)",
      "undo load(who, 3) { tries 2  timeout 1m }",
    ),
    { maxLength: 3, selector: (policy) => policy.split(" ")[0] },
  )
  .map((all) => (all.length === 0 ? "" : ` { ${all.join("  ")} }`));

/** The code after `=` of a node that writes its own channel, `%`, and the type of the channel. */
const call: fc.Arbitrary<{ readonly type: string; readonly text: string; readonly takesPolicies: boolean }> = fc.oneof(
  fc.tuple(string, int).map(([a, b]) => ({ type: "string", text: `load(${a}, ${b}) into %`, takesPolicies: true })),
  fc
    .tuple(string, int)
    .map(([a, b]) => ({ type: "string[]", text: `find(text: ${a}, most: ${b}) into %`, takesPolicies: true })),
  string.map((a) => ({ type: "float", text: `rate(${a}) into { score: % }`, takesPolicies: true })),
  list.map((a) => ({
    type: "string[] = [] reduce append",
    text: `load(word, n) for word in ${a} into % { max parallel 4 }`,
    takesPolicies: false,
  })),
  list.map((a) => ({
    type: "string[] = [] reduce append",
    text: `load(word, at) for word, at in ${a} if at < 9 into %`,
    takesPolicies: true,
  })),
  list.map((a) => ({ type: "string[] = [] reduce append", text: `${a} into set %`, takesPolicies: false })),
  string.map((a) => ({ type: "Verdict", text: `receive(${a}) into % { within 3d }`, takesPolicies: false })),
  int.map((a) => ({ type: "int", text: `${a} into %`, takesPolicies: false })),
  string.map((a) => ({ type: "string", text: `${a} into %`, takesPolicies: false })),
  list.map((a) => ({ type: "string[]", text: `${a} into %`, takesPolicies: false })),
  flag.map((a) => ({ type: "bool", text: `${a} into %`, takesPolicies: false })),
  string.map((a) => ({ type: "Note", text: `{ text: ${a}, weight: best, tags: words } into %`, takesPolicies: false })),
  string.map((a) => ({ type: '"yes" | "no"', text: `ask(${a}) into %`, takesPolicies: false })),
  string.map((a) => ({ type: "string", text: `print(${a})`, takesPolicies: false })),
  fc.constant({ type: "string", text: "sleep(20ms)", takesPolicies: false }),
);

const doc = fc.constantFrom("", "  /// What it does: this.\n", "  /// One\n  ///\n  /// two.\n");

/** Stages of one to three nodes; the edges between stages are random, too. */
const graphBody = fc
  .array(fc.array(fc.tuple(call, policies, doc), { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 4 })
  .chain((stages) =>
    fc.record({
      stages: fc.constant(stages),
      links: fc.array(fc.record({ way: fc.nat(6), flag, int }), { minLength: stages.length, maxLength: stages.length }),
      steps: fc.constantFrom(
        "",
        "  limit steps 40\n",
        "  limit steps none\n",
        "  limit tokens 500 limit cost 0.5\n",
        "  max parallel 3\n",
        "  defaults { timeout 1h }\n",
      ),
      ending: fc.constantFrom(
        [],
        ["finally -> tidy -> end"],
        ['finally -> tidy when outcome.status == "failed"', "finally -> end otherwise"],
        ['finally -> match outcome.status { "completed" | "limit" -> end  else -> tidy }'],
        ["finally -> match { outcome.error != null -> tidy, alert  else -> tidy }"],
      ),
    }),
  )
  .map(({ stages, links, steps, ending }) => {
    const channels: string[] = [];
    const nodes: string[] = [];
    const edges: string[] = [];
    let before = ["start"];
    for (const [at, stage] of stages.entries()) {
      const names = stage.map((_, index) => `n${at}_${index}`);
      for (const [index, [{ type, text, takesPolicies }, policy, about]] of stage.entries()) {
        channels.push(`  state c${at}_${index}: ${type}\n`);
        nodes.push(
          `${about}  node ${names[index] ?? ""} = ${text.replace("%", `c${at}_${index}`)}${takesPolicies ? policy : ""}\n`,
        );
      }
      edges.push(...link(before, names, links[at] ?? { way: 0, flag: "flag", int: "n" }));
      before = names;
    }
    if (before.length > 1) {
      nodes.push("  node finish = print(who)\n");
      edges.push(`${steps.length % 2 === 0 ? "all" : "settled"}(${before.join(", ")}) -> finish`);
      before = ["finish"];
    }
    if (ending.length > 0) {
      nodes.push("  node tidy = print(outcome.error?.message ?? outcome.status)\n");
      edges.push(...ending);
    }
    if (ending.some((edge) => edge.includes("alert"))) nodes.push("  node alert = print(`${outcome.error?.code}`)\n");
    const isCertain = [0, 5].includes(links[0]?.way ?? 0) && links.every(({ way }) => way !== 6);
    const asserts = `  assert once n0_0\n${isCertain ? "  assert eventually n0_0\n" : ""}`;
    return `${CHANNELS}${channels.join("")}${steps}${nodes.join("")}${asserts}${edges.map((edge) => `  ${edge}\n`).join("")}`;
  });

/** All nodes of a stage run after all nodes of the stage before, or none runs. */
function link(
  from: readonly string[],
  to: readonly string[],
  how: { way: number; flag: string; int: string },
): string[] {
  const [only = "", ...others] = from;
  const targets = to.join(", ");
  const source = others.length > 0 ? `all(${from.join(", ")})` : only;
  if (others.length > 0) return [`${source} -> ${targets}`];
  switch (how.way) {
    case 1:
      return [`${only} -> ${targets} when ${how.flag}`, `${only} -> end otherwise`];
    case 2:
      return [`${only} -> match verdict { "send" | "again" -> ${targets}  "drop" -> end }`];
    case 3:
      return [`${only} -> match { (${how.int}) > 3 -> ${targets}  else -> end }`];
    case 4:
      return [`${only} -> match ${how.flag} { true -> ${targets}  false -> end }`];
    case 5:
      return [`/// Why it goes on.\n  ${only} -> ${targets}`];
    case 6:
      return to.length === 1 && only !== "start"
        ? [`${only} -> ${targets}`, `${only} -> ${targets} on error`]
        : [`${only} -> ${targets}`];
    default:
      return [`${only} -> ${targets}`];
  }
}

/** Files of one or two graphs, with declarations. */
export const validFile: fc.Arbitrary<string> = fc
  .tuple(fc.array(graphBody, { minLength: 1, maxLength: 2 }), doc)
  .map(([bodies, about]) => {
    const graphs = bodies.map((body, index) => `${about.replaceAll("  ///", "///")}graph g${index} {\n${body}}\n`);
    return `${HEADER}${graphs.join("")}`;
  });
