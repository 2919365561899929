import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { exportAmazonStates } from "../../cli/export/amazon-states.ts";
import { ExportError } from "../../cli/export/losses.ts";
import { check } from "../../api/index.ts";
import { memoryHost } from "../../compiler/load/host.ts";
import { importText } from "../../importers/index.ts";
import { numRuns } from "../support/depth.ts";
import { VALID_FILE_NODES, validFile } from "../support/valid-file-arbitrary.ts";
import { boundGraph } from "./bound.ts";

interface State {
  readonly Type: string;
  readonly Next?: string;
  readonly Default?: string;
  readonly Choices?: readonly { readonly Next: string }[];
  readonly Catch?: readonly { readonly Next: string }[];
  readonly Branches?: readonly Machine[];
  readonly ItemProcessor?: Machine;
  readonly [field: string]: unknown;
}
interface Machine {
  readonly StartAt: string;
  readonly States: Readonly<Record<string, State>>;
}

const HEAD = 'import { a, b, c, route } from "./nodes.ts"\n';
const machineOf = async (text: string): Promise<Machine> =>
  JSON.parse(exportAmazonStates(await boundGraph(HEAD + text)).text) as Machine;

/** Every state that is named exists, every state is reachable, and names are unique in the whole machine. */
function expectWellFormed(machine: Machine, names = new Set<string>()): void {
  const reached = new Set<string>();
  const open = [machine.StartAt];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (reached.has(name)) continue;
    reached.add(name);
    const state = machine.States[name];
    expect(state, name).toBeDefined();
    expect(name.length).toBeLessThanOrEqual(80);
    expect(names.has(name), name).toBe(false);
    names.add(name);
    const { Type, Next, Default, Choices = [], Catch = [], Branches = [], ItemProcessor } = state!;
    if (!["Choice", "Succeed", "Fail"].includes(Type) && state!["End"] !== true) expect(Next, name).toBeDefined();
    for (const next of [Next, Default, ...Choices.map((each) => each.Next), ...Catch.map((each) => each.Next)])
      if (next !== undefined) open.push(next);
    for (const inner of [...Branches, ...(ItemProcessor === undefined ? [] : [ItemProcessor])])
      expectWellFormed(inner, names);
  }
  const unreached = Object.keys(machine.States).filter((name) => !reached.has(name));
  // A graph whose every run fails has no way to its end.
  expect(unreached.every((name) => name.startsWith("end of "))).toBe(true);
}

test("channels are variables, and nodes are states", async () => {
  const machine = await machineOf(`/// Answers.
graph g {
  input q: string
  input most: int = 3
  output reply: string = ""
  output notes: json[] reduce append
  state n: int = 0 reduce sum
  node one = a({ q, most }) into { reply, notes? } { tries 3 backoff 1s..8s  timeout 10s }
  node two = n + 1 into n
  node wait = sleep(2m)
  node give_up = fail("no \`answer\`")
  start -> one -> two
  one -> wait on error
  wait -> give_up -> end
  two -> match { n > 3 && q != "x" -> give_up  !(n == 2) -> one  else -> end }
}
`);
  expect(machine).toEqual({
    Comment: "Answers.",
    QueryLanguage: "JSONata",
    StartAt: "start of g",
    States: {
      "start of g": {
        Type: "Pass",
        Assign: {
          q: "{% $states.input.q %}",
          most: "{% $exists($states.input.most) ? $states.input.most : 3 %}",
          reply: "",
          notes: [],
          n: 0,
        },
        Next: "one",
      },
      one: {
        Type: "Task",
        Resource: "${a}",
        TimeoutSeconds: 10,
        Arguments: { q: "{% $q %}", most: "{% $most %}" },
        Assign: {
          reply: "{% $states.result.reply %}",
          notes: "{% $exists($states.result.notes) ? $append($notes, $states.result.notes) : $notes %}",
        },
        Retry: [
          { ErrorEquals: ["States.ALL"], MaxAttempts: 2, IntervalSeconds: 1, BackoffRate: 2, MaxDelaySeconds: 8 },
        ],
        Catch: [{ ErrorEquals: ["States.ALL"], Next: "wait" }],
        Next: "two",
      },
      wait: { Type: "Wait", Seconds: 120, Next: "give_up" },
      give_up: { Type: "Fail", Error: "failed", Cause: "no `answer`" },
      two: { Type: "Pass", Assign: { n: "{% $n + ($n + 1) %}" }, Next: "two decides" },
      "two decides": {
        Type: "Choice",
        Choices: [
          { Condition: '{% (($n > 3) and ($q != "x")) %}', Next: "give_up" },
          { Condition: "{% $not(($n = 2)) %}", Next: "one" },
        ],
        Default: "end of g",
      },
      "end of g": { Type: "Succeed", Output: { reply: "{% $reply %}", notes: "{% $notes %}" } },
    },
  });
  expectWellFormed(machine);
});

