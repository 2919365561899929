/** R2: what items have done is to be undone, also if an edit of the list has removed them while their step was unfinished. */
import { describe, expect, test } from "vitest";
import type { Engine } from "../../runtime/interface/engine-options.ts";
import type { BuiltinNode } from "../../runtime/interface/context.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { ask } from "../../stdlib/nodes/ask.ts";
import { engineOf } from "../support/graph.ts";

const BOOK = `graph trip { input x: string  output y: string = ""  state ok: string | null
    node book = book(x) into y { undo cancel(y) }  node sure = ask("sure?") into ok  start -> book -> sure }`;
const CALLED = `${BOOK} graph g { input xs: string[]  output ys: string[] = [] reduce append  output last: string = ""
    node every = trip(x: x) for x in xs into { y: ys }  node end_ = fails() into last  start -> every -> end_ }`;
const PLAIN = `graph g { input xs: string[]  output ys: string[] = [] reduce append  output last: string = ""
    node every = book(x) for x in xs into ys { undo cancel(ys) }  node end_ = fails() into last  start -> every -> end_ }`;
const NESTED = `${BOOK} graph tour { input xs: string[]  output ys: string[] = [] reduce append
    node each_ = trip(x: x) for x in xs into { y: ys }  start -> each_ }
  graph g { input xs: string[]  output ys: string[][] = []  output last: string = ""
    node every = tour(xs: [x]) for x in xs into { ys }  node end_ = fails() into last  start -> every -> end_ }`;
const TOOL = `${BOOK} graph g { input xs: string[]  output ys: json[] = [] reduce append  output last: string = ""
    node every = llm(x, tools: [trip]) for x in xs into ys  node end_ = fails() into last  start -> every -> end_ }`;

/** A model that books what it is asked for. */
const llm: BuiltinNode = async ({ prompt }, { tools = [] }) => tools[0]!.call([prompt!], "first");

function opened(text: string, store = new MemoryStore()) {
  const booked: string[] = [];
  const functions = {
    book: (x: string) => {
      if (x === "bad") throw new Error("full");
      booked.push(x);
      return x;
    },
    cancel: (y: string | readonly string[]) => void booked.splice(booked.indexOf(String(y)), 1),
    fails: () => {
      throw new Error("down");
    },
  };
  return { booked, store, engine: engineOf(text, functions, { store, builtins: { ask, llm } }), functions };
}

async function answerAll(engine: Engine): Promise<void> {
  const { pauses } = (await engine.state("t"))!;
  await engine.resume("t", { answers: Object.fromEntries(pauses.map(({ id }) => [id, "yes"])) });
}

/** What happens between the edit and the rollback. */
const WAYS: Readonly<Record<string, (engine: Engine) => Promise<unknown>>> = {
  "at once": () => Promise.resolve(),
  "after a resume": (engine) => engine.resume("t"),
  "after two": async (engine) => {
    await engine.resume("t");
    await engine.resume("t");
  },
  "after another edit": async (engine) => {
    await engine.resume("t");
    await engine.update("t", { xs: ["q"] }, { replace: true });
    await engine.resume("t");
  },
  "after the end of the step": async (engine) => {
    await engine.resume("t");
    await answerAll(engine);
    expect((await engine.state("t"))!.next).toEqual(["end_"]);
  },
};

const EDITS: Readonly<Record<string, readonly string[]>> = {
  replaced: ["n", "b"],
  removed: ["b"],
  moved: ["b", "a"],
  new: ["n"],
};

describe.each(Object.entries(WAYS))("a rollback %s", (_, then) => {
  test.each(Object.entries(EDITS))("undoes the calls of %s items", async (__, xs) => {
    for (const text of [CALLED, NESTED, TOOL]) {
      const { engine, booked } = opened(text);
      await engine.run({ xs: ["a", "b"] }, { thread: "t" });
      expect(booked).toEqual(["a", "b"]);
      await engine.update("t", { xs: [...xs] }, { replace: true });
      await then(engine);
      expect(await engine.rollback("t")).toMatchObject({ status: "rolled_back", rollback: { open: [] } });
      expect(booked).toEqual([]);
    }
  });

  test.each(Object.entries(EDITS))("undoes the results of %s items", async (__, xs) => {
    const { engine, booked } = opened(PLAIN);
    await engine.run({ xs: ["a", "b", "bad"] }, { thread: "t" });
    expect(booked).toEqual(["a", "b"]);
    await engine.update("t", { xs: [...xs] }, { replace: true });
    await then(engine);
    await engine.rollback("t");
    expect(booked).toEqual([]);
  });
});

test("a list that an edit of the graph shortens", async () => {
  const { engine, booked, store, functions } = opened(CALLED);
  await engine.run({ xs: ["a", "b"] }, { thread: "t" });
  const edited = engineOf(CALLED.replace("in xs into", "in slice(xs, 1) into"), functions, { store });
  await edited.resume("t");
  await edited.rollback("t");
  expect(booked).toEqual([]);
});

test("a migration renames the undos of called graphs, in stored results and in the log", async () => {
  const { engine, booked, store, functions } = opened(NESTED);
  await engine.run({ xs: ["a", "b"] }, { thread: "t" });
  const [first] = (await engine.state("t"))!.pauses;
  await engine.resume("t", { answers: { [first!.id]: "yes" } });
  await engine.fork("t", { as: "u" });
  const text = NESTED.replaceAll(/\bbook =/g, "reserve =")
    .replace("-> book", "-> reserve")
    .replaceAll("each_", "visits");
  const edited = engineOf(text, functions, { store });
  await expect(edited.rollback("t")).rejects.toMatchObject({ code: "NG_DRIFT" });
  await edited.migrate("t", { rename: { "trip.book": "reserve", "tour.each_": "visits" } });
  expect(await edited.rollback("t")).toMatchObject({ status: "rolled_back", rollback: { open: [] } });
  expect(booked).toEqual([]);
});
