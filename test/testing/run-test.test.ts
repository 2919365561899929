/** `test` blocks: binding, and runs on the engine with mocks, answers and a simulated clock. */
import { describe, expect, it, test } from "vitest";
import { memoryHost } from "../../compiler/load/host.ts";
import { compile } from "../../compiler/compile.ts";
import { printResults, resultsDocument, TEST_FORMATS, type TestFormat } from "../../cli/testing/report-tests.ts";
import { runTest, type TestResult } from "../../testing/run-test.ts";
import type { Output } from "../../cli/output/output.ts";

const GRAPH = `
graph support {
  input  ticket: string
  input  rounds_max: int = 3
  output reply: string
  state  score: float = 0
  state  notes: string[] = [] reduce append
  state  verdict: "send" | "again"

  node search = shell("search") into { stdout: found }  { timeout 5s }
  state found: string
  node draft  = llm(prompt: ticket) into { reply, score }
  node note   = [reply ?? ""] into notes
  node rest   = sleep(2h)
  node review = ask("Send this?") into verdict
  node rescue = "sorry" into reply

  start -> search -> draft
  search -> rescue on error
  draft -> note
  note -> draft when score < 0.8 && len(notes) < rounds_max
  note -> rest otherwise
  rest -> review
  review -> match verdict { "send" -> end  "again" -> draft }
}
`;

const PASSING = `
test "a reply is written twice" for support {
  given  ticket = "the API answers 500"
  mock   search = { stdout: "docs", stderr: "", code: 0 }
  mock   draft = { reply: "hm", score: 0.1 } then { reply: "restart it", score: 0.9 }
  answer review = "send"
  expect ran search, draft, note, draft, note, rest, review
  expect reply == "restart it"
  expect status completed
}
`;

async function run(tests: string, graph = GRAPH): Promise<TestResult[]> {
  const compiled = compile(`${graph}${tests}`, { path: "support.ngraph" });
  const errors = compiled.diagnostics.filter(({ severity }) => severity === "error");
  expect(errors.map(({ code, message }) => `${code} ${message}`)).toEqual([]);
  return Promise.all(
    compiled.tests.map((test) => {
      const table = compiled.graphs.find(({ bound }) => bound === test.graph)?.table;
      if (table === undefined) throw new Error("the graph has no table");
      return runTest(test, table, () => Promise.resolve({ functions: {} }));
    }),
  );
}

const found = (tests: string): string[] =>
  compile(`${GRAPH}${tests}`).diagnostics.flatMap(({ severity, code, message }) =>
    severity === "error" ? [`${code} ${message}`] : [],
  );