test("expressions are JSONata: a missing value is null, and no text grows with the depth of `??`", async () => {
  const machine = await machineOf(`type R = { deep?: { name?: string }, tags: string[] }
graph g {
  input r: R
  input s: string = "{% x %}"
  state t: string = "{% $error('x') %}"
  state u: string[] = ["a", "{% 1 %}"]
  output o: json = null
  node one = r.deep?.name ?? r.tags[0] ?? "none" into o
  node two = [upper(t) for t in r.tags if t != ""] into o
  node three = { text: \`\${s}: \${r.tags[-1]}\`, n: -len(s), last: [1, "{% 1 %}"] } into o
  node four = contains(s, "x") && !(s in ["a", "b"]) into o
  start -> one -> two -> three -> four -> end
}
`);
  const assigned = (name: string): unknown => machine.States[name]!["Assign"];
  expect(assigned("one")).toEqual({
    o: '{% (($exists($r.deep.name) ? $r.deep.name : null) != null ? ($exists($r.deep.name) ? $r.deep.name : null) : (($exists($r.tags[0]) ? $r.tags[0] : null) != null ? ($exists($r.tags[0]) ? $r.tags[0] : null) : "none")) %}',
  });
  expect(assigned("two")).toEqual({
    o: '{% [$map([$filter($r.tags, function($t) { ($t != "") })], function($t) { $uppercase($t) })] %}',
  });
  expect(assigned("four")).toEqual({ o: '{% ($contains($s, "x") and $not(($s in ["a","b"]))) %}' });
  expect(machine.States["start of g"]!["Assign"]).toMatchObject({
    s: '{% $exists($states.input.s) ? $states.input.s : "{% x %}" %}',
    t: `{% "{% $error('x') %}" %}`,
    u: '{% ["a","{% 1 %}"] %}',
  });
  const deep = `${"(".repeat(40)}r${' ?? "x") + "y"'.repeat(40)}`;
  const bound = await boundGraph(
    `graph g {\n  input r: string | null\n  output o: json = null\n  node one = ${deep} into o\n  start -> one -> end\n}\n`,
  );
  expect(() => exportAmazonStates(bound)).toThrow("more than 20000 characters");
});

test("branches are a Parallel, called graphs too, and items a Map", async () => {
  const machine = await machineOf(`graph inner {
  input x: json
  output y: json = null
  node deep = a(x) into y
  start -> deep -> end
}
graph g {
  input xs: json[]
  output notes: json[] reduce append
  output y: json = null
  output left: json = null
  node one = b(1) into { notes, left }
  node two = c("s") into notes
  node three = b(left) into left
  node sub = inner(x: xs) into { y }
  node each_one = a(item, at) for item, at in xs into notes { max parallel 4 }
  start -> one, two
  one -> three
  all(two, three) -> sub, each_one
  all(sub, each_one) -> end
}
`);
  expectWellFormed(machine);
  const first = machine.States["one and two"]!;
  expect(first).toMatchObject({
    Type: "Parallel",
    Next: "sub and each_one",
    Assign: {
      notes: "{% $append($append($notes, $states.result[0].notes), $states.result[1].notes) %}",
      left: "{% $states.result[0].left %}",
    },
  });
  expect(first.Branches![0]!.States["one"]).toMatchObject({
    Assign: {
      notes_1: "{% $append($notes_1, $states.result.notes) %}",
      left_1: "{% $states.result.left %}",
    },
    Next: "three",
  });
  const second = machine.States["sub and each_one"]!;
  expect(second.Branches![0]!.States["sub"]).toMatchObject({
    Type: "Parallel",
    Arguments: { x: "{% $xs %}" },
    Assign: { y_1: "{% $states.result[0].y %}" },
  });
  expect(second.Branches![1]!.States["each_one"]).toMatchObject({
    Type: "Map",
    Items: "{% $xs %}",
    MaxConcurrency: 4,
    ItemSelector: {
      arguments: ["{% $states.context.Map.Item.Value %}", "{% $states.context.Map.Item.Index %}"],
    },
    ItemProcessor: { States: { "each_one item": { Arguments: "{% $states.input %}", End: true } } },
  });
});

