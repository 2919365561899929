/** Rules R1 to R6 (10): `undo` and `rollback`. */
import { describe, expect, test } from "vitest";
import type { EngineOptions, NodeContext, RunEvent } from "../../runtime/index.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { engineOf } from "../support/graph.ts";

const TRIP = `graph trip {
  input customer: string = "ann"
  state flight: string | null
  state hotel: string | null
  output car: string | null
  node bookFlight = reserveFlight(customer) into flight { undo cancelFlight(flight) }
  node bookHotel = reserveHotel(customer, flight) into hotel { undo cancelHotel(hotel, flight) { tries 3 backoff 1ms } }
  node bookCar = reserveCar(customer) into car { undo cancelCar(car) }
  start -> bookFlight -> bookHotel -> bookCar -> end
  any(bookFlight, bookHotel, bookCar) -> rollback on error
}`;

interface Call {
  readonly call: string;
  readonly args: readonly unknown[];
  readonly key: string;
}

/** Functions that record their calls. A function in `failing` throws as long as it is in there. */
function recorded(names: readonly string[], failing = new Set<string>()) {
  const calls: Call[] = [];
  const functions = Object.fromEntries(
    names.map((name) => [
      name,
      (...given: unknown[]) => {
        const context = given.pop() as NodeContext;
        calls.push({ call: name, args: given, key: context.idempotencyKey });
        if (failing.has(name)) throw new Error(`${name} is down`);
        return name.startsWith("reserve") ? `${name.slice(7)}-${calls.length}` : null;
      },
    ]),
  );
  const undos = () => calls.filter(({ call }) => call.startsWith("cancel"));
  return { calls, undos, functions, failing };
}

/** A store whose process dies after it has written a pending write of this kind. */
function dyingAfter(store: MemoryStore, kind: string): MemoryStore {
  let isDead = false;
  return new Proxy(store, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== "function") return member;
      return (...args: unknown[]) => {
        if (isDead) throw new Error("the process is dead");
        const result: unknown = member.apply(target, args);
        isDead = name === "putWrites" && JSON.stringify(args).includes(`"taskId":"${kind}`);
        return result;
      };
    },
  });
}

const TRIP_NAMES = ["reserveFlight", "reserveHotel", "reserveCar", "cancelFlight", "cancelHotel", "cancelCar"];

function trip(failing: readonly string[] = [], options: Partial<EngineOptions> = {}) {
  const record = recorded(TRIP_NAMES, new Set(failing));
  const store = new MemoryStore();
  const engine = engineOf(TRIP, record.functions, { store, ...options });
  return { ...record, store, engine };
}