describe("a test", () => {
  it("passes with mocks, answers and a simulated clock", async () => {
    expect(await run(PASSING)).toMatchObject([{ ok: true, status: "completed", failures: [] }]);
  });

  it("compares the order of two nodes", async () => {
    const graph =
      "graph g { input o: int = 1  node a = 1  node b = 2  node c = 3  node d = fail(`no`)  start -> a, b  all(a, b) -> c  c -> d when o > 5  c -> end otherwise }\n";
    const orders = ["a, c", "c, b", "a, b", "a, d"].map((pair) => `test "${pair}" for g { expect before(${pair}) }`);
    const results = await run(orders.join("\n"), graph);
    expect(results.map(({ failures }) => failures.map(({ message }) => message))).toEqual([
      [],
      ["`c` ran after `b`"],
      ["`a` and `b` ran in the same step"],
      ["`d` did not run"],
    ]);
    expect(results[1]?.failures[0]?.details).toEqual(["ran       [a, b] → c"]);
  });

  const ORDER = `
graph order {
  output text: string
  state  booking: string
  state  verdict: "yes" | "no"
  state  time: string
  node book    = shell("book") into { stdout: booking }  { undo shell("unbook", booking)  timeout 1h }
  node approve = ask("Book it?") into verdict
  node pickup  = receive("picked_up") into time
  node arrive  = receive("order.arrived") into time
  node done    = time into text
  node refuse  = "refused" into text
  start -> book -> approve -> match verdict { "yes" -> pickup  "no" -> refuse }
  pickup -> arrive -> done
  refuse -> rollback
}
`;
  const BOOKED = `mock book = { stdout: "b", stderr: "", code: 0 }`;
  /** The failures of a test with these lines. */
  const failuresOf = async (lines: string): Promise<(readonly string[])[] | undefined> => {
    const [result] = await run(`test "t" for order { ${lines} }`, ORDER);
    return result?.failures.map(({ message, details }) => [message, ...details]);
  };

  it.each([
    [
      "sends signals",
      `${BOOKED} answer approve = "yes" signal picked_up = "14" signal "order.arrived" = "15" expect text == "15"`,
    ],
    ["takes the time of a mock", `${BOOKED} after 30m expect paused at approve`],
    ["takes a year at once", `${BOOKED} after 364d expect fails with NG_NODE_TIMEOUT`],
    [
      "stops a mock at the timeout",
      `${BOOKED} after 2h expect fails with NG_NODE_TIMEOUT expect never ran approve, done`,
    ],
    ["fails after a time", `mock book fails "no" after 30m expect fails with NG_NODE_FAILED`],
    ["names a pause", `${BOOKED} answer approve = "yes" expect paused at pickup expect never ran refuse`],
    ["names undone results", `${BOOKED} answer approve = "no" expect undone book`],
  ])("%s", async (_, lines) => expect(await failuresOf(lines)).toEqual([]));

  it.each([
    [
      `${BOOKED} answer approve = "yes" expect paused at approve`,
      [
        "expected a pause at `approve`, and the run ended with status paused",
        "ran       book → approve",
        "`pickup` waits for a signal: add `signal picked_up = …`",
      ],
    ],
    [
      `${BOOKED} answer approve = "yes" signal picked_up = "14" expect status completed`,
      [
        "expected status completed, and the run ended with status paused",
        '`arrive` waits for a signal: add `signal "order.arrived" = …`',
      ],
    ],
    [
      `${BOOKED} expect fails with NG_NODE_FAILED`,
      ["expected error NG_NODE_FAILED, and the run ended with status paused", "ran       book"],
    ],
    [
      `mock book fails "no" expect fails with NG_NODE_TIMEOUT`,
      [
        "expected error NG_NODE_TIMEOUT, and the run failed: node `book` failed: no (NG_NODE_FAILED)",
        "ran       nothing",
      ],
    ],
    [
      `${BOOKED} expect status paused expect never ran done, book`,
      ["expected that `book` never runs", "ran       book", "first difference in step 0: `book` ran"],
    ],
    [
      `${BOOKED} expect undone book`,
      [
        "the run undid other results",
        "expected  book",
        "undone    nothing",
        "first difference in undo 1: expected book, undone nothing",
        "ran       book",
      ],
    ],
  ])("%s", async (lines, failure) => expect(await failuresOf(lines)).toEqual([failure]));

  it.each([
    [`signal picked = "x"`, "NG101 unknown signal `picked`"],
    [`signal picked_up = 3`, "NG408 the value of signal `picked_up` does not accept this value"],
    [`signal picked_up = "a" signal "picked_up" = "b"`, "NG102 the field `picked_up` is given twice"],
    [`expect paused at book`, "NG508 no run pauses at `book`"],
    [`expect paused at boook`, "NG101 unknown node `boook`"],
    [`expect fails with NG_NODE_TIMOUT`, "NG508 a run has no error `NG_NODE_TIMOUT`"],
    [`expect undone approve`, "NG508 no rollback undoes `approve`"],
    [`expect never ran bok`, "NG101 unknown node `bok`"],
  ])("reports %s", (line, message) => {
    const { diagnostics } = compile(`${ORDER}test "t" for order { ${line} }`);
    const errors = diagnostics.filter(({ severity }) => severity === "error");
    expect(errors.map((each) => `${each.code} ${each.message}`)).toEqual([message]);
  });

  it("names the channels of a condition without a value", async () => {
    const [result] = await run(
      'test "t" for g {\n  mock a fails "no"\n  expect status failed\n  expect len(o) == 1\n}',
      "graph g { output first: int = 1  output o: string[]  node a = [`x`] into o  start -> a }\n",
    );
    expect(result?.failures.map(({ message }) => message)).toEqual([
      "expect len(o) == 1 has no value: expected a string, a list or a map, found null in `len(o)`",
    ]);
  });

  it("shows the expected path beside the path of the run", async () => {
    const [result] = await run(PASSING.replace("ran search, draft, note, draft", "ran search, draft, note, note"));
    expect(result?.failures).toEqual([
      {
        message: "the run took another path",
        line: expect.any(Number) as number,
        column: 3,
        details: [
          "expected  search → draft → note → note → note → rest → review",
          "ran       search → draft → note → draft → note → rest → review",
          "first difference in step 3: expected note, ran draft",
        ],
      },
    ]);
  });

  it("shows the values of a condition that does not hold", async () => {
    const [result] = await run(PASSING.replace('reply == "restart it"', 'reply == "no"'));
    expect(result?.failures).toMatchObject([
      { message: 'not satisfied: expect reply == "no"', details: ['reply is "restart it"'] },
    ]);
  });

  it("fails if the run does not complete and no status is expected", async () => {
    const [paused] = await run(PASSING.replace('answer review = "send"', "").replace("expect status completed", ""));
    expect(paused).toMatchObject({ ok: false, status: "paused" });
    expect(paused?.failures[0]?.details).toEqual(["`review` waits for an answer: add `answer review = …`"]);
  });

  it("follows the error route of a mock that fails", async () => {
    const test = `test "t" for support {
      given ticket = "x"
      mock search fails "no network"
      expect ran search, rescue
      expect reply == "sorry" && len(notes) == 0
    }`;
    expect(await run(test)).toMatchObject([{ ok: true, failures: [] }]);
  });

  it("runs no commands, requests or models without a mock", async () => {
    const graph = `graph g { output o: json  node a = http("http://127.0.0.1:9/") { timeout 1s }  start -> a }\n`;
    const [result] = await run(`test "t" for g { expect status failed }\ntest "u" for g { expect ran a }`, graph);
    expect(result?.ok).toBe(true);
    const [, second] = await run(`test "t" for g { expect status failed }\ntest "u" for g { expect ran a }`, graph);
    expect(second?.failures[0]?.message).toContain("a test does not run `http`");
    const files = `graph g { output o: string  node a = file(read: "package.json")  start -> a }\n`;
    const [third] = await run(`test "t" for g { expect status completed }`, files);
    expect(third?.failures[0]?.message).toContain("a test does not run `file`");
  });

  it("fails if the run cannot start", async () => {
    const [result] = await run(`test "t" for support { expect status completed }`);
    expect(result).toMatchObject({ ok: false, status: null });
    expect(result?.failures[0]?.message).toContain("the run did not start");
  });

  // Timers that a due timer started began further chains of turns, whose number doubled: the test never ended.
  it("ends at the limit of a loop", async () => {
    const source = `
graph loop {
  input bound: int
  output n: int = 0
  node count = n + 1 into n
  start -> count
  count -> end when n > bound
  count -> count otherwise
}
test "a loop ends at its limit" for loop { given bound = 1000  expect status limit  expect n == 100 }
`;
    const { tests, graphs } = compile(source, { path: "loop.ngraph" });
    const [only] = tests;
    const table = graphs[0]?.table;
    if (only === undefined || table === undefined) throw new Error("no test");
    expect(await runTest(only, table, () => Promise.resolve({}))).toMatchObject({ ok: true, status: "limit" });
  });
});

