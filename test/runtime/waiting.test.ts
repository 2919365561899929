/** Waiting: timers, deadlines and signals (rules W1 to W7). */
import { describe, expect, test } from "vitest";
import type { Clock, Engine, EngineOptions, NodeContext, RunEvent, Store } from "../../runtime/index.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { systemClock } from "../../runtime/interface/clock.ts";
import { CrashingStore } from "../support/crashing-store.ts";
import { engineOf, tableOf } from "../support/graph.ts";
import { settle, VirtualClock } from "../support/virtual-clock.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

type Functions = Record<string, (...args: never[]) => unknown>;

/** Engines over one store and one clock, each as in a process of its own. */
function workshop(text: string, functions: Functions = {}, defaults: EngineOptions = {}) {
  const clock = new VirtualClock();
  const store = new MemoryStore({ now: () => clock.now() });
  const events: RunEvent[] = [];
  const open = (options: EngineOptions = {}): Engine =>
    engineOf(text, functions, {
      store,
      clock,
      onEvent: (event) => events.push(event),
      wake: false,
      ...defaults,
      ...options,
    });
  return { clock, store, events, open, engine: open() };
}

const SLEEPY = `graph g { output log: string[] reduce append  node before = "before" into log  node nap = sleep(3h)
  node after = "after" into log  start -> before -> nap -> after }`;

const PARCEL = `graph g { output parcel: { weight: int }  output log: string[] reduce append
  node picked = receive("picked_up") into parcel  node done = "done" into log  start -> picked -> done }`;

const APPROVAL = `graph g { state answer: "yes" | "no"  output log: string[] reduce append
  node approve = ask("Send it?") into answer { within 3h }  node send = answer into log  node late = error.code into log
  start -> approve -> send  approve -> late on error }`;

