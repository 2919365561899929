/** Long lists are encoded in turns of the event loop before their checkpoint is saved. */
import { expect, test } from "vitest";
import { SqliteStore } from "../../runtime/stores/sqlite.ts";
import { engineOf } from "../support/graph.ts";
import { temporaryDirectory } from "./temporary-directory.ts";

const inDirectory = temporaryDirectory();
const TEXT = `type Row = { id: string, n: int }
  graph g { input rows: Row[]  input more: Row[]  output all: Row[] = [] reduce append
    node first = rows into all  node second = more into all  start -> first -> second }`;
const rows = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, n) => ({ id: `rów "${from + n}"\n`, n: from + n }));

test.each(["sync", "async", "exit"] as const)(
  "a long list is read as it was saved, durability %s",
  async (durability) => {
    const path = inDirectory("runs.db");
    const store = new SqliteStore(path);
    const engine = engineOf(TEXT, {}, { store });
    const input = { rows: rows(0, 5000), more: rows(5000, 9000) };
    const { output } = await engine.run(input, { thread: "t", durability });
    expect(output).toEqual({ all: rows(0, 9000) });
    store.close();
    const opened = new SqliteStore(path);
    expect(opened.loadLatest("t")?.values).toEqual({ ...input, all: rows(0, 9000) });
    const values = opened
      .list("t")
      .map((checkpoint) => (checkpoint.values["all"] as unknown[] | undefined)?.length ?? 0);
    expect(values).toEqual(durability === "exit" ? [9000, 0] : [9000, 5000, 0]);
    opened.close();
  },
);

test("a claim that is lost while a list is encoded writes nothing", async () => {
  const path = inDirectory("runs.db");
  const [store, other] = [new SqliteStore(path), new SqliteStore(path)];
  const text = `graph g { input xs: int[]  output ys: int[] = []
    node lose = take(xs) into ys  start -> lose }`;
  const engine = engineOf(
    text,
    {
      take: (xs: readonly number[]) => {
        // The thread is deleted and begun anew by another process, after the last check of the claim.
        setImmediate(() => {
          other.deleteThread("t");
          other.claim("t", { owner: "other", leaseMs: 60_000 });
        });
        return xs;
      },
    },
    { store },
  );
  const xs = Array.from({ length: 50_000 }, (_, n) => n);
  await expect(engine.run({ xs }, { thread: "t" })).rejects.toMatchObject({ code: "NG_THREAD_CONFLICT" });
  expect(other.loadLatest("t")).toBeUndefined();
  store.close();
  other.close();
});