test("the fix of a misspelt graph of a test names the graph", () => {
  const graph = "graph support { node a = print(1)  start -> a }\n";
  const { diagnostics } = compile(`${graph}test "t" for suport { expect status completed }`, { path: "g.ngraph" });
  const found = diagnostics.find(({ code }) => code === "NG105");
  expect(found?.help).toBe("a graph with a similar name exists: `support`");
  expect(found?.fixes[0]?.edits[0]?.text).toBe("support");
});

describe("the names and values of a test", () => {
  it.each([
    [`test "t" for suport { expect status completed }`, "NG105 unknown graph `suport`"],
    [`test "t" for support { given nothing = 1 }`, "NG104 unknown channel `nothing`"],
    [`test "t" for support { given score = 1 }`, "NG104 unknown channel `score`"],
    [`test "t" for support { given ticket = 1 }`, "NG408 input `ticket` does not accept this value"],
    [`test "t" for support { given ticket = ticket }`, "NG408 input `ticket` is not a constant"],
    [`test "t" for support { mock drft = 1 }`, "NG101 unknown node `drft`"],
    [`test "t" for support { mock note = 1 }`, "NG408 the mock of `note` does not accept this value"],
    [`test "t" for support { expect ran drft }`, "NG101 unknown node `drft`"],
    [`test "t" for support { expect status done }`, "NG508 a run has no status `done`"],
    [`test "t" for support { expect before(drft, note) }`, "NG101 unknown node `drft`"],
    [`test "t" for support { expect before(draft) }`, "NG508 `before` compares two nodes"],
    [`test "t" for support { expect before(draft, "note") }`, "NG508 `before` compares two nodes"],
    [`test "t" for support { expect replied == 1 }`, "NG104 unknown channel `replied`"],
  ])("%s", (test, message) => expect(found(test)).toEqual([message]));

  it("refuses a test of an imported graph", () => {
    const text = `import { support } from "./support.ngraph"\n${PASSING}`;
    const { diagnostics, tests } = compile(text, { path: "t.ngraph", host: memoryHost({ "support.ngraph": GRAPH }) });
    const errors = diagnostics.filter(({ severity }) => severity === "error");
    expect(errors.map(({ code, message }) => `${code} ${message}`)).toEqual([
      "NG117 a test of an imported graph is not supported",
    ]);
    expect(tests).toEqual([]);
  });

  it("refuses a second mock of a node", () => {
    expect(found(`test "t" for support { mock rest = null  mock rest = null }`)).toHaveLength(1);
  });
});