describe("timers", () => {
  test("W1, W3: a sleep of more than a minute pauses the run; its due time is the pause's", async () => {
    const { engine, clock } = workshop(SLEEPY);
    const paused = await engine.run({}, { thread: "t" });
    expect(paused).toMatchObject({ status: "paused", output: { log: ["before"] } });
    const due = clock.now() + 3 * HOUR;
    expect(paused.pauses).toEqual([
      {
        id: expect.stringContaining("nap@1"),
        node: "nap",
        kind: "timer",
        payload: null,
        due,
        namespace: [],
        taskId: "nap",
      },
    ]);
    expect((await engine.threads())[0]).toMatchObject({ thread: "t", status: "paused", due });
    expect((await engine.threads({ due: due - 1 })).length).toBe(0);
    expect((await engine.threads({ due })).length).toBe(1);

    // A resume before the due time changes nothing, and writes nothing.
    clock.skip(2 * HOUR);
    expect(await engine.resume("t")).toMatchObject({ status: "paused", pauses: paused.pauses });
    expect((await engine.history("t"))[0]!.id).toBe(paused.checkpointId);
    expect(await engine.due()).toEqual({ results: [], conflicts: 0, failures: [] });
    clock.skip(HOUR);
    expect(await engine.due()).toMatchObject({
      results: [{ status: "completed", output: { log: ["before", "after"] } }],
    });
    expect((await engine.threads())[0]).toMatchObject({ status: "completed", due: null });
  });

  test("W3: a short sleep holds the process; after a crash only the rest is waited for", async () => {
    const text = `graph g { output log: string[] reduce append  node nap = sleep(40s)  node after = "after" into log
      start -> nap -> after }`;
    const { engine, clock, open, store } = workshop(text);
    const running = engine.run({}, { thread: "t" });
    await settle();
    await clock.advance(39_999);
    expect((await store.loadLatest("t"))?.status).toBe("running");
    await clock.advance(1);
    expect(await running).toMatchObject({ status: "completed", output: { log: ["after"] } });

    const start = clock.now();
    const aborted = new AbortController();
    const cancelled = engine.run({}, { thread: "u", signal: aborted.signal });
    await clock.advance(15_000);
    aborted.abort();
    expect(await cancelled).toMatchObject({ status: "cancelled" });
    const resumed = open().resume("u");
    await settle();
    expect(clock.waiting).toContain(start + 40_000 - clock.now());
    await clock.advance(25_000);
    expect(await resumed).toMatchObject({ status: "completed" });
  });

  test("W3: the due time of a wait is stored before the wait begins, and outlives a crash", async () => {
    const text = `graph g { output log: string[] reduce append  node nap = sleep(40s)  node slow = work() into log
      node after = "after" into log  start -> nap, slow  all(nap, slow) -> after }`;
    const clock = new VirtualClock();
    const store = new MemoryStore({ now: () => clock.now() });
    const work = async (): Promise<string> => {
      await new Promise<void>((resolve) => clock.setTimeout(resolve, 30_000));
      return "slow";
    };
    const open = (over: Store): Engine => engineOf(text, { work }, { store: over, clock, wake: false });
    // The input, the due time; the process dies before it stores the result of `slow`.
    const dying = open(new CrashingStore(store, 2)).run({}, { thread: "t" });
    dying.catch(() => undefined);
    await clock.advance(30_000);
    await expect(dying).rejects.toMatchObject({ code: "NG_STORE_FAILED" });
    await clock.advance(5_000);
    const [head] = await store.list("t");
    expect(await store.getWrites("t", head!.id)).toMatchObject([{ taskId: expect.stringMatching(/^due:nap@0/) }]);
    clock.skip(HOUR);
    const resumed = open(store).resume("t");
    await clock.advance(30_000);
    // `slow` runs again; `nap` is over.
    expect(await resumed).toMatchObject({ status: "completed", output: { log: ["slow", "after"] } });
  });

  test("W7: a long sleep is refused without a store: at the start if its duration is constant, else when it begins", async () => {
    await expect(engineOf(SLEEPY).run({})).rejects.toMatchObject({
      code: "NG_NO_STORE",
      message: expect.stringContaining("`nap`"),
    });
    // Each look at the clock takes a millisecond: what is left is less than a minute soon.
    let now = 0;
    const clock: Clock = { ...systemClock, now: () => now++ };
    const computed = engineOf(`graph g { input ms: int  node nap = sleep(ms)  start -> nap }`, {}, { clock });
    expect(await computed.run({ ms: 0 })).toMatchObject({ status: "completed" });
    expect(await computed.run({ ms: 60_001 })).toMatchObject({
      status: "failed",
      error: { code: "NG_NO_STORE", message: expect.stringContaining("longer than a minute") },
    });
  });

  test("W1: a timer and a signal take no answer; the answer without an id goes to the question", async () => {
    const { engine } = workshop(`graph g { output parcel: json  output answer: json  node nap = sleep(3h)
      node question = ask("?") into answer  node picked = receive("x") into parcel  start -> nap, question, picked }`);
    const { pauses } = await engine.run({}, { thread: "t" });
    const id = (node: string): string => pauses.find((pause) => pause.node === node)!.id;
    await expect(engine.resume("t", { answers: { [id("nap")]: true } })).rejects.toMatchObject({
      code: "NG_BAD_ANSWER",
      message: expect.stringContaining("is a timer"),
    });
    await expect(engine.resume("t", { answers: { [id("picked")]: 1 } })).rejects.toMatchObject({
      code: "NG_BAD_ANSWER",
      message: expect.stringContaining("send it with `engine.signal`"),
    });
    const answered = await engine.resume("t", { answer: "yes" });
    expect(answered.pauses.map(({ node }) => node)).toEqual(["nap", "picked"]);
    await expect(engine.resume("t", { answer: "yes" })).rejects.toMatchObject({ code: "NG_BAD_ANSWER" });
  });

  test("W1: a bare resume opens no gate while a timer waits", async () => {
    const { engine } = workshop(`graph inner { node gated = print("x") { pause before }  start -> gated }
      graph g { node call = inner()  node nap = sleep(3h)  start -> call, nap }`);
    const { pauses } = await engine.run({}, { thread: "t" });
    expect(pauses.map(({ kind }) => kind)).toEqual(["before", "timer"]);
    expect((await engine.resume("t")).pauses.map(({ kind }) => kind)).toEqual(["before", "timer"]);
    expect((await engine.resume("t", { answer: true })).pauses.map(({ kind }) => kind)).toEqual(["timer"]);
  });
});

