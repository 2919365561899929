/** State machines that `ngc import` reads, as machines again: what the importer's functions compute becomes JSONata. */
import { describe, expect, test } from "vitest";
import { exportAmazonStates } from "../../cli/export/amazon-states.ts";
import { check } from "../../api/index.ts";
import { memoryHost } from "../../compiler/load/host.ts";
import { importText } from "../../importers/index.ts";
import { HELPER_TEXT } from "../../importers/asl/stub-functions.ts";
import { boundGraph } from "./bound.ts";

const NAMES = { name: "g", module: "./nodes.ts" };

async function importMachine(machine: unknown): Promise<{ readonly text: string; readonly stubs: string }> {
  const { text, stubs = "" } = await importText(JSON.stringify(machine), "g.json", NAMES);
  return { text, stubs };
}

/** Exports an imported machine; the result is a machine that comes back without errors. */
async function roundTrip(machine: unknown): Promise<string> {
  const { text, stubs } = await importMachine(machine);
  const exported = exportAmazonStates(await boundGraph(text, { "nodes.ts": stubs }), () => stubs);
  const again = await importMachine(JSON.parse(exported.text));
  const { diagnostics } = await check(again.text, { path: "g.ngraph", host: memoryHost({ "nodes.ts": again.stubs }) });
  expect(diagnostics.filter(({ severity }) => severity === "error").map(({ message }) => message)).toEqual([]);
  return exported.text;
}

const FAIL = { Type: "Fail", Error: "Refused", Cause: "no stock" };
const LAMBDA = "arn:aws:lambda:eu-west-1:123456789012:function:";

describe("machines come back", () => {
  test("paths, results at a path, tests of kinds and timestamps", async () => {
    const text = await roundTrip({
      StartAt: "Read",
      States: {
        Read: { Type: "Task", Resource: `${LAMBDA}read`, Next: "Note" },
        Note: {
          Type: "Task",
          Resource: `${LAMBDA}note`,
          InputPath: "$.order.items[0]",
          ResultPath: "$.order.note",
          Next: "Look",
        },
        Look: {
          Type: "Choice",
          Choices: [
            { Variable: "$.order.note", IsString: true, Next: "Done" },
            { Variable: "$.order.due", TimestampLessThan: "2026-01-01T00:00:00Z", Next: "Late" },
            { Variable: "$.order.name", StringMatches: "a/*", Next: "Late" },
          ],
          Default: "Stop",
        },
        Late: { Type: "Wait", TimestampPath: "$.order.due", Next: "Done" },
        Done: { Type: "Succeed" },
        Stop: FAIL,
      },
    });
    expect(text).toContain("$exists($data.order.items[0])");
    expect(text).toContain(
      '$merge([($type($data.order) = \\"object\\" ? $data.order : {}), {\\"note\\": $Note_result}])',
    );
    expect(text).toContain("$toMillis(");
    expect(text).toContain("/^a\\\\/");
    expect(text).not.toContain("${at}");
    expect(text).not.toContain("${put}");
  });

  test("catchers by name are decided behind one Catch, and an error that none takes fails the machine", async () => {
    const text = await roundTrip({
      StartAt: "Work",
      States: {
        Work: {
          Type: "Task",
          Resource: `${LAMBDA}work`,
          Catch: [
            { ErrorEquals: ["Busy"], ResultPath: "$.problem", Next: "Later" },
            { ErrorEquals: ["Broken", "States.Timeout"], Next: "Stop" },
          ],
          End: true,
        },
        Later: { Type: "Wait", Seconds: 5, Next: "Work" },
        Stop: FAIL,
      },
    });
    const { States } = JSON.parse(text);
    expect(States.Work.Catch).toEqual([
      { ErrorEquals: ["States.ALL"], Next: "Work caught", Assign: { caught: "{% $states.errorOutput %}" } },
    ]);
    expect(States["Work caught"]).toMatchObject({ Type: "Choice", Default: "Work fails" });
    expect(States["Work caught"].Choices).toHaveLength(2);
    expect(States["Work fails"]).toEqual({ Type: "Fail", Error: "{% $caught.Error %}", Cause: "{% $caught.Cause %}" });
  });

  test("an expression that the importer leaves to a function is a Task before its state", async () => {
    const text = await roundTrip({
      StartAt: "Store",
      States: {
        Store: {
          Type: "Task",
          Resource: `${LAMBDA}store`,
          Parameters: { "key.$": "States.Hash($.name, 'SHA-1')" },
          Retry: [{ ErrorEquals: ["States.ALL"], IntervalSeconds: 2, MaxAttempts: 2 }],
          End: true,
        },
      },
    });
    const { States } = JSON.parse(text);
    expect(States.Store).toMatchObject({ Type: "Task", Retry: [{ MaxAttempts: 2 }], Next: "Store called" });
    expect(States.Store.Resource).toMatch(/^\$\{Store_Parameters|^\$\{Store_key/);
    expect(States["Store called"]).toMatchObject({ Type: "Task", Retry: [{ MaxAttempts: 2 }] });
  });

  test("a failure in an item of a Map keeps its name", async () => {
    const text = await roundTrip({
      StartAt: "Each",
      States: {
        Each: {
          Type: "Map",
          ItemsPath: "$.orders",
          ItemProcessor: {
            StartAt: "Look",
            States: {
              Look: {
                Type: "Choice",
                Choices: [{ Variable: "$.ok", BooleanEquals: true, Next: "Fine" }],
                Default: "Stop",
              },
              Fine: { Type: "Pass", End: true },
              Stop: FAIL,
            },
          },
          End: true,
        },
      },
    });
    expect(text).toContain('\\"error\\": \\"Refused\\"');
    expect(text).toContain('"Type": "Fail"');
  });
});

const exportWith = async (body: string, nodes: string): Promise<string> =>
  exportAmazonStates(
    await boundGraph(`import { at, put } from "./nodes.ts"\n${body}`, { "nodes.ts": nodes }),
    () => nodes,
  ).text;

describe("the functions of the importer", () => {
  const BODY = `graph g {
  input data: json
  output out: json = null
  node x = at(data, "$.a") into out
  start -> x -> end
}`;
  const HELPERS = `${HELPER_TEXT.at}\n${HELPER_TEXT.put}`;

  test("are known by their text, which a formatter may have changed", async () => {
    expect(await exportWith(BODY, HELPERS)).toContain("$exists($data.a) ? $data.a : null");
    expect(await exportWith(BODY, HELPERS.replaceAll("\n", "\n    "))).toContain("$exists($data.a) ? $data.a : null");
  });

  test("are other functions with another text", async () => {
    const text = await exportWith(BODY, HELPERS.replace("return found ?? null", "return found ?? 0"));
    expect(text).toContain("${at}");
    expect(text).not.toContain("$exists($data.a)");
  });

  test("a variable does not hide a function of JSONata", async () => {
    const text = await exportWith(
      `graph g {
  input count: json[]
  output exists: int = 0
  node x = len(count) into exists
  start -> x -> end
}`,
      HELPERS,
    );
    expect(text).toContain('"exists_2": "{% $count($count_2) %}"');
    expect(text).toContain('"exists": "{% $exists_2 %}"');
  });
});
