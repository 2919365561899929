/** State machines of Amazon States Language: the imported graphs check and run. */
import { describe, expect, test } from "vitest";
import { check, compile, createEngine } from "../../api/index.ts";
import { memoryHost } from "../../compiler/load/host.ts";
import { format } from "../../grammar/index.ts";
import { ImportError, importText } from "../../importers/index.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";

type Functions = Record<string, (...args: never[]) => unknown>;

/** What the stubs contain in full, for paths of plain names. */
const HELPERS: Functions = {
  untyped: (value: unknown) => value,
  at: (value: unknown, path: string) =>
    path
      .split(".")
      .slice(1)
      .reduce<unknown>((found, name) => (found as Record<string, unknown> | null)?.[name] ?? null, value),
  put: (value: Record<string, unknown>, path: string, result: unknown) => ({ ...value, [path.slice(2)]: result }),
  raise: ({ error, cause }: { error: string; cause: string }) => {
    throw Object.assign(new Error(cause), { name: error });
  },
};

async function imported(source: string | object, path = "machine.asl.json") {
  const text = typeof source === "string" ? source : JSON.stringify(source);
  const result = await importText(text, path, { name: "machine", module: "./nodes.ts" });
  expect(await format(result.text)).toBe(result.text);
  const host = memoryHost({ "nodes.ts": result.stubs ?? "" });
  const { diagnostics } = check(result.text, { path: "machine.ngraph", host });
  const findings = diagnostics.flatMap(({ severity, code, message }) =>
    severity === "error" ? [`${code} ${message}`] : [],
  );
  return { ...result, host, findings };
}

async function engineOf(source: string | object, functions: Functions, path?: string) {
  const { text, host, findings } = await imported(source, path);
  expect(findings, text).toEqual([]);
  const table = compile(text, { path: "machine.ngraph", host }).tables.get("machine");
  if (table === undefined || table.kind === "plan") throw new Error("the graph has errors");
  const all = { ...HELPERS, ...functions };
  const graphs = Object.fromEntries(table.graphs.map(({ name }) => [name, { functions: all }]));
  return createEngine(table, { functions: all, graphs, store: new MemoryStore() });
}

const task = (name: string, more: object = {}) => ({
  Type: "Task",
  Resource: `arn:aws:lambda:eu-west-1:123456789012:function:${name}`,
  ...more,
});

const POLLER = {
  Comment: "Submits a job and waits for its end.",
  StartAt: "Submit",
  States: {
    Submit: task("submit", {
      ResultPath: "$.id",
      Retry: [{ ErrorEquals: ["States.ALL"], MaxAttempts: 2, IntervalSeconds: 0 }],
      Next: "Wait",
    }),
    Wait: { Type: "Wait", Seconds: 0, Next: "Look" },
    Look: task("look", { InputPath: "$.id", ResultPath: "$.status", Next: "Done?" }),
    "Done?": {
      Type: "Choice",
      Choices: [
        { Variable: "$.status", StringEquals: "FAILED", Next: "Broken" },
        { Variable: "$.status", StringEquals: "SUCCEEDED", Next: "Report" },
      ],
      Default: "Wait",
    },
    Broken: { Type: "Fail", Error: "JobFailed", Cause: "the job failed" },
    Report: task("report", { InputPath: "$.id", End: true }),
  },
};

describe("a machine that polls", () => {
  test("runs its loop, and tries again", async () => {
    const states = ["RUNNING", "RUNNING", "SUCCEEDED"];
    let submitted = 0;
    const seen: unknown[] = [];
    const engine = await engineOf(POLLER, {
      submit: () => {
        if (++submitted < 3) throw new Error("busy");
        return "job-1";
      },
      look: (id: string) => {
        seen.push(id);
        return states.shift();
      },
      report: (id: string) => `report of ${id}`,
    });
    const result = await engine.run({ input: { wait: 1 } });
    expect(result.error).toBeNull();
    expect(result.output).toEqual({ data: "report of job-1" });
    expect([submitted, seen]).toEqual([3, ["job-1", "job-1", "job-1"]]);
  });

  test("fails with the error of its `Fail` state", async () => {
    const engine = await engineOf(POLLER, { submit: () => "j", look: () => "FAILED", report: () => null });
    const result = await engine.run({ input: {} });
    expect(result.status).toBe("failed");
    expect(result.error?.message).toContain("JobFailed: the job failed");
  });
});

