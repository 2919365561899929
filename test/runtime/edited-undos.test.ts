/** Rollbacks of threads whose graph was edited after a crash: what open calls have done is undone, or the edit is refused. */
import { describe, expect, test } from "vitest";
import type { BuiltinNode } from "../../runtime/interface/context.ts";
import type { Store } from "../../runtime/interface/store.ts";
import type { Json } from "../../runtime/value/json.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { CrashingStore } from "../support/crashing-store.ts";
import { engineOf } from "../support/graph.ts";

/** A model that charges two orders with its first tool, each in a part of its own. */
const llm: BuiltinNode = async (_, { tools = [], once }) => {
  const results: Json[] = [];
  for (const order of ["a", "b"]) {
    const charge = async () => (await tools[0]!.call([order], order)) as Json;
    results.push(await once!(order, charge));
  }
  return results;
};

const CHARGE = `graph charge {
  input order: string
  output receipt: string
  node pay = take(order) into receipt { undo giveBack(order) }
  node log = note(order)
  start -> pay -> log -> end
}
`;
const AGENT = `${CHARGE}graph g {
  output results: json
  node agent = llm("q", tools: [charge, note]) into results
  start -> agent -> end
}
`;
const CALL = `${CHARGE}graph g {
  output results: json
  node agent = charge(order: "a") into results
  start -> agent -> end
}
`;
const ITEMS = `${CHARGE}graph g {
  output results: json[] reduce append
  node agent = charge(order: item) for item in ["a", "b"] into results { max parallel 1 }
  start -> agent -> end
}
`;
const NESTED = `${CHARGE}graph outer {
  input order: string
  output receipt: string
  node inner = charge(order: order) into { receipt }
  start -> inner -> end
}
graph g {
  output results: json
  node agent = llm("q", tools: [outer, note]) into results
  start -> agent -> end
}
`;

function engine(text: string, store: Store) {
  const functions = { take: () => "paid", giveBack: () => undefined, note: () => "noted", other: () => "other" };
  return engineOf(text, functions, { store, builtins: { llm } });
}

/** A thread whose process died after a number of writes. */
async function crashed(
  text: string,
  writes: number,
): Promise<{ readonly store: Store; readonly log: readonly string[] }> {
  let now = 0;
  const store = new MemoryStore({ now: () => now });
  const crashing = new CrashingStore(store, writes, "after");
  await engine(text, crashing)
    .run({}, { thread: "t" })
    .catch(() => undefined);
  now += 1_000_000;
  return { store, log: crashing.log };
}

/** The tasks that a rollback undoes, or the message of its refusal. */
async function rolledBack(text: string, store: Store): Promise<readonly string[] | string> {
  try {
    const { status, rollback } = await engine(text, store).rollback("t");
    expect({ status, open: rollback?.open }).toEqual({ status: "rolled_back", open: [] });
    return rollback!.undone.map(({ task }) => task);
  } catch (error) {
    expect(error).toMatchObject({ code: "NG_DRIFT" });
    return (error as Error).message;
  }
}

const escaped = (text: string): string => text.replace(/[()[\]$`.{}?*+]/g, "\\$&");

const NO_TOOL = "node `agent` has no graph `charge` among its `tools` any more";
const NO_CALL = "node `agent` calls no graph any more";
const NO_UNDO = "has no `undo giveBack(…)`, but a result of it is to be undone";

describe.each([
  ["a removed tool", AGENT, AGENT.replace("[charge, note]", "[note]"), NO_TOOL],
  ["a renamed tool", AGENT, AGENT.replaceAll("charge", "invoice"), NO_TOOL],
  ["no tools", AGENT, AGENT.replace(", tools: [charge, note]", ""), NO_TOOL],
  ["a function in place of a model", AGENT, AGENT.replace(`llm("q", tools: [charge, note])`, "other()"), NO_TOOL],
  [
    "a graph in place of a model",
    AGENT,
    AGENT.replace(`llm("q", tools: [charge, note])`, `charge(order: "a")`),
    NO_TOOL,
  ],
  ["a tool without its undo", AGENT, AGENT.replace("{ undo giveBack(order) }", ""), NO_UNDO],
  ["a renamed node of a tool", AGENT, AGENT.replaceAll("pay", "settle"), NO_UNDO],
  ["a function in place of a graph", CALL, CALL.replace(`charge(order: "a")`, "other()"), NO_CALL],
  ["a model in place of a graph", CALL, CALL.replace(`charge(order: "a")`, `llm("q", tools: [charge])`), NO_CALL],
  ["a graph without its undo", CALL, CALL.replace("{ undo giveBack(order) }", ""), NO_UNDO],
  ["a function for the items", ITEMS, ITEMS.replace("charge(order: item)", "other(item)"), NO_CALL],
  ["a removed tool that calls a graph", NESTED, NESTED.replace("[outer, note]", "[note]"), "`agent.outer.0/inner/pay`"],
])("%s", (_, before, after, problem) => {
  test("refuses the rollback of what open calls have done, at each place of a crash", async () => {
    let refused = 0;
    for (let writes = 1; ; writes++) {
      const { store, log } = await crashed(before, writes);
      if (log.length < writes) break;
      if ((await store.loadLatest("t"))?.status === "completed") continue;
      const given = await rolledBack(after, store);
      const undone = await rolledBack(before, (await crashed(before, writes)).store);
      expect(typeof undone, log.at(-1)).toBe("object");
      if (undone.length > 0) {
        // A finished item is in the log of `g`, whose node has no such undo any more.
        const inLog = before === ITEMS ? NO_UNDO : problem;
        expect(given, log.at(-1)).toMatch(new RegExp(`${escaped(problem)}|${escaped(inLog)}`));
        refused++;
        // The refusal has changed nothing.
        expect(await rolledBack(before, store)).toEqual(undone);
      } else if (typeof given !== "string") expect(given).toEqual([]);
    }
    expect(refused).toBeGreaterThan(1);
  });
});

test("a resume is refused, too, and an edit that keeps the tool is not", async () => {
  const { store } = await crashed(AGENT, 11);
  const without = engine(AGENT.replace("[charge, note]", "[note]"), store);
  await expect(without.resume("t")).rejects.toMatchObject({
    code: "NG_DRIFT",
    message: expect.stringContaining(NO_TOOL),
  });
  const fewer = AGENT.replace("[charge, note]", "[charge]").replace('"q"', '"question"');
  const renamed = fewer
    .replace("node pay = take(order) into receipt {", "node settle = take(order) into receipt { was pay")
    .replace("-> pay ->", "-> settle ->")
    .replace("node agent", "node helper")
    .replace("into results\n", "into results { was agent }\n")
    .replace("-> agent ->", "-> helper ->");
  expect(await rolledBack(renamed, store)).toEqual(["helper.charge.1/pay", "helper.charge.0/pay"]);
});