describe("10 rollback", () => {
  test("10.1 ends the run and undoes what has completed, the newest first", async () => {
    const { engine, undos, calls } = trip(["reserveCar"]);
    const result = await engine.run({}, { thread: "t" });
    expect(result).toMatchObject({
      status: "rolled_back",
      error: null,
      steps: [["bookFlight"], ["bookHotel"], ["bookCar"]],
    });
    expect(undos().map(({ call, args }) => [call, ...args])).toEqual([
      ["cancelHotel", "Hotel-2", "Flight-1"],
      ["cancelFlight", "Flight-1"],
    ]);
    expect(undos().map(({ key }) => key)).toEqual([`undo:${calls[1]!.key}`, `undo:${calls[0]!.key}`]);
    expect(result.rollback).toEqual({
      undone: [
        { task: "bookHotel", node: "bookHotel", call: "cancelHotel", key: `undo:${calls[1]!.key}` },
        { task: "bookFlight", node: "bookFlight", call: "cancelFlight", key: `undo:${calls[0]!.key}` },
      ],
      open: [],
    });
  });

  test("10.1 needs no store", async () => {
    const record = recorded(TRIP_NAMES, new Set(["reserveHotel"]));
    const result = await engineOf(TRIP, record.functions).run({});
    expect(result.status).toBe("rolled_back");
    expect(record.undos().map(({ call }) => call)).toEqual(["cancelFlight"]);
  });

  test("10.1 a completed run undoes nothing", async () => {
    const { engine, undos } = trip();
    expect(await engine.run({}, { thread: "t" })).toMatchObject({ status: "completed" });
    expect(undos()).toEqual([]);
    await expect(engine.rollback("t")).rejects.toMatchObject({ code: "NG_NOT_PAUSED" });
  });

  test("10.2 arguments that have no value keep the entry as one that cannot be undone", async () => {
    const record = recorded(["reserve", "cancel", "fails"], new Set(["fails"]));
    const engine = engineOf(
      `graph g { input list: int[] = []  output ref: string | null
        node a = reserve(1) into ref { undo cancel(ref, list[0]!) }  node b = fails()
        start -> a -> b -> end  b -> rollback on error }`,
      record.functions,
    );
    const result = await engine.run({});
    expect(result).toMatchObject({ status: "failed", error: { code: "NG_UNDO_FAILED" } });
    expect(result.rollback).toMatchObject({
      undone: [],
      open: [{ task: "a", error: expect.stringContaining("cannot be undone") as string }],
    });
    expect(record.undos()).toEqual([]);
  });

  test("10.2 a secret is stored by its name", async () => {
    const store = new MemoryStore();
    const record = recorded(["reserve", "cancel", "fails"], new Set(["fails"]));
    const text = `secret TOKEN
      graph g { output ref: string | null
        node a = reserve(1) into ref { undo cancel({ auth: \`Bearer \${TOKEN}\`, ref: ref }, TOKEN) }  node b = fails()
        start -> a -> b -> end }`;
    const engine = engineOf(text, record.functions, { store, secrets: { TOKEN: "first" } });
    expect(await engine.run({}, { thread: "t" })).toMatchObject({ status: "failed" });
    expect(JSON.stringify(await store.list("t", { all: true }))).not.toContain("first");
    const later = engineOf(text, record.functions, { store, secrets: { TOKEN: "second" } });
    expect(await later.rollback("t")).toMatchObject({ status: "rolled_back" });
    expect(record.undos()[0]?.args).toEqual([{ auth: "Bearer second", ref: "-1" }, "second"]);
  });

  test("10.2 an undo that names a secret stays open in a graph without secrets", async () => {
    const record = recorded(["reserveCar", "cancelCar"]);
    const store = new MemoryStore();
    const text = (secret: string, argument: string): string => `${secret}
      graph g { state car: string | null  node a = reserveCar("x") into car { undo cancelCar(${argument}) }
        node f = fail("down")  start -> a -> f }`;
    const engine = engineOf(text("secret TOKEN", "TOKEN"), record.functions, { store, secrets: { TOKEN: "first" } });
    expect((await engine.run({}, { thread: "t" })).status).toBe("failed");
    const later = engineOf(text("", "car"), record.functions, { store });
    const { status, rollback } = await later.rollback("t");
    expect([status, rollback?.open.map(({ error }) => error)]).toEqual([
      "failed",
      ["the arguments of `undo cancelCar(…)` name a secret, and this version of the graph has none"],
    ]);
    expect(record.undos()).toEqual([]);
  });

  test("10.3 each round of a loop, item and sent task has an entry of its own", async () => {
    const record = recorded(["reserve", "cancel", "fails"], new Set(["fails"]));
    const engine = engineOf(
      `graph g { output refs: string[] = [] reduce append  output n: int = 0
        node every = reserve(x) for x in [1, 2] into refs { undo cancel(refs, x) }
        node count = n + 1 into n  node b = fails()
        start -> every -> count  count -> every when n < 2  count -> b otherwise  b -> end  b -> rollback on error }`,
      record.functions,
    );
    expect(await engine.run({})).toMatchObject({ status: "rolled_back" });
    expect(record.undos().map(({ args }) => args)).toEqual([
      [["-4"], 2],
      [["-3"], 1],
      [["-2"], 2],
      [["-1"], 1],
    ]);
    expect(new Set(record.undos().map(({ key }) => key)).size).toBe(4);
  });

  test("10.3 results of a failed step are undone although no step has applied them", async () => {
    const record = recorded(["reserve", "cancel", "fails"], new Set(["fails"]));
    const store = new MemoryStore();
    const text = `graph g { output a: string | null  output b: string | null
      node one = reserve(1) into a { undo cancel(a) }  node two = reserve(2) into b { undo cancel(b) }  node three = fails()
      start -> one, two, three }`;
    const engine = engineOf(text, record.functions, { store });
    const failed = await engine.run({}, { thread: "t" });
    expect(failed).toMatchObject({ status: "failed", state: { a: null, b: null } });
    expect(record.undos()).toEqual([]);
    expect(await engine.rollback("t")).toMatchObject({ status: "rolled_back" });
    expect(record.undos().map(({ args }) => args)).toEqual([["-2"], ["-1"]]);
  });

  test("10.3 attempts that failed have no entry", async () => {
    const record = recorded(["reserve", "cancel", "fails"], new Set(["fails"]));
    let attempts = 0;
    const engine = engineOf(
      `graph g { output a: string | null  node one = flaky() into a { tries 3 backoff 1ms undo cancel(a) }  node b = fails()
        start -> one -> b -> end  b -> rollback on error }`,
      {
        ...record.functions,
        flaky: () => {
          if (++attempts < 3) throw new Error("not yet");
          return `r${attempts}`;
        },
      },
    );
    await engine.run({});
    expect(record.undos().map(({ args }) => args)).toEqual([["r3"]]);
  });

  test("10.4 the other tasks of the step finish and are applied; their routes are dropped", async () => {
    const record = recorded(["reserve", "cancel", "fails"], new Set(["fails"]));
    const engine = engineOf(
      `graph g { output a: string | null  output late: int = 0  node bad = fails()  node good = reserve(1) into a { undo cancel(a) }
        node next = 1 into late  start -> bad, good  good -> next  bad -> next  bad -> rollback on error  all(bad, good) -> end }`,
      record.functions,
    );
    const result = await engine.run({});
    expect(result).toMatchObject({ status: "rolled_back", output: { a: "-2", late: 0 }, steps: [["bad", "good"]] });
    expect(record.undos().map(({ args }) => args)).toEqual([["-2"]]);
  });

  test("10.5 an undo that fails is open, the others run, and another rollback tries it again", async () => {
    const { engine, failing, undos } = trip(["reserveCar", "cancelHotel"]);
    const first = await engine.run({}, { thread: "t" });
    expect(first).toMatchObject({
      status: "failed",
      error: {
        code: "NG_UNDO_FAILED",
        message: "1 undo is open: `cancelHotel` of task `bookHotel`: cancelHotel is down",
      },
      rollback: { undone: [{ task: "bookFlight" }], open: [{ task: "bookHotel", error: "cancelHotel is down" }] },
    });
    expect(undos().map(({ call }) => call)).toEqual(["cancelHotel", "cancelHotel", "cancelHotel", "cancelFlight"]);
    failing.delete("cancelHotel");
    expect(await engine.rollback("t")).toMatchObject({
      status: "rolled_back",
      rollback: { undone: [{ task: "bookHotel" }] },
    });
    expect(undos().filter(({ call }) => call === "cancelFlight")).toHaveLength(1);
    expect(new Set(undos().map(({ key }) => key)).size).toBe(2);
    // A rolled back thread is final.
    expect(await engine.rollback("t")).toMatchObject({ status: "rolled_back", rollback: { undone: [], open: [] } });
    await expect(engine.resume("t")).rejects.toMatchObject({ code: "NG_NOT_PAUSED" });
    expect(await engine.run({}, { thread: "t" })).toMatchObject({ status: "rolled_back" });
  });

  test("10.5 a resume continues a rollback that was cut off, and runs no node", async () => {
    const { engine, failing, calls } = trip(["reserveCar", "cancelHotel"]);
    await engine.run({}, { thread: "t" });
    const before = calls.length;
    failing.delete("cancelHotel");
    expect(await engine.resume("t")).toMatchObject({ status: "rolled_back" });
    expect(calls.slice(before).map(({ call }) => call)).toEqual(["cancelHotel"]);
  });

  test("10.5 a cancel lets the current undo finish and stops before the next one", async () => {
    const controller = new AbortController();
    const record = recorded(TRIP_NAMES, new Set(["reserveCar"]));
    const store = new MemoryStore();
    const engine = engineOf(
      TRIP,
      {
        ...record.functions,
        cancelHotel: async (...given: unknown[]) => {
          controller.abort();
          await Promise.resolve();
          return (record.functions["cancelHotel"] as (...args: unknown[]) => unknown)(...given);
        },
      },
      { store },
    );
    const result = await engine.run({}, { thread: "t", signal: controller.signal });
    expect(result).toMatchObject({
      status: "cancelled",
      rollback: { undone: [{ task: "bookHotel" }], open: [{ task: "bookFlight", error: null }] },
    });
    expect(await engine.resume("t")).toMatchObject({ status: "rolled_back" });
    expect(record.undos().map(({ call }) => call)).toEqual(["cancelHotel", "cancelFlight"]);
  });

  test("10.5 rolls back a paused, a cancelled and a failed thread", async () => {
    const record = recorded(["reserve", "cancel"]);
    const store = new MemoryStore();
    const engine = engineOf(
      `graph g { output a: string | null  output yes: string | null
        node one = reserve(1) into a { undo cancel(a) }  node wait = ask("sure?") into yes  start -> one -> wait -> end }`,
      record.functions,
      { store },
    );
    expect(await engine.run({}, { thread: "t" })).toMatchObject({ status: "paused" });
    expect(await engine.rollback("t")).toMatchObject({ status: "rolled_back", pauses: [] });
    expect(record.undos().map(({ args }) => args)).toEqual([["-1"]]);
    expect(await engine.threads()).toMatchObject([{ thread: "t", status: "rolled_back" }]);
    await expect(engine.resume("t", "yes")).rejects.toMatchObject({ code: "NG_NOT_PAUSED" });
  });

  const NESTED = (
    more = "",
    edge = "",
  ): string => `graph trip { output flight: string | null  output hotel: string | null
      node one = reserveFlight(1) into flight { undo cancelFlight(flight) }
      node two = reserveHotel(2) into hotel { undo cancelHotel(hotel) }
      start -> one -> two -> end ${edge} }
    graph outer { output f: string | null
      node call = trip() into { flight: f } { ${more} }  node pay = charge()
      start -> call -> pay -> end  pay -> rollback on error }`;
  const NESTED_NAMES = [...TRIP_NAMES, "charge", "refund"];

  test("10.6 a completed called graph hands its entries to its caller", async () => {
    const record = recorded(NESTED_NAMES, new Set(["charge"]));
    const engine = engineOf(NESTED(), record.functions, { store: new MemoryStore() });
    const result = await engine.run({}, { thread: "t" });
    expect(result).toMatchObject({
      status: "rolled_back",
      rollback: { undone: [{ task: "call/two", node: "two" }, { task: "call/one" }] },
    });
    expect(record.undos().map(({ call, args }) => [call, ...args])).toEqual([
      ["cancelHotel", "Hotel-2"],
      ["cancelFlight", "Flight-1"],
    ]);
  });

  test("10.6 the `undo` of the calling node replaces them", async () => {
    const record = recorded(NESTED_NAMES, new Set(["charge"]));
    const engine = engineOf(NESTED("undo refund(f)"), record.functions, {});
    expect(await engine.run({})).toMatchObject({
      status: "rolled_back",
      rollback: { undone: [{ task: "call", call: "refund" }] },
    });
    expect(record.undos()).toEqual([]);
  });

  test("10.6 a called graph that reaches `rollback` undoes its own and fails the calling node", async () => {
    const record = recorded(NESTED_NAMES, new Set(["reserveHotel"]));
    const engine = engineOf(NESTED("", "two -> rollback on error"), record.functions, { store: new MemoryStore() });
    const result = await engine.run({}, { thread: "t" });
    expect(result).toMatchObject({ status: "failed", error: { code: "NG_ROLLED_BACK", nodeId: "call" } });
    expect(record.undos().map(({ call }) => call)).toEqual(["cancelFlight"]);
    // A resume runs the graph again, with other keys: what they did is undone.
    record.failing.clear();
    expect(await engine.resume("t")).toMatchObject({ status: "completed" });
    const flights = record.calls.filter(({ call }) => call === "reserveFlight").map(({ key }) => key);
    expect(new Set(flights).size).toBe(2);
  });

  test("10.6 a rollback of the caller undoes what an unfinished called graph has done", async () => {
    const record = recorded(NESTED_NAMES, new Set(["reserveHotel"]));
    const engine = engineOf(NESTED(), record.functions, { store: new MemoryStore() });
    expect(await engine.run({}, { thread: "t" })).toMatchObject({ status: "failed" });
    expect(await engine.rollback("t")).toMatchObject({
      status: "rolled_back",
      rollback: { undone: [{ task: "call/one" }] },
    });
    expect(record.undos().map(({ call }) => call)).toEqual(["cancelFlight"]);
  });

  test("10.6 a failed called graph is undone if its failure leads to `rollback`, once for all its attempts", async () => {
    for (const store of [undefined, new MemoryStore()]) {
      const record = recorded(NESTED_NAMES, new Set(["reserveHotel"]));
      const text = NESTED("tries 2 backoff 1ms").replace(
        "pay -> rollback on error",
        "any(call, pay) -> rollback on error",
      );
      const engine = engineOf(text, record.functions, store === undefined ? {} : { store });
      expect(await engine.run({}, { thread: "t" })).toMatchObject({ status: "rolled_back" });
      expect(record.undos().map(({ call }) => call)).toEqual(["cancelFlight"]);
    }
  });

  test("10.7 the log belongs to the thread: a fork inside it undoes all of its branches, each once", async () => {
    const { engine, undos, failing, calls } = trip(["reserveCar"]);
    failing.add("cancelFlight");
    await engine.run({}, { thread: "t" });
    expect(undos().map(({ call }) => call)).toEqual(["cancelHotel", "cancelFlight"]);
    const afterFlight = (await engine.history("t")).find(({ currentNodes }) => currentNodes.includes("bookFlight"));
    failing.delete("cancelFlight");
    expect(await engine.resume("t", { from: afterFlight!.id })).toMatchObject({ status: "rolled_back" });
    const [, second] = calls.filter(({ call }) => call === "reserveHotel");
    expect(
      undos()
        .slice(2)
        .map(({ call, key }) => [call, key]),
    ).toEqual([
      ["cancelHotel", `undo:${second!.key}`],
      ["cancelFlight", `undo:${calls[0]!.key}`],
    ]);
  });

  test("10.7 a fork by another version of the graph skips what an interrupted rollback has undone", async () => {
    const { undos, functions } = recorded(TRIP_NAMES, new Set(["reserveCar"]));
    let now = 0;
    const store = new MemoryStore({ now: () => now });
    const withNote = TRIP.replace("any(bookFlight, bookHotel, bookCar) -> rollback on error", "")
      .replace("bookHotel -> bookCar", "bookHotel -> write -> bookCar")
      .replace("output car", `state note: string | null  node write = "x" into note  output car`);
    const failing = engineOf(withNote, functions, { store });
    await failing.run({}, { thread: "t" });
    const dying = engineOf(withNote, functions, { store: dyingAfter(store, "undone:") });
    await expect(dying.rollback("t")).rejects.toMatchObject({ code: "NG_STORE_FAILED" });
    const old = undos().find(({ call }) => call === "cancelHotel")!.key;
    now += 3_600_000;
    const edited = engineOf(TRIP, functions, { store });
    const input = (await edited.history("t")).find(({ phase }) => phase === "input")!;
    await expect(edited.rollback("t")).rejects.toMatchObject({ code: "NG_DRIFT" });
    expect(await edited.resume("t", { from: input.id })).toMatchObject({
      status: "rolled_back",
      rollback: { undone: [{ task: "bookHotel" }, { task: "bookFlight" }, { task: "bookFlight" }], open: [] },
    });
    expect(undos().filter(({ key }) => key === old)).toHaveLength(1);
  });

  test("10.7 a fork in another thread undoes only what it has done", async () => {
    const { engine, undos } = trip(["reserveCar"]);
    await engine.run({}, { thread: "t" });
    const afterFlight = (await engine.history("t")).find(({ currentNodes }) => currentNodes.includes("bookFlight"));
    await engine.fork("t", { from: afterFlight!.id, as: "u" });
    expect(await engine.resume("u")).toMatchObject({ status: "rolled_back" });
    expect(undos().map(({ call }) => call)).toEqual(["cancelHotel", "cancelFlight", "cancelHotel"]);
  });

  test("10.7 `abandon` drops the entries, with an event for each", async () => {
    const record = recorded(["reserve", "cancel", "fails"], new Set(["fails"]));
    const engine = engineOf(
      `graph g { output a: string | null  node one = reserve(1) into a { undo cancel(a) }  node b = fails()  start -> one -> b -> end }`,
      record.functions,
      { store: new MemoryStore() },
    );
    await engine.run({}, { thread: "t" });
    const events: RunEvent[] = [];
    record.failing.clear();
    expect(await engine.run({}, { thread: "t", abandon: true, onEvent: (event) => events.push(event) })).toMatchObject({
      status: "completed",
    });
    expect(events.filter(({ type }) => type === "undo")).toMatchObject([
      { phase: "dropped", node: "one", call: "cancel" },
    ]);
    expect(record.undos()).toEqual([]);
  });

  test("events report each undo", async () => {
    const events: RunEvent[] = [];
    const { engine } = trip(["reserveCar"], { onEvent: (event) => events.push(event) });
    await engine.run({}, { thread: "t" });
    expect(events.flatMap((event) => (event.type === "undo" ? [`${event.phase} ${event.call}`] : []))).toEqual([
      "start cancelHotel",
      "end cancelHotel",
      "start cancelFlight",
      "end cancelFlight",
    ]);
  });

  test('`goto("rollback")` rolls back', async () => {
    const record = recorded(["reserve", "cancel"]);
    const engine = engineOf(
      `graph g { output a: string | null  node one = reserve(1) into a { undo cancel(a) }  node b = jump() { goes rollback }
        start -> one -> b -> end }`,
      { ...record.functions, jump: ({ goto }: NodeContext) => goto("rollback") },
    );
    expect(await engine.run({})).toMatchObject({ status: "rolled_back" });
    expect(record.undos()).toHaveLength(1);
  });

  test("a barrier can lead to `rollback`", async () => {
    const record = recorded(["reserve", "cancel"]);
    const engine = engineOf(
      `graph g { output a: string | null  output n: int = 0  node one = reserve(1) into a { undo cancel(a) }  node two = 2 into n
        start -> one, two  all(one, two) -> rollback }`,
      record.functions,
    );
    expect(await engine.run({})).toMatchObject({ status: "rolled_back" });
    expect(record.undos()).toHaveLength(1);
  });
});