const ORDER = {
  StartAt: "Reserve",
  States: {
    Reserve: task("reserve", {
      ResultSelector: { "id.$": "$.Payload.id" },
      ResultPath: "$.reservation",
      Catch: [
        { ErrorEquals: ["OutOfStock"], ResultPath: "$.problem", Next: "Sorry" },
        { ErrorEquals: ["States.ALL"], Next: "Failed" },
      ],
      Next: "Pay",
    }),
    Pay: {
      Type: "Parallel",
      Branches: [
        { StartAt: "Charge", States: { Charge: task("charge", { End: true }) } },
        { StartAt: "Mail", States: { Mail: { Type: "Pass", Result: { sent: true }, End: true } } },
      ],
      ResultPath: "$.paid",
      Catch: [{ ErrorEquals: ["States.ALL"], Next: "Failed" }],
      Next: "Ship each",
    },
    "Ship each": {
      Type: "Map",
      ItemsPath: "$.items",
      MaxConcurrency: 2,
      ItemProcessor: { StartAt: "Ship", States: { Ship: task("ship", { End: true }) } },
      ResultPath: "$.shipped",
      Next: "Done",
    },
    Done: { Type: "Succeed" },
    Sorry: { Type: "Succeed" },
    Failed: { Type: "Fail", Error: "OrderFailed" },
  },
};

describe("an order with parallel branches and items", () => {
  const input = { items: ["a", "b", "c"] };
  const works: Functions = {
    reserve: () => ({ Payload: { id: 7 } }),
    charge: () => "charged",
    ship: (item: string) => `shipped ${item}`,
  };

  test("keeps the results at their paths", async () => {
    const { output, error } = await (await engineOf(ORDER, works)).run({ input });
    expect(error).toBeNull();
    expect(output).toEqual({
      data: {
        ...input,
        reservation: { id: 7 },
        paid: ["charged", { sent: true }],
        shipped: ["shipped a", "shipped b", "shipped c"],
      },
    });
  });

  test("catches an error by its name, beside the data", async () => {
    const reserve = (): never => {
      throw Object.assign(new Error("none left"), { name: "OutOfStock" });
    };
    const { status, output } = await (await engineOf(ORDER, { ...works, reserve })).run({ input });
    expect(status).toBe("completed");
    expect(output).toEqual({ data: { ...input, problem: { Error: "OutOfStock", Cause: "none left" } } });
  });

  test.each(["reserve", "charge", "ship"])("fails where `%s` fails", async (name) => {
    const fails = (): never => {
      throw new Error("no");
    };
    const { status, error } = await (await engineOf(ORDER, { ...works, [name]: fails })).run({ input });
    expect(status).toBe("failed");
    expect(error?.message).toContain(name === "ship" ? "no" : "OrderFailed");
  });
});

