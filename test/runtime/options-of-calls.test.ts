/**
 * Interface: if the options of a call are not an object, the call fails with an error code, and the message describes
 * the options.
 */
import { describe, expect, test } from "vitest";
import {
  createEngine,
  createPlanRunner,
  type Engine,
  type EngineOptions,
  type NodeContext,
} from "../../runtime/index.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { PostgresStore } from "../../runtime/stores/postgres.ts";
import { SqliteStore } from "../../runtime/stores/sqlite.ts";
import { planTable } from "../plan/compile-plan.ts";
import { engineOf, tableOf } from "../support/graph.ts";

const TEXT = "graph g { output n: int = 0  node a = 1 into n  start -> a }";
const WRONG = [null, 5, "", []] as const;

describe.each(WRONG.map((wrong) => [JSON.stringify(wrong), wrong as never] as const))("%s as options", (_, wrong) => {
  const refused = (whose: string): object => ({
    code: "NG_BAD_INPUT",
    message: `the options of ${whose} must be a record`,
  });

  test("of calls to an engine", async () => {
    const engine = engineOf(TEXT, {}, { store: new MemoryStore() });
    await engine.run({}, { thread: "t" });
    await expect(engine.run({}, wrong)).rejects.toMatchObject(refused("a run"));
    await expect(engine.fork("t", wrong)).rejects.toMatchObject(refused("a fork"));
    await expect(engine.update("t", { n: 1 }, wrong)).rejects.toMatchObject(refused("an update"));
    await expect(engine.history("t", wrong)).rejects.toMatchObject(refused("a history"));
    await expect(engine.label("t", "here", wrong)).rejects.toMatchObject(refused("a label"));
    expect(() => engine.stream({}, wrong)).toThrow(expect.objectContaining(refused("a stream")) as Error);
    expect(await engine.history("t")).toHaveLength(2);
  });

  test("of engines and plan runners", async () => {
    const options = wrong as EngineOptions;
    expect(() => createEngine(tableOf(TEXT), options)).toThrow(expect.objectContaining(refused("an engine")) as Error);
    const plan = planTable("plan p { output n: int = 0  task a = 1 into n }");
    expect(() => createPlanRunner(plan, options)).toThrow(expect.objectContaining(refused("a plan runner")) as Error);
    await expect(createPlanRunner(plan).run({}, wrong)).rejects.toMatchObject(refused("a run"));
    await expect(createPlanRunner(plan).resume("t", wrong)).rejects.toMatchObject(refused("a resume"));
  });
});

describe("values of options", () => {
  // `String` throws for the first, and calls code of the program for the second.
  const hostile = {
    toString: () => {
      throw new Error("called");
    },
  };
  test.each([
    ["without a text", Object.create(null) as never],
    ["with a text of its own", hostile as never],
    ["a date", new Date() as never],
  ])("%s are refused", async (_, value) => {
    const engine = engineOf(TEXT, {}, { store: new MemoryStore() });
    await engine.run({}, { thread: "t" });
    const calls: Record<string, () => Promise<unknown>> = {
      ...Object.fromEntries(
        (["maxSteps", "maxTokens", "maxCost", "maxParallel", "durability", "onFailure", "ttl"] as const).map((name) => [
          name,
          () => engine.run({}, { [name]: value }),
        ]),
      ),
      limit: () => engine.recover({ limit: value }),
      concurrency: () => engine.due(0, { concurrency: value }),
      now: () => engine.due(value),
      status: () => engine.threads({ status: value }),
      expiredAt: () => engine.prune({ expiredAt: value }),
      view: async () => engine.stream({}, { view: value }).result,
      deadline: () => engine.drain({ deadline: value }),
    };
    for (const [name, call] of Object.entries(calls)) {
      // A record of limits without names is one.
      const isRecord =
        /^max(?:Steps|Tokens|Cost)$/.test(name) &&
        Object.keys(value).length === 0 &&
        !((value as unknown) instanceof Date);
      if (isRecord) continue;
      await expect(call(), name).rejects.toMatchObject({ code: "NG_BAD_INPUT" });
    }
  });

  test("texts are shown with their quotes", async () => {
    const engine = engineOf(TEXT, {}, {});
    await expect(engine.run({}, { maxSteps: "5" as never })).rejects.toThrow(/not "5"$/);
    await expect(engine.run({}, { maxParallel: "x".repeat(500) as never })).rejects.toThrow(/not "x{80}"$/);
  });
});