test("conditions that exclude each other are one Choice, and a function in a condition is a Task before it", async () => {
  const { States } = await machineOf(`graph g {
  input s: string
  node one = a(s)
  node two = b(s)
  node three = c(s)
  start -> one when s == "x"
  start -> two when s == "y" && !(s == "x")
  one -> match route(s) { 1 -> two  else -> three }
}
`);
  expect(States["start decides"]).toMatchObject({
    Type: "Choice",
    Choices: [
      { Condition: '{% ($s = "x") %}', Next: "one" },
      { Condition: '{% (($s = "y") and $not(($s = "x"))) %}', Next: "two" },
    ],
    Default: "end of g",
  });
  expect(States["one"]!.Next).toBe("route");
  expect(States["route"]).toEqual({
    Type: "Task",
    Resource: "${route}",
    Arguments: { arguments: ["{% $s %}"] },
    Assign: { route_result: "{% $states.result %}" },
    Next: "one decides",
  });
  expect(States["one decides"]!.Choices).toEqual([{ Condition: "{% $route_result = 1 %}", Next: "two" }]);
});

describe("what a state machine cannot say is refused, with a place and a way out", () => {
  const refusals: Readonly<Record<string, readonly [body: string, message: string]>> = {
    "branches that meet without a barrier": ["start -> one, two  one -> three  two -> three", "both lead to `three`"],
    "a barrier of parts of the branches": ["start -> one, two, three  all(one, two) -> four", "not one of each branch"],
    "several conditions": ['start -> one when s == "x"  start -> two when s != "y"', "can hold at once"],
    "a condition beside an edge": ['start -> one  one -> two  one -> three when s == "x"', "stands beside"],
    "a function that is not always called": [
      'start -> match { s == "x" && route(s) == 1 -> one  else -> two }',
      "imported function",
    ],
    settled: ["start -> one, two  settled(one, two) -> three", "`settled`"],
    rollback: ["start -> one  one -> rollback", "`rollback`"],
    finally: ["start -> one  finally -> two", "`finally`"],
    "two writers": ["start -> one, w1, w2", "several branches write `o`"],
    "a reader of another branch": ["start -> one, w1  one -> r", "reads `o`"],
    "conditions of errors that can hold at once": [
      'start -> one  one -> two on error when error.name == "X"  one -> three on error when error.message == "Y"',
      "several error edges",
    ],
    "a field of an error that a machine does not know": [
      "start -> one  one -> two on error when error.status == 429",
      "`error.status`",
    ],
    "a pause": ["start -> paused", "`pause before`"],
  };
  test.each(Object.entries(refusals))("%s", async (_, [edges, message]) => {
    const bound = await boundGraph(`${HEAD}
graph g {
  input s: string
  output o: json = null
  node one = a(s)
  node two = a(s)
  node three = a(s)
  node four = a(s)
  node w1 = a(s) into o
  node w2 = a(s) into o
  node r = a(o)
  node paused = a(s) { pause before }
  ${edges}
}
`);
    let found: unknown;
    try {
      exportAmazonStates(bound);
    } catch (error) {
      found = error;
    }
    expect(found).toBeInstanceOf(ExportError);
    const { message: said, help, span } = found as ExportError;
    expect(said).toContain(message);
    expect(help).not.toBe("");
    expect(span.end).toBeGreaterThan(span.start);
  });
});