describe("10.8 `rollback` and `finally`", () => {
  const GRAPH = `graph g { output a: string | null  output how: string = ""
    node one = reserve(1) into a { undo cancel(a) }  node b = fails()  node close = outcome?.status ?? "" into how
    start -> one -> b -> end  b -> rollback on error  finally -> close }`;

  test("the `finally` part follows the rollback", async () => {
    for (const store of [undefined, new MemoryStore()]) {
      const record = recorded(["reserve", "cancel", "fails"], new Set(["fails"]));
      const engine = engineOf(GRAPH, record.functions, store === undefined ? {} : { store });
      const result = await engine.run({}, { thread: "t" });
      expect(result).toMatchObject({ status: "rolled_back", output: { how: "rolled_back" }, rollback: { open: [] } });
      expect(record.undos()).toHaveLength(1);
    }
  });

  test("each end of the rollback is followed by it", async () => {
    const record = recorded(["reserve", "cancel", "fails"], new Set(["fails", "cancel"]));
    const engine = engineOf(GRAPH, record.functions, { store: new MemoryStore() });
    expect(await engine.run({}, { thread: "t" })).toMatchObject({ status: "failed", output: { how: "failed" } });
    record.failing.delete("cancel");
    expect(await engine.rollback("t")).toMatchObject({ status: "rolled_back", output: { how: "rolled_back" } });
    expect(record.undos()).toHaveLength(2);
  });
});