describe("names of options that a call does not know", () => {
  const refused = (message: string): object => ({ code: "NG_BAD_INPUT", message });
  const given = (options: object) => options as never;

  test("are refused with the similar name", async () => {
    const store = new MemoryStore();
    const create = () => createEngine(tableOf(TEXT), given({ stroe: store }));
    expect(create).toThrow(
      expect.objectContaining(refused("`stroe` is not an option of an engine; did you mean `store`?")) as Error,
    );
    const engine = engineOf(TEXT, {}, { store });
    await engine.run({}, { thread: "t" });
    const before = await engine.history("t");
    for (const [call, message] of [
      [() => engine.run({}, given({ treads: "x" })), "`treads` is not an option of a run; did you mean `thread`?"],
      [
        () => engine.resume("t", given({ anwsers: {} })),
        "`anwsers` is not an option of a resume; did you mean `answers`?",
      ],
      [() => engine.fork("t", given({ form: "x" })), "`form` is not an option of a fork; did you mean `from`?"],
      [
        () => engine.update("t", {}, given({ asNode: "a" })),
        "`asNode` is not an option of an update; did you mean `as`?",
      ],
      [
        () => engine.history("t", given({ limits: 1 })),
        "`limits` is not an option of a history; did you mean `limit`?",
      ],
      [
        () => engine.label("t", "x", given({ chekpoint: "y" })),
        "`chekpoint` is not an option of a label; did you mean `checkpoint`?",
      ],
    ] as const) {
      await expect(call()).rejects.toMatchObject(refused(message));
    }
    expect(await engine.history("t")).toEqual(before);
  });

  test("are refused with all names if none is similar", async () => {
    const engine = engineOf(TEXT, {}, { store: new MemoryStore() });
    await engine.run({}, { thread: "t" });
    await expect(engine.update("t", { n: 5 }, given({ namespace: "s" }))).rejects.toMatchObject(
      refused(
        "`namespace` is not an option of an update; its options are `as`, `in`, `replace`, `set`, `config`, `metadata`",
      ),
    );
    expect((await engine.state("t"))?.state).toEqual({ n: 1 });
  });

  test("are refused by an engine without a store, by streams and by plan runners", async () => {
    const engine = engineOf(TEXT);
    await expect(engine.run({}, given({ timeout: 5 }))).rejects.toMatchObject({ code: "NG_BAD_INPUT" });
    const veiw = expect.objectContaining(refused("`veiw` is not an option of a stream; did you mean `view`?")) as Error;
    expect(() => engine.stream({}, given({ veiw: "values" }))).toThrow(veiw);
    expect(() => engine.streamResume("t", given({ veiw: "values" }))).toThrow(veiw);
    const plan = planTable("plan p { output n: int = 0  task a = 1 into n }");
    expect(() => createPlanRunner(plan, given({ maxSteps: 5 }))).toThrow(
      /`maxSteps` is not an option of a plan runner/,
    );
    const runner = createPlanRunner(plan);
    await expect(runner.run({}, given({ fromTsk: "a" }))).rejects.toThrow(/of a run; did you mean `fromTask`\?/);
    await expect(runner.resume("t", given({ onyl: [] }))).rejects.toThrow(/of a resume; did you mean `only`\?/);
    expect(() => runner.stream({}, given({ bufer: 1 }))).toThrow(/of a stream; did you mean `buffer`\?/);
  });

  test("pass if they are symbols, and known names pass everywhere", async () => {
    const engine = engineOf(TEXT, {}, given({ store: new MemoryStore(), [Symbol("mine")]: 1 }));
    expect((await engine.run({}, given({ thread: "t", [Symbol("mine")]: 1 }))).status).toBe("completed");
    const stream = engine.stream({}, { view: "values", buffer: 5, thread: "u", metadata: {} });
    expect((await stream.result).status).toBe("completed");
    const plan = createPlanRunner(planTable("plan p { output n: int = 0  task a = 1 into n }"));
    expect((await plan.stream({}, { buffer: 5, maxParallel: 1 }).result).status).toBe("completed");
  });
});