describe("deadlines", () => {
  test("W3: when the deadline has passed, the node fails with NG_NODE_TIMEOUT and takes its error edges; a later answer is refused", async () => {
    const { engine, clock } = workshop(APPROVAL);
    const { pauses } = await engine.run({}, { thread: "t" });
    expect(pauses).toMatchObject([{ kind: "interrupt", due: clock.now() + 3 * HOUR }]);
    clock.skip(3 * HOUR - 1);
    expect((await engine.due()).results).toEqual([]);
    clock.skip(1);
    expect((await engine.due()).results).toMatchObject([{ status: "completed", output: { log: ["NG_NODE_TIMEOUT"] } }]);
    await expect(engine.resume("t", { answers: { [pauses[0]!.id]: "yes" } })).rejects.toMatchObject({
      code: "NG_BAD_ANSWER",
    });
  });

  test("W3: what is stored first wins: an answer that comes before `due` has looked counts, even past the deadline", async () => {
    const { engine, clock } = workshop(APPROVAL);
    await engine.run({}, { thread: "t" });
    clock.skip(4 * HOUR);
    expect(await engine.resume("t", { answer: "yes" })).toMatchObject({
      status: "completed",
      output: { log: ["yes"] },
    });
    expect((await engine.due()).results).toEqual([]);
  });

  test("W3: an answer that was stored before a crash wins over the deadline that passed meanwhile", async () => {
    const { store, clock, open, engine } = workshop(APPROVAL);
    await engine.run({}, { thread: "t" });
    const dying = open({ store: new CrashingStore(store, 1) });
    await expect(dying.resume("t", { answer: "yes" })).rejects.toMatchObject({ code: "NG_STORE_FAILED" });
    clock.skip(4 * HOUR);
    expect((await engine.due()).results).toEqual([]);
    expect((await engine.recover()).results).toMatchObject([{ status: "completed", output: { log: ["yes"] } }]);
  });

  test("without an error edge the run fails, and fails again when it is resumed", async () => {
    const { engine, clock } = workshop(
      `graph g { output a: json  node q = ask("?") into a { within 1h }  start -> q }`,
    );
    await engine.run({}, { thread: "t" });
    clock.skip(HOUR);
    const failed = {
      status: "failed",
      error: { code: "NG_NODE_TIMEOUT", message: "node `q` received no answer within 3600000 ms" },
    };
    expect((await engine.due()).results).toMatchObject([failed]);
    expect(await engine.resume("t")).toMatchObject(failed);
  });

  test("each item of a `for` has its own deadline, and siblings keep their results", async () => {
    const { engine, clock } =
      workshop(`graph g { input xs: string[]  output all: string[] reduce append  output log: string[] reduce append
      node q = ask(x) for x in xs into all { within 1h }  node late = "late" into log  start -> q  q -> late on error }`);
    const { pauses } = await engine.run({ xs: ["a", "b"] }, { thread: "t" });
    clock.skip(HOUR - 1);
    await engine.resume("t", { answers: { [pauses[0]!.id]: "A" } });
    clock.skip(1);
    expect((await engine.due()).results).toMatchObject([{ status: "completed", output: { all: [], log: ["late"] } }]);
  });

  test("`interrupt` in code takes a deadline too", async () => {
    const { engine, clock } = workshop(`graph g { output a: json  node q = question() into a  start -> q }`, {
      question: (context: NodeContext) => context.interrupt("?", { within: 1000 }),
    });
    expect((await engine.run({}, { thread: "t" })).pauses).toMatchObject([{ due: clock.now() + 1000 }]);
    clock.skip(1000);
    expect((await engine.due()).results).toMatchObject([{ status: "failed", error: { code: "NG_NODE_TIMEOUT" } }]);
  });

  test("a deadline in a called graph wakes its caller", async () => {
    const { engine, clock } =
      workshop(`graph inner { output a: json  node q = ask("?") into a { within 1h }  start -> q }
      graph g { output a: json  output log: string[] reduce append  node call = inner() into { a }  node late = error.code into log
        start -> call  call -> late on error }`);
    const { pauses } = await engine.run({}, { thread: "t" });
    expect(pauses).toMatchObject([{ namespace: ["call"], due: clock.now() + HOUR }]);
    clock.skip(HOUR);
    expect((await engine.due()).results).toMatchObject([{ status: "completed", output: { log: ["NG_NODE_FAILED"] } }]);
  });
});