describe("cases", () => {
  const ROUTE = `
const more = [{ question: "c", topic: "tech", wanted: "T" }]
graph route {
  input  question: string
  config urgent: bool = false
  output text: string
  state  topic: "pay" | "tech"
  node classify = llm(question) into topic
  node pay  = "P" into text
  node tech = "T" into text
  start -> classify -> match topic { "pay" -> pay  "tech" -> tech }
}
`;
  const LINES = "{ mock classify = topic  expect text == wanted }";
  const errorsOf = (cases: string, lines = LINES): string[] =>
    compile(`${ROUTE}test "t" for route with ${cases} ${lines}`)
      .diagnostics.filter(({ severity }) => severity === "error")
      .map(({ code, message }) => `${code} ${message}`);

  it("are a test each, with their fields as inputs, configuration and constants", async () => {
    const results = await run(
      `test "a topic" for route with [
        { question: "refund", topic: "pay", wanted: "P", urgent: true },
        { question: "crash", topic: "tech", wanted: "P", urgent: false },
      ] { mock classify = topic  expect text == wanted  expect urgent == (question == "refund") }`,
      ROUTE,
    );
    expect(results.map(({ title, ok, line, column }) => ({ title, ok, line, column }))).toEqual([
      { title: "a topic (case 1)", ok: true, line: 14, column: 9 },
      { title: "a topic (case 2)", ok: false, line: 15, column: 9 },
    ]);
    const [, second] = results;
    expect(second?.case).toEqual({
      number: 2,
      of: 2,
      values: { question: "crash", topic: "tech", wanted: "P", urgent: false },
    });
    expect(second?.failures.map(({ message, details }) => [message, ...details])).toEqual([
      [
        "not satisfied: expect text == wanted",
        'case 2    {"question":"crash","topic":"tech","wanted":"P","urgent":false}',
        'text is "T"',
      ],
    ]);
  });

  it.each([
    ["more", 1],
    ['[...more, { ...more[0]!, question: "d" }]', 2],
    ['[{ question: q, topic: "pay", wanted: "P" } for q in ["a", "b", "c"]]', 3],
  ])("are an expression of constants: %s", async (cases, count) => {
    const results = await run(`test "t" for route with ${cases} ${LINES}`, ROUTE);
    expect(results.map(({ ok }) => ok)).toEqual(Array(count).fill(true));
  });

  it.each([
    ["[]", "NG508 the test has no cases, so it never runs"],
    ["3", "NG508 `with` takes a list of cases"],
    ['{ question: "a" }', "NG508 `with` takes a list of cases"],
    ["[1]", "NG508 case 1 is no record"],
    ["morre", "NG408 `morre` is not a constant"],
    ["[{ question: topic }]", "NG408 `topic` is not a constant"],
    ['[{ question: "a", question: "b", topic: "pay", wanted: "P" }]', "NG102 the field `question` is given twice"],
    ['[{ question: 1, topic: "pay", wanted: "P" }]', "NG408 input `question` does not accept this value"],
    ['[{ question: "a", topic: "pya", wanted: "P" }]', "NG408 the mock of `classify` does not accept this value"],
    ['[{ questoin: "a", topic: "pay", wanted: "P" }]', "NG508 nothing uses the field `questoin` of the cases"],
    ['[{ question: "a", topic: "pay", wanted: "P", text: "P" }]', "NG508 nothing uses the field `text` of the cases"],
    [
      '[{ question: "a", topic: "pay", wanted: "P" }, { question: "b", topic: "pay" }]',
      "NG508 case 2 has no field `wanted`",
    ],
    ['[{ question: "a", topic: "pay" } for i in range(1001)]', "NG508 a test has at most 1000 cases"],
    ['[{ __proto__: "a", topic: "pay", wanted: "P" }]', "NG508 nothing uses the field `__proto__` of the cases"],
  ])("refuse %s", (cases, message) => expect(errorsOf(cases)).toEqual([message]));

  it("report what is wrong in a line once", () => {
    const cases = '[{ question: "a", topic: "pay" }, { question: "b", topic: "tech" }]';
    expect(errorsOf(cases, "{ mock classify = topic  expect ran clasify }")).toEqual(["NG101 unknown node `clasify`"]);
    expect(errorsOf(cases, '{ given question = "c"  mock classify = topic }')).toEqual([
      "NG102 the field `question` is given twice",
    ]);
  });

  it("point at the value of a case", () => {
    const text = `${ROUTE}test "t" for route with [{ question: "a", topic: "pya", wanted: "P" }] ${LINES}`;
    const found = compile(text).diagnostics.find(({ severity }) => severity === "error");
    expect(text.slice(found?.span.start, found?.span.end)).toBe('"pya"');
  });
});