describe("options of the calls of a body", () => {
  const TEXT_OF_BODY = "graph g { output n: int = 0  node a = body() into n  start -> a }";

  test.each<[string, (context: NodeContext) => unknown, string]>([
    ["emit", (c) => c.emit("x", { kindd: "token" } as never), "`emit` takes a record of `kind`, which is a string"],
    ["emit", (c) => c.emit("x", { kind: 3 } as never), "`emit` takes a record of `kind`, which is a string"],
    ["emit", (c) => c.emit("x", "token" as never), "`emit` takes a record of `kind`, which is a string"],
    ["interrupt", (c) => c.interrupt("?", { withn: 5 } as never), "`interrupt` takes a record of `expects`"],
    ["interrupt", (c) => c.interrupt("?", { within: "3d" } as never), "`interrupt` takes a record of `expects`"],
    ["interrupt", (c) => c.interrupt("?", { within: NaN }), "`interrupt` takes a record of `expects`"],
  ])("%s fails the node, also if the body catches the error (%#)", async (_, call, problem) => {
    for (const options of [{}, { store: new MemoryStore() }, { onEvent: () => undefined }]) {
      for (const body of [
        (context: NodeContext) => {
          call(context);
          return 1;
        },
        (context: NodeContext) => {
          try {
            call(context);
          } catch {
            // The engine has kept the error.
          }
          return 1;
        },
      ]) {
        const { status, error } = await engineOf(TEXT_OF_BODY, { body }, options).run({});
        expect([status, error?.code]).toEqual(["failed", "NG_BAD_RESULT"]);
        expect(error?.message).toContain(`node \`a\`: ${problem}`);
      }
    }
  });

  test("known ones pass, and missing values", async () => {
    const body = (context: NodeContext): number => {
      context.emit("x");
      context.emit("x", {});
      context.emit("x", { kind: undefined });
      context.emit("x", { kind: "token" });
      return context.interrupt("?", { within: undefined, expects: undefined });
    };
    const engine = engineOf(TEXT_OF_BODY, { body }, { store: new MemoryStore() });
    expect((await engine.run({}, { thread: "t" })).status).toBe("paused");
    expect((await engine.resume("t", { answer: 3 })).output).toEqual({ n: 3 });
  });
});

test("a listing of threads refuses a status that is none", async () => {
  const engine = engineOf(TEXT, {}, { store: new MemoryStore() });
  const message = expect.stringContaining("`rolled_back`, `interrupted`, not pause") as string;
  await expect(engine.threads({ status: "pause" as never })).rejects.toMatchObject({ code: "NG_BAD_INPUT", message });
});

describe("options of stores", () => {
  test.each([
    [
      () => new MemoryStore({ nwo: () => 1 } as never),
      "`nwo` is not an option of a store in memory; did you mean `now`?",
    ],
    [() => new MemoryStore({ now: 5 } as never), "`now`, an option of a store in memory, is a function, not 5"],
    [
      () => new SqliteStore({ path: ":memory:", jurnal: "wal" } as never),
      "`jurnal` is not an option of an SQLite store; did you mean `journal`?",
    ],
    [
      () => new SqliteStore({ path: ":memory:", journal: "x" } as never),
      "`journal` of an SQLite store is `auto`, `wal` or `rollback`",
    ],
    [
      () => new SqliteStore({ path: ":memory:", busyTimeout: -1 }),
      "`busyTimeout` is a number of milliseconds, at least 0, not -1",
    ],
    [() => new SqliteStore(null as never), "the options of an SQLite store must be a record"],
    [() => new PostgresStore({ schema: 5 } as never), "`schema`, an option of a Postgres store, is a text, not 5"],
    [
      () => new PostgresStore({ connections: 0 }),
      "`connections`, an option of a Postgres store, is a whole number of at least 1, not 0",
    ],
    [() => new PostgresStore({ pol: {} } as never), "`pol` is not an option of a Postgres store; did you mean `pool`?"],
    [() => new PostgresStore({ pool: 5 } as never), "`pool`, an option of a Postgres store, is a record, not 5"],
  ])("%s", (open, message) => {
    expect(open).toThrow(expect.objectContaining({ code: "NG_BAD_INPUT", message }) as Error);
  });
});