describe("signals", () => {
  test("W4: a signal that comes while the thread waits is stored without the claim, and wakes it", async () => {
    const { engine, events } = workshop(PARCEL);
    const { pauses } = await engine.run({}, { thread: "t" });
    expect(pauses).toMatchObject([{ node: "picked", kind: "signal", payload: "picked_up" }]);
    const { id, added } = await engine.signal("t", "picked_up", { weight: 3 });
    expect(added).toBe(true);
    expect((await engine.due()).results).toMatchObject([
      { status: "completed", output: { parcel: { weight: 3 }, log: ["done"] } },
    ]);
    expect(events.filter(({ type }) => type === "signal")).toMatchObject([
      { phase: "taken", id, name: "picked_up", node: "picked" },
    ]);
  });

  test("W4: signals that come early are kept in order, and each is taken once", async () => {
    const { engine, store, clock } = workshop(`graph g { output all: json[] reduce append  node nap = sleep(3h)
      node one = receive("x") into all  node two = receive("x") into all  start -> nap -> one -> two }`);
    await engine.run({}, { thread: "t" });
    for (const value of [1, 2, 3]) await engine.signal("t", "x", value);
    await engine.signal("t", "y", "other");
    clock.skip(3 * HOUR);
    expect((await engine.due()).results).toMatchObject([{ status: "completed", output: { all: [1, 2] } }]);
    expect(store.getSignals("t")).toEqual([]);
  });

  test("W4: signals that no node took are dropped at the end of the run, with an event; later signals belong to the next run", async () => {
    const { engine, events, store } = workshop(PARCEL);
    await engine.run({}, { thread: "t" });
    await engine.signal("t", "picked_up", { weight: 1 });
    await engine.signal("t", "picked_up", { weight: 2 }, { id: "second" });
    await engine.due();
    expect(events.filter((event) => event.type === "signal" && event.phase === "dropped")).toMatchObject([
      { id: "second", name: "picked_up" },
    ]);
    expect(store.getSignals("t")).toEqual([]);
    await engine.signal("t", "picked_up", { weight: 3 });
    expect(await engine.run({}, { thread: "t" })).toMatchObject({
      status: "completed",
      output: { parcel: { weight: 3 } },
    });
  });

  test("W4: a run that is abandoned loses its signals", async () => {
    const { engine, events } = workshop(PARCEL);
    await engine.run({}, { thread: "t" });
    await engine.signal("t", "picked_up", { weight: 1 });
    expect(await engine.run({}, { thread: "t", abandon: true })).toMatchObject({ status: "paused" });
    expect(events.filter((event) => event.type === "signal" && event.phase === "dropped")).toHaveLength(1);
  });

  test("W4: the same id counts once, also after the signal was taken", async () => {
    const { engine, store } = workshop(`graph g { output all: json[] reduce append
      node one = receive("x") into all  node two = receive("x") into all  start -> one -> two }`);
    await engine.run({}, { thread: "t" });
    expect(await engine.signal("t", "x", 1, { id: "a" })).toEqual({ id: "a", added: true });
    expect(await engine.signal("t", "x", 2, { id: "a" })).toEqual({ id: "a", added: false });
    await engine.due();
    expect(await engine.signal("t", "x", 3, { id: "a" })).toEqual({ id: "a", added: false });
    expect(store.getSignals("t")).toEqual([]);
    expect(await engine.state("t")).toMatchObject({ status: "paused", state: { all: [1] } });
  });

  test("W4: waiters of one name in a step are served in task order", async () => {
    const { engine } = workshop(`graph g { output a: json  output b: json  output all: json[] reduce append
      node second = receive("x") into b  node first = receive("x") into a  node every = receive(n) for n in ["x", "y"] into all
      start -> second, first, every }`);
    await engine.run({}, { thread: "t" });
    await engine.signal("t", "x", 1);
    const one = await engine.due();
    expect(one.results[0]!.pauses.map(({ taskId }) => taskId)).toEqual(["first", "every[0]", "every[1]"]);
    await engine.signal("t", "y", "Y");
    await engine.signal("t", "x", 2);
    await engine.signal("t", "x", 3);
    expect((await engine.due()).results).toMatchObject([
      { status: "completed", output: { b: 1, a: 2, all: [3, "Y"] } },
    ]);
  });

  test("W4: a value that does not fit is refused while a node waits, and fails the node that takes it later", async () => {
    const { engine, clock } =
      workshop(`graph g { output parcel: { weight: int }  output log: string[] reduce append  node nap = sleep(3h)
      node picked = receive("x") into parcel  node bad = error.code into log  start -> nap -> picked  picked -> bad on error  bad -> picked }`);
    await engine.run({}, { thread: "t" });
    await engine.signal("t", "x", "not a parcel");
    clock.skip(3 * HOUR);
    const [failed] = (await engine.due()).results;
    expect(failed).toMatchObject({
      status: "paused",
      output: { log: ["NG_BAD_RESULT"] },
      pauses: [{ kind: "signal" }],
    });
    await expect(engine.signal("t", "x", { weight: "heavy" })).rejects.toMatchObject({
      code: "NG_BAD_ANSWER",
      message: expect.stringMatching(/does not fit node `picked`.*weight/),
    });
    await engine.signal("t", "x", { weight: 1 });
    expect((await engine.due()).results).toMatchObject([{ status: "completed", output: { parcel: { weight: 1 } } }]);
  });

  test("W3: a signal in the inbox wins over a deadline that has passed", async () => {
    const { engine, clock } = workshop(`graph g { output x: json  output log: string[] reduce append
      node wait = receive("x") into x { within 1h }  node late = error.code into log  start -> wait  wait -> late on error }`);
    await engine.run({}, { thread: "t" });
    await engine.run({}, { thread: "u" });
    clock.skip(2 * HOUR);
    await engine.signal("t", "x", 1);
    const { results } = await engine.due();
    const outputs = new Map(results.map(({ thread, output }) => [thread, output]));
    expect(outputs.get("t")).toEqual({ x: 1, log: [] });
    expect(outputs.get("u")).toEqual({ x: null, log: ["NG_NODE_TIMEOUT"] });
  });

  test("W4: a signal is taken in the transaction that stores the result: a crash neither loses it nor takes it twice", async () => {
    const text = `graph g { output all: json[] reduce append  node nap = sleep(3h)  node one = receive("x") into all
      node two = work() into all  node three = receive("x") into all  start -> nap -> one, two  all(one, two) -> three }`;
    for (let writes = 0; ; writes++) {
      const { clock, store, open, engine } = workshop(text, { work: () => "work" });
      await engine.run({}, { thread: "t" });
      await engine.signal("t", "x", 1);
      clock.skip(3 * HOUR);
      const dying = open({ store: new CrashingStore(store, writes) });
      const died = await dying.resume("t").then(
        () => false,
        () => true,
      );
      clock.skip(HOUR);
      if (died) {
        const { results } = await engine.due();
        const { results: recovered } = await engine.recover();
        expect([...results, ...recovered].length, `after ${writes} writes`).toBeLessThan(2);
      }
      const state = await engine.state("t");
      expect(state, `after ${writes} writes`).toMatchObject({ status: "paused", state: { all: [1, "work"] } });
      await engine.signal("t", "x", 2);
      await engine.due();
      expect((await engine.state("t"))?.state, `after ${writes} writes`).toEqual({ all: [1, "work", 2] });
      if (!died) break;
    }
  });

  test("W4: a result that its step drops gives its signal back", async () => {
    let isBroken = true;
    const { engine, clock } = workshop(
      `graph g { output all: json[] = [] reduce last_two  node nap = sleep(3h)  node one = receive("x") into all  start -> nap -> one }`,
      {
        last_two: (_: unknown, update: unknown) => {
          if (isBroken) throw new Error("broken");
          return update;
        },
      },
    );
    await engine.run({}, { thread: "t" });
    await engine.signal("t", "x", [1]);
    clock.skip(3 * HOUR);
    expect((await engine.due()).results).toMatchObject([{ status: "failed", error: { code: "NG_REDUCER_FAILED" } }]);
    isBroken = false;
    expect(await engine.resume("t")).toMatchObject({ status: "completed", output: { all: [1] } });
  });

  test("W4: a signal whose name no pause waits for leaves the thread waiting: it is no conflict with another process", async () => {
    const store = new MemoryStore();
    const text = `graph g { output n: int = 0  node a = receive("go") into n  start -> a }`;
    const engine = engineOf(text, {}, { store, wake: false });
    await engine.run({}, { thread: "t" });
    await engine.signal("t", "other", 1);
    expect(await engine.threads({ due: 0 })).toHaveLength(1);
    expect(await engine.due()).toEqual({ results: [], conflicts: 0, failures: [] });
    await engine.signal("t", "go", 2);
    expect(await engine.due()).toMatchObject({ results: [{ output: { n: 2 } }], conflicts: 0 });
  });

  test("a called graph takes signals of its thread", async () => {
    const { engine, store } = workshop(`graph inner { output a: json  output b: json  node one = receive("x") into a
        node two = receive("x") into b  start -> one -> two }
      graph g { output a: json  output b: json  node call = inner() into { a, b }  start -> call }`);
    await engine.run({}, { thread: "t" });
    await engine.signal("t", "x", 1);
    expect((await engine.due()).results).toMatchObject([
      { status: "paused", pauses: [{ namespace: ["call"], node: "two" }] },
    ]);
    expect(store.getSignals("t")).toEqual([]);
    await engine.signal("t", "x", 2);
    expect((await engine.due()).results).toMatchObject([{ status: "completed", output: { a: 1, b: 2 } }]);
  });

  test("a crash after a called graph has taken its signal leaves a thread that `recover` continues", async () => {
    const text = `graph inner { output a: json  output b: string  node one = receive("x") into a  node two = "two" into b
        start -> one -> two }
      graph g { output a: json  output b: string  node call = inner() into { a, b }  start -> call }`;
    for (let writes = 0; ; writes++) {
      const { engine, open, store, clock } = workshop(text);
      await engine.run({}, { thread: "t" });
      await engine.signal("t", "x", 1);
      const died = await open({ store: new CrashingStore(store, writes) })
        .resume("t")
        .then(
          () => false,
          () => true,
        );
      clock.skip(HOUR);
      const { results: due } = await engine.due();
      const { results: recovered } = await engine.recover();
      expect([...due, ...recovered].length, `after ${writes} writes`).toBe(died ? 1 : 0);
      expect(await engine.state("t"), `after ${writes} writes`).toMatchObject({
        status: "completed",
        state: { a: 1, b: "two" },
      });
      if (!died) break;
    }
  });

  test("bad calls are refused", async () => {
    const { engine, open } = workshop(PARCEL);
    const deaf = engineOf(`graph g { node a = print("x")  start -> a }`, {}, { store: new MemoryStore() });
    await expect(engine.signal("nobody", "picked_up")).rejects.toMatchObject({ code: "NG_UNKNOWN_THREAD" });
    await expect(deaf.signal("t", "x")).rejects.toMatchObject({
      code: "NG_BAD_INPUT",
      message: expect.stringContaining("no node that receives signals"),
    });
    await engine.run({}, { thread: "t" });
    await expect(engine.signal("t", "")).rejects.toMatchObject({ code: "NG_BAD_INPUT" });
    await expect(engine.signal("t", "x", 1, { key: "a" } as never)).rejects.toMatchObject({ code: "NG_BAD_INPUT" });
    await expect(engine.signal("t", "x", (() => 1) as never)).rejects.toMatchObject({ code: "NG_BAD_ANSWER" });
    await expect(engine.due(Number.NaN)).rejects.toMatchObject({ code: "NG_BAD_INPUT" });
    const { putSignal: _, getSignals: __, ...plain } = storeMethods(new MemoryStore());
    const old = open({ store: plain as Store });
    expect(await old.run({}, { thread: "u" })).toMatchObject({ status: "failed", error: { code: "NG_NO_STORE" } });
    await expect(old.signal("u", "picked_up", { weight: 1 })).rejects.toMatchObject({ code: "NG_STORE_FAILED" });
  });

  test("W7: without a store, a short wait is served from memory, and a long one is refused", async () => {
    const clock = new VirtualClock();
    const text = (within: string) =>
      `graph g { output x: json  output late: string  node wait = receive("x") into x ${within}  node failed = error.code into late
        start -> wait  wait -> failed on error }`;
    for (const within of ["", "{ within 61s }"]) {
      await expect(engineOf(text(within)).run({}, { thread: "t" })).rejects.toMatchObject({ code: "NG_NO_STORE" });
    }
    const engine = engineOf(text("{ within 60s }"), {}, { clock });
    const running = engine.run({}, { thread: "t" });
    await settle();
    expect(await engine.signal("t", "x", 7, { id: "a" })).toEqual({ id: "a", added: true });
    expect(await running).toMatchObject({ status: "completed", output: { x: 7 } });
    await expect(engine.signal("t", "x", 7)).rejects.toMatchObject({ code: "NG_UNKNOWN_THREAD" });
    const late = engine.run({}, { thread: "t" });
    await settle();
    await clock.advance(MINUTE);
    expect(await late).toMatchObject({ status: "completed", output: { late: "NG_NODE_TIMEOUT" } });
  });
});

