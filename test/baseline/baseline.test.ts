import { describe, expect, test } from "vitest";
import { compile, type Diagnostic, type Table } from "../../compiler/index.ts";
import { createEngine, MemoryStore } from "../../runtime/index.ts";
import { builtinNodes } from "../../stdlib/builtin-nodes.ts";

/** Pauses at `hold` with `left` in the barrier of `join`, and values in all channels. */
const OLD = `type Note = { text: string, stars?: int }
graph flow {
  input  name: string
  output text: string
  state  note: Note
  state  tone: "good" | "bad"
  state  count: int = 0
  memory seen: string[] reduce append

  node left  = { text: name, stars: 3 } into note
  node slow  = count + 1 into count
  node mood  = "good" into tone
  node hold  = ask("go on?") into text
  node join  = name into seen
  node log   = name into seen

  start -> left, slow, log
  slow -> mood -> hold
  all(left, hold) -> join -> end
}
`;

const tableOf = (text: string): Table => {
  const { table, diagnostics } = compile(text);
  if (table?.kind !== "graph") throw new Error(diagnostics.map((item) => `${item.code} ${item.message}`).join("\n"));
  return table;
};

function breaking(old: string, now: string): readonly Diagnostic[] {
  const baseline = compile(old).tables;
  const { diagnostics } = compile(now, { baseline });
  expect(diagnostics.filter((item) => item.severity === "error").map((item) => item.message)).toEqual([]);
  return diagnostics.filter((item) => item.code === "NG610");
}

/** Whether a thread that waits under the old graph can resume under the new one. */
async function resumes(old: string, now: string): Promise<boolean> {
  const store = new MemoryStore();
  const paused = await createEngine(tableOf(old), { builtins: builtinNodes, store }).run(
    { name: "Ada" },
    { thread: "1" },
  );
  expect(paused.status).toBe("paused");
  try {
    const engine = createEngine(tableOf(now), { builtins: builtinNodes, store });
    await engine.resume("1", { answer: "yes" });
    return true;
  } catch (error) {
    expect(error).toMatchObject({ code: "NG_DRIFT" });
    return false;
  }
}

const EDITS: readonly (readonly [what: string, edit: (text: string) => string, found: readonly RegExp[]])[] = [
  ["nothing", (text) => text, []],
  [
    "a comment and the order of channels",
    (text) => `// new\n${text.replace(/( {2}state {2}note: Note\n)(.*\n)/, "$2$1")}`,
    [],
  ],
  [
    "one more node and channel",
    (text) =>
      text.replace("  start ->", "  state more: int = 0\n  node extra = 1 into more\n  join -> extra\n  start ->"),
    [],
  ],
  [
    "other edges",
    (text) =>
      text.replace("slow -> mood -> hold", "slow -> mood when count > 5\n  slow -> hold otherwise\n  mood -> hold"),
    [],
  ],
  [
    "a wider type",
    (text) => text.replace('"good" | "bad"', '"good" | "bad" | "none"').replace("count: int", "count: float"),
    [],
  ],
  ["one more optional field", (text) => text.replace("stars?: int", "stars?: int, by?: string"), []],
  ["a type under another name", (text) => text.replaceAll("Note", "Remark"), []],
  ["a member more", (text) => text.replace("all(left, hold)", "all(left, hold, mood)"), []],
  ["a renamed node", (text) => text.replaceAll("hold", "held"), [/node `hold` is gone/]],
  [
    "a channel gone",
    (text) => text.replace(/.*memory.*\n/, "").replaceAll(" into seen", ""),
    [/channel `seen` is gone/],
  ],
  [
    "a narrower enum",
    (text) => text.replace('"good" | "bad"', '"bad"').replace('= "good"', '= "bad"'),
    [/channel `tone` was/],
  ],
  [
    "another type",
    (text) =>
      text
        .replace("seen: string[]", "seen: int[]")
        .replaceAll("= name into seen", "= 1 into seen")
        .replace("memory", "state"),
    [/channel `seen` was `string\[\]` and is `int\[\]`/],
  ],
  [
    "a field that was optional",
    (text) =>
      text
        .replace("stars?: int", "stars: int")
        .replace("stars: 3", "stars: 4")
        .replace("{ text: string, stars: int }", "{ text: string, stars: int, by: string }")
        .replace("stars: 4 }", 'stars: 4, by: "me" }'),
    [/channel `note` was/],
  ],
  [
    "a renamed node, barrier and channel that name what they were",
    (text) =>
      text
        .replaceAll("hold", "held")
        .replaceAll("join", "meet")
        .replaceAll("seen", "known")
        .replace("into text\n", "into text { was hold }\n")
        .replace("node meet  = name into known", "node meet  = name into known { was join }")
        .replace("reduce append", "reduce append was seen"),
    [],
  ],
  ["a renamed graph that names what it was", (text) => text.replace("graph flow", "graph flows was flow"), []],
  [
    "a channel that is dropped",
    (text) => text.replace(/.*memory.*\n/, "  drop seen\n").replaceAll(" into seen", ""),
    [],
  ],
  [
    "another reducer",
    (text) => text.replace("count: int = 0", "count: int = 0 reduce sum"),
    [/the reducer of channel `count` was none and is sum/],
  ],
  [
    "a new input, and a new channel that no type lets be null",
    (text) => text.replace("  state  note", "  input  who: string\n  state  extra: string\n  state  note"),
    [/input `who` is new/, /state `extra` is new/],
  ],
  ["a barrier that becomes `settled`", (text) => text.replace("all(left", "settled(left"), []],
  [
    "`settled`, and a member less",
    (text) => text.replace("all(left, hold) -> join", "left -> end\n  settled(mood, hold) -> join"),
    [/`left` no longer belongs to the barrier in front of `join`/],
  ],
  [
    "no barrier any more",
    (text) => text.replace("all(left, hold) -> join -> end", "left -> end\n  hold -> join -> end"),
    [/barrier of `left`, `hold` in front of `join` is gone/],
  ],
  [
    "a member less",
    (text) => text.replace("all(left, hold) -> join", "left -> end\n  all(mood, hold) -> join"),
    [/`left` no longer belongs to the barrier in front of `join`/],
  ],
];