describe("values of another kind", () => {
  const wrong = (call: () => unknown): Promise<string> =>
    Promise.resolve()
      .then(call)
      .then(
        () => "accepted",
        (error: { readonly code?: string; readonly message: string }) => `${error.code ?? ""} ${error.message}`,
      );
  const given = (options: object) => options as never;

  test.each([
    ["allow", "net", "`allow`, an option of an engine, is a list of texts, not a text"],
    [
      "clock",
      {},
      "`clock`, an option of an engine, is an object with `now`, `setTimeout` and `clearTimeout`, not an object",
    ],
    ["host", "x", "`host`, an option of an engine, is a host, an object with `connect`, not a text"],
    ["wake", 1, "`wake`, an option of an engine, is true or false, not 1"],
    ["secrets", "x", "`secrets`, an option of an engine, is a record or a function, not a text"],
    ["mocks", null, "`mocks`, an option of an engine, is a record, not null"],
    ["random", 4, "`random`, an option of an engine, is a function, not 4"],
    ["cache", true, "`cache`, an option of an engine, is an object with `get`, `set` and `clear`, not true"],
  ])("%s of an engine", async (name, value, message) => {
    expect(await wrong(() => createEngine(tableOf(TEXT), given({ [name]: value })))).toBe(`NG_BAD_INPUT ${message}`);
  });

  test("of runs of plans", async () => {
    const runner = createPlanRunner(planTable("plan p { output n: int = 0  task a = 1 into n }"));
    const least = "`maxParallel`, an option of a run, is a whole number of at least 1, not 0";
    expect(await wrong(() => runner.run({}, { maxParallel: 0 }))).toBe(`NG_BAD_INPUT ${least}`);
    const metadata = "`metadata`, an option of a run, is a record, not 5";
    expect(await wrong(() => runner.run({}, given({ metadata: 5 })))).toBe(`NG_BAD_INPUT ${metadata}`);
  });

  test("of calls", async () => {
    const engine = engineOf(TEXT, {}, { store: new MemoryStore() });
    await engine.run({}, { thread: "t" });
    const before = await engine.history("t");
    const calls: readonly (readonly [call: () => unknown, message: string])[] = [
      [() => engine.run({}, given({ abandon: 1 })), "`abandon`, an option of a run, is true or false, not 1"],
      [() => engine.history("t", given({ limit: "5" })), "`limit`, an option of a history, is a number, not a text"],
      [() => engine.history("t", given({ before: null })), "`before`, an option of a history, is a text, not null"],
      [() => engine.history("t", given({ namespace: 5 })), "`namespace`, an option of a history, is a text, not 5"],
      [
        () => engine.update("t", { n: 2 }, given({ set: "n" })),
        "`set`, an option of an update, is a list of texts, not a text",
      ],
      [() => engine.update("t", { n: 2 }, given({ in: [] })), "`in`, an option of an update, is a text, not a list"],
      [
        () => engine.update("t", { n: 2 }, given({ replace: "no" })),
        "`replace`, an option of an update, is true or false, not a text",
      ],
      [() => engine.fork("t", given({ at: Symbol("a") })), "`at`, an option of a fork, is a text, not a symbol"],
      [() => engine.migrate("t", given({ dryRun: 0 })), "`dryRun`, an option of a migration, is true or false, not 0"],
      [
        () => engine.threads(given({ limit: Symbol("a") })),
        "`limit`, an option of a listing of threads, is a number, not a symbol",
      ],
      [() => engine.threads(given({ status: 1 })), "`status`, an option of a listing of threads, is a text, not 1"],
      [
        () => engine.recover(given({ threads: "t" })),
        "`threads`, an option of a recovery, is a list of texts, not a text",
      ],
      [() => engine.recover(given({ signal: 1 })), "`signal`, an option of a recovery, is an `AbortSignal`, not 1"],
      [
        () => engine.prune(given({ keepLast: 1, dryRun: "x" })),
        "`dryRun`, an option of a prune, is true or false, not a text",
      ],
      [
        () => engine.rollback("t", given({ signal: 5 })),
        "`signal` is an `AbortSignal`: hand over the `signal` of an `AbortController`",
      ],
      [
        () => engine.stream({}, given({ signal: 5 })),
        "`signal` is an `AbortSignal`: hand over the `signal` of an `AbortController`",
      ],
      [() => engine.stream({}, given({ onEvent: 5 })), "`onEvent` is a function"],
      [
        () => engine.prune(given({ keepLast: -1 })),
        "`keepLast`, an option of a prune, is a whole number of at least 1, not -1",
      ],
      [() => engine.stream({}, given({ buffer: "x" })), "`buffer`, an option of a stream, is a number, not a text"],
    ];
    for (const [call, message] of calls) expect(await wrong(call)).toBe(`NG_BAD_INPUT ${message}`);
    expect(await engine.history("t")).toEqual(before);
  });
});

