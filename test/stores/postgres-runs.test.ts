/** Runs of several engines on threads of one schema: what a process knows of a thread from its last run never takes the place of what others wrote. */
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { PostgresStore } from "../../runtime/stores/postgres.ts";
import { numRuns } from "../support/depth.ts";
import { engineOf } from "../support/graph.ts";
import { PostgresServer } from "./postgres-server.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start();
}, 300_000);
afterAll(() => server.dispose());

const TEXT = `graph chat { input q: int  memory log: int[] = [] reduce append  memory last: map<int> = {} reduce merge
  node note = q into log  node keep = entry(q) into last  node again = q into log
  start -> note  note -> keep  keep -> again when q % 3 == 0  keep -> end otherwise  again -> end }`;
const functions = { entry: (q: number) => ({ [`k${q % 3}`]: q }) };

/** What the memory of the thread should be. */
interface Model {
  log: number[];
  last: Record<string, number>;
}

const EMPTY = (): Model => ({ log: [], last: {} });
const after = ({ log, last }: Model, q: number): Model => ({
  log: [...log, q, ...(q % 3 === 0 ? [q] : [])],
  last: { ...last, [`k${q % 3}`]: q },
});

const step = fc.record({
  engine: fc.nat(2),
  reader: fc.nat(1),
  q: fc.nat(99),
  durability: fc.constantFrom("sync", "async", "exit"),
  do: fc.constantFrom("run", "run", "run", "stop", "update", "prune", "label", "delete"),
} as const);

test("each run continues from what the run before it has stored, whoever executed it", async () => {
  const open = () => new PostgresStore({ url: server.url, schema: "runs", connections: 2 });
  const stores = [open(), open()] as const;
  const engines = [stores[0], stores[0], stores[1]].map((store) => ({
    store,
    engine: engineOf(TEXT, functions, { store }),
  }));
  let threads = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 16 }), async (steps) => {
      const thread = `thread ${++threads}`;
      let model: Model | undefined;
      for (const { engine: at, reader, q, durability, ...what } of steps) {
        const { engine, store } = engines[at]!;
        if (what.do === "run") {
          await engine.run({ q }, { thread, durability });
          model = after(model ?? EMPTY(), q);
        } else if (what.do === "stop") {
          const stop = new AbortController();
          const onEvent = ({ type }: { readonly type: string }): void => {
            if (type === "checkpoint") stop.abort();
          };
          const { status } = await engine.run({ q }, { thread, signal: stop.signal, onEvent });
          expect(status).toBe("cancelled");
          await engines[(at + 1) % engines.length]!.engine.resume(thread);
          model = after(model ?? EMPTY(), q);
        } else if (what.do === "delete") {
          await store.deleteThread(thread);
          model = undefined;
        } else if (model !== undefined) {
          if (what.do === "prune") await store.prune(thread, { keepLast: 1 + (q % 3) });
          else if (what.do === "label") await store.label(thread, (await store.loadLatest(thread))!.id, `label ${q}`);
          else {
            await engine.update(thread, { log: [q] });
            model = { ...model, log: [...model.log, q] };
          }
        }
        const head = await stores[reader]!.loadLatest(thread);
        expect(head && { log: head.values["log"], last: head.values["last"] }).toEqual(model);
      }
    }),
    { numRuns: numRuns(200) },
  );
  await Promise.all(stores.map((store) => store.close()));
}, 300_000);