describe.each(EDITS)("%s", (_, edit, found) => {
  const now = edit(OLD);
  test(found.length === 0 ? "is compatible" : "is reported, with place and way out", () => {
    const reported = breaking(OLD, now);
    expect(reported.map((item) => item.message)).toEqual(found.map((pattern) => expect.stringMatching(pattern)));
    for (const item of reported) {
      expect(item.severity).toBe("warning");
      expect(item.span.end).toBeGreaterThan(item.span.start);
      expect(item.help).toBeTruthy();
    }
  });
  test("a resume agrees (5.7)", async () => {
    expect(await resumes(OLD, now)).toBe(found.length === 0);
  });
});

test("the edits change what they say", () => {
  for (const [what, edit] of EDITS.slice(1)) expect([what, edit(OLD)]).not.toEqual([what, OLD]);
});

test("a fix declares what an edit has renamed or removed", () => {
  const cases: readonly (readonly [edit: string, fixes: readonly string[]])[] = [
    [OLD.replaceAll("hold", "held"), ["add `was hold`"]],
    [
      OLD.replace("seen: string[] reduce append", "known: string[] reduce append").replaceAll(
        "into seen",
        "into known",
      ),
      ["add `was seen`"],
    ],
    [OLD.replace(/.*memory.*\n/, "").replaceAll(" into seen", ""), ["add `drop seen`"]],
    [OLD.replace("graph flow", "graph flows"), ["add `was flow`"]],
  ];
  for (const [now, titles] of cases) {
    const fixes = breaking(OLD, now).flatMap((item) => item.fixes);
    expect(fixes.map(({ title }) => title)).toEqual(titles);
    const edits = fixes.flatMap((fix) => fix.edits).sort((a, b) => b.span.start - a.span.start);
    let fixed = now;
    for (const { span, text } of edits) fixed = fixed.slice(0, span.start) + text + fixed.slice(span.end);
    expect(breaking(OLD, fixed)).toEqual([]);
  }
});

test("no fix drops a channel that one of the new channels may continue", () => {
  const now = OLD.replace(/(.*)memory.*\n/, "$1state told: string[]\n$1state lines: string[]\n");
  const found = breaking(OLD, now.replaceAll(" into seen", "")).find(({ message }) => message.includes("seen"));
  expect(found?.message).toContain("channel `seen` is gone");
  expect(found?.help).toMatch(/`drop seen`.*`was seen`/);
  expect(found?.fixes).toEqual([]);
});

test("a graph that is gone is reported once, with the one that took its place", () => {
  const [found, ...others] = breaking(OLD, OLD.replace("graph flow", "graph flows"));
  expect(others).toEqual([]);
  expect(found?.message).toContain("graph `flow` is gone");
  expect(found?.help).toContain("`flows`");
});

test("called graphs are compared too, once", () => {
  const caller = `graph inner { output n: int  node one = ask("n?") into n  start -> one -> end }
graph outer { output n: int  output m: int  node a = inner() into { n: n }  node b = inner() into { n: m }  start -> a, b  any(a, b) -> end }
`;
  const found = breaking(caller, caller.replace("node one", "node uno").replace("-> one", "-> uno"));
  expect(found.map((item) => item.message)).toEqual([expect.stringContaining("node `one` is gone")]);
});

test("recursive types fit themselves, and no others", () => {
  const text = (field: string): string =>
    `type Tree = { value: ${field}, kids: Tree[] }\ngraph g { input tree: Tree  output n: int  node one = len(tree.kids) into n  start -> one -> end }`;
  expect(breaking(text("int"), text("int").replace("g {", "g { /* same */"))).toEqual([]);
  expect(breaking(text("int"), text("float"))).toEqual([]);
  expect(breaking(text("float"), text("int")).map((item) => item.message)).toEqual([
    expect.stringContaining("channel `tree` was"),
  ]);
});

test("a suppression with its reason silences it, and is not unused without a baseline", () => {
  const now = OLD.replaceAll("hold", "held").replace(
    "graph flow",
    "// ngraph-ignore NG610: no thread is left\ngraph flow",
  );
  expect(breaking(OLD, now)).toEqual([]);
  expect(compile(now).diagnostics.filter((item) => item.code === "NG119")).toEqual([]);
});