describe("W5: forks", () => {
  test("a fork keeps the due time of the wait; one from before the wait computes it again", async () => {
    const { engine, clock } = workshop(SLEEPY);
    const { pauses, checkpointId } = await engine.run({}, { thread: "t" });
    const before = (await engine.history("t")).at(-1)!;
    clock.skip(HOUR);
    await engine.fork("t", { from: checkpointId!, as: "same" });
    expect((await engine.state("same"))?.pauses).toMatchObject([{ due: pauses[0]!.due }]);
    await engine.fork("t", { from: before.id, as: "again" });
    expect(await engine.resume("again")).toMatchObject({ status: "paused", pauses: [{ due: clock.now() + 3 * HOUR }] });
    clock.skip(2 * HOUR);
    const { results } = await engine.due();
    expect(results.map(({ thread }) => thread).sort()).toEqual(["same", "t"]);
  });

  test("a fork takes again what was taken after its checkpoint, in the same thread and in another", async () => {
    const text = `graph g { output all: json[] reduce append  node one = receive("x") into all  node two = receive("x") into all
      node three = receive("y") into all  start -> one -> two -> three }`;
    for (const as of ["u", undefined]) {
      const { engine } = workshop(text);
      const first = await engine.run({}, { thread: "t" });
      await engine.signal("t", "x", 1);
      await engine.due();
      await engine.signal("t", "x", 2);
      await engine.due();
      await engine.signal("t", "z", "never taken");
      expect(await engine.state("t")).toMatchObject({ status: "paused", state: { all: [1, 2] } });
      const { thread } = await engine.fork("t", { from: first.checkpointId!, ...(as === undefined ? {} : { as }) });
      expect(await engine.resume(thread)).toMatchObject({
        status: "paused",
        state: { all: [1, 2] },
        pauses: [{ payload: "y" }],
      });
      await engine.signal(thread, "y", 3);
      expect((await engine.due()).results).toMatchObject([{ thread, status: "completed", output: { all: [1, 2, 3] } }]);
    }
  });

  test("a fork from inside a step keeps the results of the step, and their signals are not taken again", async () => {
    const { engine } = workshop(`graph g { output all: json[] reduce append  node one = receive("x") into all
      node two = receive("y") into all  node three = receive("x") into all  start -> one, two  all(one, two) -> three }`);
    await engine.run({}, { thread: "t" });
    await engine.signal("t", "x", 1);
    await engine.due();
    await engine.fork("t", { as: "u" });
    await engine.signal("u", "y", 2);
    await engine.due();
    expect(await engine.state("u")).toMatchObject({ status: "paused", state: { all: [1, 2] } });
  });
});