describe("names of threads that are no names", () => {
  const NAMED = `graph g { output n: int = 0  output got: string = ""  node a = 1 into n  node b = receive("x") into got { within 1s }  start -> a -> b }`;

  test.each([
    ["5", 5, "the name of a thread must be a text, not 5"],
    ["an object", {}, "the name of a thread must be a text, not an object"],
    ["a list", ["t"], "the name of a thread must be a text, not a list"],
    ["a symbol", Symbol("t"), "the name of a thread must be a text, not a symbol"],
    ["a text object", Object("t"), "the name of a thread must be a text, not an object"],
    ["a long text", "x".repeat(2001), /^the name of thread "x{60}"… has 2001 characters/],
  ])("%s", async (_, thread, message) => {
    const wrong = thread as never;
    const engine = engineOf(NAMED, {}, { store: new MemoryStore() });
    const plan = createPlanRunner(planTable("plan p { output n: int = 0  task a = 1 into n }"), {
      store: new MemoryStore(),
    });
    const calls: readonly (() => Promise<unknown>)[] = [
      () => engine.run({}, { thread: wrong }),
      () => engine.resume(wrong),
      () => engine.streamResume(wrong).result,
      () => engine.rollback(wrong),
      () => engine.cancel(wrong),
      () => engine.state(wrong),
      () => engine.history(wrong),
      () => engine.label(wrong, "here"),
      () => engine.fork(wrong),
      () => engine.update(wrong, {}),
      () => engine.migrate(wrong),
      () => engine.signal(wrong, "x"),
      () => plan.run({}, { thread: wrong }),
      () => plan.resume(wrong),
    ];
    for (const call of calls) {
      await expect(call(), String(call)).rejects.toMatchObject({
        code: "NG_BAD_INPUT",
        message: expect.stringMatching(message) as string,
      });
    }
    expect(await engine.threads()).toEqual([]);
  });
});