const node = fc.record({
  call: fc.constantFrom("a({ x })", "b(x, 3)", "c(i) for i in log", "x", "sleep(2s)", "inner(x: x)"),
  policy: fc.constantFrom("", " { tries 2 backoff 1s..4s }", " { timeout 5s }"),
});
/** Stages of one to three nodes that meet in barriers, with a choice or a loop between single nodes. */
const sayable = fc
  .record({
    stages: fc.array(fc.array(node, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 5 }),
    ways: fc.array(fc.nat(4), { minLength: 5, maxLength: 5 }),
  })
  .map(({ stages, ways }) => {
    const nodes: string[] = [];
    const edges: string[] = [];
    let before = ["start"];
    for (const [at, stage] of stages.entries()) {
      const names = stage.map((_, index) => `n${at}_${index}`);
      for (const [index, { call, policy }] of stage.entries()) {
        const isFunction = /^[abc]\(/.test(call);
        const into = call.startsWith("sleep")
          ? ""
          : call.startsWith("inner")
            ? ` into { y: c${at}_${index} }`
            : ` into ${call.includes(" for ") ? "log" : `c${at}_${index}`}`;
        nodes.push(
          `  state c${at}_${index}: json = null\n  node ${names[index]} = ${call}${into}${isFunction ? policy : ""}`,
        );
      }
      const [only = "", ...more] = before;
      const to = names.join(", ");
      const plain = only === "start" ? 0 : ways[at];
      if (more.length > 0) edges.push(`all(${before.join(", ")}) -> ${to}`);
      else if (plain === 1) edges.push(`${only} -> match { x == 1 -> ${to}  x == 2 -> ${only}  else -> end }`);
      else if (plain === 2) edges.push(`${only} -> ${to} when x != null`);
      else if (plain === 3) edges.push(`${only} -> match x { "p" | "q" -> ${to}  else -> end }`);
      else edges.push(`${only} -> ${to}`);
      before = names;
    }
    return `graph inner {
  input x: json
  output y: json = null
  node deep = a(x) into y
  start -> deep -> end
}
graph g {
  input x: json = 1
  output log: json[] = [] reduce append
${nodes.join("\n")}
${edges.map((edge) => `  ${edge}`).join("\n")}
}
`;
  });

test("random graphs of stages are machines, and come back as graphs without errors", async () => {
  await fc.assert(
    fc.asyncProperty(sayable, async (text) => {
      let machine: Machine;
      try {
        machine = await machineOf(text);
      } catch (error) {
        // A list that a branch reads and another one writes.
        if (error instanceof ExportError && /`log`/.test(error.message)) return;
        throw error;
      }
      expectWellFormed(machine);
      const imported = await importText(JSON.stringify(machine), "g.json", { name: "g", module: "./g.nodes.ts" });
      const { diagnostics } = await check(imported.text, {
        path: "g.ngraph",
        host: memoryHost({ "g.nodes.ts": imported.stubs ?? "" }),
      });
      const wrong = diagnostics.filter(({ severity, code }) => severity === "error" && !code.startsWith("NG3"));
      expect(wrong.map(({ code, message }) => `${code} ${message}`)).toEqual([]);
    }),
    { numRuns: numRuns(200) },
  );
});

test("random graphs are exported as machines that the importer reads, or refused with a place", async () => {
  await fc.assert(
    fc.asyncProperty(validFile, async (text) => {
      const bound = await boundGraph(text, { "nodes.ts": VALID_FILE_NODES });
      try {
        const { text: json } = exportAmazonStates(bound);
        expectWellFormed(JSON.parse(json) as Machine);
        await importText(json, "g.json", { name: "g", module: "./g.nodes.ts" });
      } catch (error) {
        if (!(error instanceof ExportError)) throw error;
        expect(error.file.text.slice(error.span.start, error.span.end)).not.toBe("");
      }
    }),
    { numRuns: numRuns(300) },
  );
});