describe("reports", () => {
  async function print(
    format: TestFormat,
    more = PASSING.replace('reply == "restart it"', "score < 0.5"),
  ): Promise<string> {
    const results = await run(`${PASSING}${more}`);
    const lines: string[] = [];
    const add = (text: string): void => void lines.push(text);
    const plain = (text: string): string => text;
    const output = { result: add, verbatim: add, note: add, stdoutStyles: { error: plain } } as unknown as Output;
    printResults(results, format, output);
    return lines.join("\n");
  }
  it.each([
    ["text", /ok {6}a reply.*\nFAILED {2}a reply[^]*score is 0\.9[^]*1 of 2 tests passed/],
    ["tap", /^TAP version 13\n1\.\.2\nok 1 - a reply[^]*not ok 2 - a reply[^]*# score is 0\.9/],
    ["junit", /tests="2" failures="1"[^]*not satisfied: expect score &lt; 0\.5[^]*<\/testsuite>$/],
    ["github", /^::error file=support\.ngraph,line=\d+,col=3,title=a reply is written twice::not satisfied/],
  ] as const)("%s", async (format, expected) => expect(await print(format)).toMatch(expected));

  it.each(TEST_FORMATS)(
    "%s shows no control character of a title or a value, and titles in one line",
    async (format) => {
      const title = 'test "\\u001b[31m\\n::error::\\u202eb"';
      const text = await print(
        format,
        PASSING.replace(/test "[^"]*"/, title).replace('reply == "restart it"', 'reply == "\\u001b]0;x\\u0007"'),
      );
      // oxlint-disable-next-line no-control-regex -- what terminals act on
      expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
      expect(text).not.toMatch(/^::error::/m);
      expect(text).toContain(format === "junit" ? 'failures="1"' : "31m");
    },
  );

  it("counts tests in the document of --json", async () => {
    expect(resultsDocument(await run(PASSING))).toMatchObject({ version: 1, ok: true, passed: 1, failed: 0 });
  });
});