describe("W2: steps", () => {
  test("a waiting node holds its step; a called graph frees it", async () => {
    const { engine, clock } = workshop(`graph nap { node rest = sleep(3h)  start -> rest }
      graph g { output log: string[] reduce append  node rest = sleep(2h)  node call = nap()  node side = "side" into log  node next = "next" into log
        start -> rest, call, side  side -> next }`);
    expect((await engine.run({}, { thread: "t" })).pauses.map(({ node }) => node)).toEqual(["rest", "rest"]);
    clock.skip(2 * HOUR);
    const [half] = (await engine.due()).results;
    expect(half).toMatchObject({ status: "paused", output: { log: [] }, pauses: [{ namespace: ["call"] }] });
    clock.skip(HOUR);
    expect((await engine.due()).results).toMatchObject([{ status: "completed", output: { log: ["side", "next"] } }]);
  });
});

describe("waking", () => {
  test("a live engine resumes a thread that it has paused when it is due, and reports it", async () => {
    const woken: unknown[] = [];
    const { engine, clock } = workshop(SLEEPY, {}, { wake: true, onWake: (end) => woken.push(end) });
    await engine.run({}, { thread: "t" });
    await clock.advance(3 * HOUR - 1);
    expect(woken).toEqual([]);
    await clock.advance(1);
    expect(woken).toMatchObject([{ thread: "t", error: null, result: { status: "completed" } }]);
    expect(clock.waiting).toEqual([]);
  });

  test("a live engine resumes a thread when its signal comes, also one that came while the run paused", async () => {
    const woken: unknown[] = [];
    const { engine, store, events } = workshop(PARCEL, {}, { wake: true, onWake: (end) => woken.push(end) });
    await engine.run({}, { thread: "t" });
    await engine.signal("t", "picked_up", { weight: 1 });
    await settle();
    expect(woken).toMatchObject([{ thread: "t", result: { status: "completed" } }]);

    events.length = 0;
    const eager = engineOf(
      PARCEL,
      {},
      {
        store,
        onWake: (end) => woken.push(end),
        onEvent: (event) => {
          // Another process sends the signal after this one has read its inbox.
          if (event.type === "pause") store.putSignal("u", { id: "a", name: "picked_up", value: { weight: 2 } });
        },
      },
    );
    expect(await eager.run({}, { thread: "u" })).toMatchObject({ status: "paused" });
    await settle();
    expect(woken).toMatchObject([{ thread: "t" }, { thread: "u", result: { status: "completed" } }]);
  });

  test("a resume in the foreground replaces the timer", async () => {
    const woken: unknown[] = [];
    const { engine, clock } = workshop(APPROVAL, {}, { wake: true, onWake: (end) => woken.push(end) });
    await engine.run({}, { thread: "t" });
    await engine.resume("t", { answer: "yes" });
    await clock.advance(4 * HOUR);
    expect(woken).toEqual([]);
  });

  test("`due(now)` takes the caller's time; several callers wake each thread once", async () => {
    const { clock, open } = workshop(SLEEPY);
    const engines = [open(), open(), open()];
    for (let n = 0; n < 20; n++) await engines[0]!.run({}, { thread: `t${n}` });
    const results = await Promise.all(engines.map((engine) => engine.due(clock.now() + 3 * HOUR)));
    const threads = results.flatMap(({ results: woken }) => woken.map(({ thread }) => thread));
    expect(new Set(threads).size).toBe(20);
    expect(threads).toHaveLength(20);
    expect(results.flatMap(({ failures }) => failures)).toEqual([]);
  });
});

test("the table of a node holds its deadline", () => {
  expect(tableOf(APPROVAL).nodes[0]).toMatchObject({ name: "approve", within: 3 * HOUR });
});

function storeMethods(store: MemoryStore): Store {
  const names = Object.getOwnPropertyNames(MemoryStore.prototype).filter((name) => name !== "constructor");
  return Object.fromEntries(
    names.map((name) => [name, (store[name as keyof MemoryStore] as (...args: unknown[]) => unknown).bind(store)]),
  ) as unknown as Store;
}