test("YAML with JSONata and a task token", async () => {
  const source = `
QueryLanguage: JSONata
StartAt: Check
States:
  Check:
    Type: Choice
    Choices:
      - Condition: "{% $states.input.amount > 100 %}"
        Next: Approve
    Default: Pay
  Approve:
    Type: Task
    Resource: arn:aws:states:::lambda:invoke.waitForTaskToken
    Arguments: { FunctionName: approve, Payload: "{% $states.input %}" }
    Next: Pay
  Pay:
    Type: Task
    Resource: arn:aws:lambda:eu-west-1:123456789012:function:pay
    Arguments: { sum: "{% $states.input.amount * 2 %}" }
    End: true
`;
  const functions: Functions = {
    lambda_invoke: () => null,
    pay: ({ sum }: { sum: number }) => `paid ${sum}`,
  };
  const small = await (await engineOf(source, functions, "machine.asl.yaml")).run({ input: { amount: 10 } });
  expect(small.output).toEqual({ data: "paid 20" });
  const engine = await engineOf(source, functions, "machine.asl.yaml");
  const waiting = await engine.run({ input: { amount: 200 } }, { thread: "t" });
  expect(waiting.pauses.map(({ kind, payload }) => [kind, payload])).toEqual([["signal", "callback Approve"]]);
  await engine.signal("t", "callback Approve", { amount: 150 });
  expect((await engine.resume("t")).output).toEqual({ data: "paid 300" });
});

test("a condition of JSONata does not hold for a missing value", async () => {
  const source = {
    QueryLanguage: "JSONata",
    StartAt: "A",
    States: {
      A: {
        Type: "Choice",
        Choices: [
          { Condition: "{% $states.input.a and $not($states.input.b) %}", Next: "Both" },
          { Condition: "{% $states.input.a %}", Next: "One" },
        ],
        Default: "None",
      },
      Both: { Type: "Pass", Output: "both", End: true },
      One: { Type: "Pass", Output: "one", End: true },
      None: { Type: "Pass", Output: "none", End: true },
    },
  };
  const engine = await engineOf(source, {});
  const ends = [];
  for (const input of [{}, { a: false, b: true }, { a: true, b: true }, { a: true }])
    ends.push((await engine.run({ input })).output);
  expect(ends).toEqual(["none", "none", "one", "both"].map((data) => ({ data })));
});

test("patterns with punctuation match, and the parts of a range are ints", async () => {
  const source = {
    StartAt: "Look",
    States: {
      Look: {
        Type: "Choice",
        Choices: [{ Variable: "$.text", StringMatches: "on-going/request-*", Next: "Fill" }],
        Default: "None",
      },
      Fill: { Type: "Pass", Parameters: { "items.$": "States.ArrayRange(1,$.count,2)" }, End: true },
      None: { Type: "Pass", Result: "none", End: true },
    },
  };
  const engine = await engineOf(source, {});
  expect((await engine.run({ input: { text: "on-going/request-7", count: 4.6 } })).output).toEqual({
    data: { items: [1, 3, 5] },
  });
  expect((await engine.run({ input: { text: "ongoing", count: 1 } })).output).toEqual({ data: "none" });
});

test("each change of meaning is a comment and a change", async () => {
  const { text, changes } = await imported(ORDER);
  expect(changes.join("\n")).toContain("$.States.Pay.Catch");
  for (const message of changes.map((each) => each.replace(/^\S+: /, "")))
    expect(text.replaceAll(/\s*\n\s*(?:\/\/ )?/g, " ")).toContain(message);
});

test.each([
  [{ StartAt: "A", States: {} }, "$.States"],
  [{ StartAt: "A", States: { A: { Type: "Task", Resource: "arn:x", Next: "B" } } }, "$.States.A.Next"],
  [{ StartAt: "A", States: { A: { Type: "Loop", End: true } } }, "$.States.A.Type"],
  [{ StartAt: "A", States: { A: { Type: "Choice", Choices: [] } } }, "$.States.A"],
  [
    {
      StartAt: "A",
      States: {
        A: {
          Type: "Map",
          ItemBatcher: { MaxItemsPerBatch: 2 },
          ItemProcessor: { StartAt: "B", States: { B: { Type: "Pass", End: true } } },
          End: true,
        },
      },
    },
    "$.States.A.ItemBatcher",
  ],
])("refuses %j", async (source, place) => {
  const error = await imported(source).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ImportError);
  expect((error as ImportError).at).toContain(place);
});