describe("values that are not plain JSON", () => {
  const trap = (): never => {
    throw new Error("trap");
  };
  class Settings {
    readonly a = 1;
  }
  const revoked = (): object => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    return proxy;
  };
  const values: readonly (readonly [string, unknown])[] = [
    ["a map", new Map([["a", 1]])],
    ["a date", new Date(0)],
    ["an instance", new Settings()],
    ["a proxy", new Proxy({ a: 1 }, { getPrototypeOf: trap, ownKeys: trap })],
    ["a proxy that was revoked", revoked()],
  ];

  test.each(values)("%s is refused as a signal, also while the event loop is busy", async (_, value) => {
    const text = `graph g { output got: json | null  node wait = receive("sig") into got  start -> wait }`;
    for (const isBusy of [false, true]) {
      const engine = engineOf(text, {}, { store: new MemoryStore(), wake: false });
      await engine.run({}, { thread: "t" });
      const listed = engine.threads();
      // The next call waits for a turn.
      for (const end = performance.now() + 25; isBusy && performance.now() < end;);
      await expect(engine.signal("t", "sig", value as never)).rejects.toMatchObject({ code: "NG_BAD_ANSWER" });
      await listed;
    }
  });

  const text = `graph g { input x: json | null = null  config c: string = ""  state m: json | null = null  node wait = receive("sig") into m  start -> wait }`;
  const plain = `graph g { input x: json | null = null  config c: string = ""  output y: json | null  node copy = x into y  start -> copy }`;
  const calls: readonly (readonly [string, (engine: Engine, value: never) => Promise<unknown>])[] = [
    ["the input of a run", (engine, value) => engine.run(value)],
    ["the input of a stream", (engine, value) => engine.stream(value).result],
    ["the configuration of a run", (engine, config) => engine.run({}, { config })],
    ["the metadata of a run", (engine, metadata) => engine.run({}, { metadata })],
    ["the options of a run", (engine, value) => engine.run({}, value)],
    ["the input of a run without a store", (_, value) => engineOf(plain).run(value)],
    ["the configuration of a run without a store", (_, config) => engineOf(plain).run({}, { config })],
    ["the values of an update", (engine, value) => engine.update("t", value)],
    ["the values of an update as a node", (engine, value) => engine.update("t", value, { as: "wait" })],
    ["the values of a new thread", (engine, value) => engine.update("new", value, { as: "start" })],
    ["the configuration of an update", (engine, config) => engine.update("t", {}, { config })],
    ["the answers of a resume", (engine, answers) => engine.resume("t", { answers })],
    ["the answer of a resume", (engine, answer) => engine.resume("t", { answer })],
    ["the configuration of a resume", (engine, config) => engine.resume("t", { config })],
    ["the options of a resume", (engine, value) => engine.resume("t", value)],
    ["the configuration of a fork", (engine, config) => engine.fork("t", { as: "u", config })],
    ["the metadata of a fork", (engine, metadata) => engine.fork("t", { as: "u", metadata })],
    ["the values of a migration", (engine, set) => edited(engine).migrate("t", { set })],
    ["a value of a migration", (engine, m) => edited(engine).migrate("t", { set: { m } })],
    ["what a migration converts to", (engine, value) => edited(engine).migrate("t", { map: { m: () => value } })],
    ["the metadata of a list of threads", (engine, metadata) => engine.threads({ metadata })],
    ["an item of the memory", (engine, value) => engine.memory.put(["n"], "k", value)],
    ["a filter of the memory", (engine, filter) => engine.memory.list([], { filter })],
    ["a filter of a search", (engine, filter) => engine.memory.search([], { filter })],
  ];
  const stores = new WeakMap<Engine, MemoryStore>();
  /** An engine with the same store, and a newer version of the graph. */
  const edited = (engine: Engine): Engine =>
    engineOf(
      text.replace("start ->", "node next = 1  start -> next ->"),
      {},
      { store: stores.get(engine)!, wake: false },
    );

  test.each(calls)("are refused as %s", async (_, call) => {
    for (const [kind, value] of values) {
      const store = new MemoryStore();
      const engine = engineOf(text, {}, { store, wake: false });
      stores.set(engine, store);
      await engine.run({}, { thread: "t" });
      await engine.update("t", { m: 1 });
      const before = [await engine.state("t"), await engine.threads()];
      await expect(call(engine, value as never), kind).rejects.toMatchObject({
        code: expect.stringMatching(/^NG_BAD_(INPUT|ANSWER)$/) as string,
      });
      expect([await engine.state("t"), await engine.threads()], kind).toEqual(before);
    }
  });
});

test("a name of a thread that is given has at least one character, also without a store", async () => {
  const text = `graph g { output n: int = 0  node one = 1 into n  start -> one }`;
  for (const engine of [engineOf(text), engineOf(text, {}, { store: new MemoryStore() })]) {
    await expect(engine.run({}, { thread: null as never })).rejects.toMatchObject({ code: "NG_BAD_INPUT" });
    await expect(engine.run({}, { thread: "" })).rejects.toMatchObject({ code: "NG_UNKNOWN_THREAD" });
    expect(await engine.run({}, { thread: undefined as never })).toMatchObject({ status: "completed" });
  }
  const stored = engineOf(text, {}, { store: new MemoryStore() });
  await stored.run({}, { thread: "t" });
  await expect(stored.fork("t", { as: null as never })).rejects.toMatchObject({ code: "NG_BAD_INPUT" });
});

test("the id of a signal is a text of at least one character", async () => {
  const text = `graph g { output got: json | null  node wait = receive("sig") into got  start -> wait }`;
  const engine = engineOf(text, {}, { store: new MemoryStore(), wake: false });
  await engine.run({}, { thread: "t" });
  for (const id of ["", null, 5, "x".repeat(2001)]) {
    await expect(engine.signal("t", "sig", 1, { id: id as never })).rejects.toMatchObject({ code: "NG_BAD_INPUT" });
  }
});
