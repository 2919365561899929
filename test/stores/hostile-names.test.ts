import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Store } from "../../runtime/interface/store.ts";
import { inFile, inMemory, inPostgres } from "./each-store.ts";
import { expectNoAliases } from "./hostile-names.ts";
import { PostgresServer } from "./postgres-server.ts";
import { numRuns, scale } from "../support/depth.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start();
}, 300_000);
afterAll(() => server.dispose());

describe("names that are easily confused stay distinct", () => {
  it("in memory", () => expectNoAliases(inMemory, numRuns(400)));
  it("in a file", () => expectNoAliases(inFile, scale(150, 15)));
  it("in Postgres", () => expectNoAliases(() => inPostgres(server), scale(12, 2)));
});

/** How a careless store changes a name before it searches for the name. */
const CARELESS: Readonly<Record<string, (name: string) => string>> = {
  "cuts at NUL": (name) => name.split("\0")[0]!,
  normalises: (name) => name.normalize("NFC"),
  "replaces lone surrogates": (name) => name.replace(/\p{Surrogate}/gu, "\ufffd"),
  "folds case": (name) => name.toLowerCase(),
  trims: (name) => name.trimEnd(),
  "escapes what was escaped already": (name) => name.replaceAll("\\u0000", "\0"),
};

describe("the cases find a store that", () => {
  const cases = Object.entries(CARELESS).flatMap(([fault, alter]) =>
    (["thread", "namespace", "checkpoint", "label"] as const).map((kind) => [fault, kind, alter] as const),
  );
  it.each(cases)("%s when it looks for a %s", async (_, kind, alter) => {
    const makeStore = () => {
      const { store, dispose } = inMemory();
      const careless = looksFor(store, kind, alter);
      return { store: careless, reopen: () => careless, dispose };
    };
    await expect(expectNoAliases(makeStore, 400)).rejects.toThrow("Property failed");
  });
});

function looksFor(store: Store, kind: string, alter: (name: string) => string): Store {
  const as = (of: string, name: string) => (kind === of ? alter(name) : name);
  const replaced: Partial<Store> = {
    loadLatest: (thread, namespace = "") => store.loadLatest(as("thread", thread), as("namespace", namespace)),
    loadById: (thread, id) => store.loadById(as("thread", thread), as("checkpoint", id)),
    loadByLabel: (thread, label) => store.loadByLabel!(as("thread", thread), as("label", label)),
  };
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(replaced, name) ?? Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
