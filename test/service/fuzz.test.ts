/** Random requests from the descriptions of the operations: no answer is a failure of the service, and each is described. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { OPERATIONS, type Operation } from "../../service/operations.ts";
import type { Field } from "../../service/fields.ts";
import { compiledTable } from "../support/compiled-engine.ts";
import { scale } from "../support/depth.ts";
import { checkedService } from "./checked-service.ts";

const GRAPH = compiledTable(`
graph flow {
  input n: int
  input tags: string[] = []
  output twice: int
  output verdict: "yes" | "no"
  output paid: int
  config factor: int = 2
  node double = { twice: n * factor } into { twice }
  node sure = ask("?", choices: ["yes", "no"]) into verdict
  node pay = receive("payment") into paid
  start -> double -> sure -> pay -> end
}`);

const names = fc.constantFrom(
  "a",
  "b",
  "c",
  "__proto__",
  "constructor",
  "double",
  "sure",
  "start",
  "end",
  "twice",
  "n",
  "",
  "ü/%2f ..",
  "yes",
);
const values = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  names,
  fc.integer(),
  fc.constant({ n: 3 }),
  fc.constant({ payment: 3 }),
);

function valueOf(field: Field): fc.Arbitrary<unknown> {
  const fitting = {
    text: field.values === undefined ? names : fc.constantFrom(...field.values),
    thread: fc.oneof(names, fc.constantFrom(".", "..", "a\ud800", "a/b")),
    flag: fc.boolean(),
    count: fc.oneof(fc.integer({ min: 0, max: 12 }), fc.maxSafeNat()),
    amount: fc.double(),
    json: values,
    record: fc.oneof(
      fc.constant({ n: 3 }),
      fc.constant({ n: 3 }),
      fc.constant({ twice: 3 }),
      fc.constant({}),
      fc.dictionary(names, values, { maxKeys: 3 }),
    ),
    texts: fc.array(names, { maxLength: 3 }),
    names: fc.dictionary(names, names, { maxKeys: 3 }),
  }[field.kind];
  return fc.oneof({ weight: 40, arbitrary: fitting as fc.Arbitrary<unknown> }, { weight: 1, arbitrary: values });
}

/** The value once, and nothing so many times. */
function sometimes<T>(nothing: number, arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.oneof({ weight: nothing, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });
}

const requests = fc.constantFrom(...(Object.values(OPERATIONS) as readonly Operation[])).chain((operation) => {
  const fields = Object.entries(operation.body ?? operation.query ?? {});
  const field = ([name, description]: readonly [string, Field]) =>
    description.isRequired
      ? valueOf(description).map((value) => [[name, value] as const])
      : sometimes(1, valueOf(description)).map((value) => (value === undefined ? [] : [[name, value] as const]));
  const extra = sometimes(30, values).map((value) => (value === undefined ? [] : [["extra", value] as const]));
  const given = fc
    .tuple(...fields.map(field), extra)
    .map((entries) => Object.fromEntries(entries.flat()) as Record<string, unknown>);
  const headers = fc.record(
    {
      prefer: fc.constantFrom("respond-async", "wait=0", "wait=x", "return=minimal"),
      "idempotency-key": fc.constantFrom("k1", "k2", "x".repeat(300)),
      "last-event-id": fc.constantFrom("1", "deadbeef.1", "-"),
      accept: fc.constantFrom("*/*", "application/json"),
    },
    { requiredKeys: [] },
  );
  const method = fc.oneof(
    { weight: 9, arbitrary: fc.constant(operation.method.toUpperCase()) },
    { weight: 1, arbitrary: fc.constantFrom("GET", "POST", "PUT", "DELETE", "PATCH") },
  );
  return fc.record({
    operation: fc.constant(operation),
    graph: fc.constantFrom("flow", "flow", "flow", "flwo", "__proto__"),
    thread: fc.constantFrom("a", "b", "c", "d", "__proto__", "x/y"),
    given,
    text: sometimes(30, fc.string({ maxLength: 20 })),
    headers,
    method,
  });
});

test("no request makes the service fail", async () => {
  const rounds = scale(20_000, 1_000);
  const all = fc.sample(requests, { numRuns: rounds, seed: 20 });
  const { send, entries } = checkedService({ graphs: [{ table: GRAPH }], picture: async () => "<svg/>" });
  const statuses = new Map<number, number>();
  for (const thread of ["a", "b", "c", "x/y"]) await send("POST", "/graphs/flow/runs", { input: { n: 1 }, thread });
  for (const { operation, graph, thread, given, text, headers, method } of all) {
    // A stream has no end.
    if (operation.streams === "always") given["end"] = true;
    let path = operation.path.replace("{graph}", graph).replace(/\{(?:thread|run)\}/, encodeURIComponent(thread));
    let body: unknown;
    if (method === "GET") {
      path += `?${new URLSearchParams(Object.entries(given).map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)] as [string, string]))}`;
    } else if (method !== "DELETE") body = text ?? given;
    const { status } = await send(method, path, body, headers);
    if (status >= 500)
      throw new Error(`${method} ${path} ${JSON.stringify(body)}: ${status} ${JSON.stringify(entries.at(-1))}`);
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }
  // The requests reach what they are made for.
  for (const status of [200, 201, 202, 204, 400, 404, 405, 409, 422])
    expect(statuses.get(status) ?? 0, String(status)).toBeGreaterThan(0);
}, 600_000);
