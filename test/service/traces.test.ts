/** Spans of the requests of a service (`ngraph/opentelemetry`): names, parents, attributes and errors. */
import { AsyncLocalStorage } from "node:async_hooks";
import {
  context,
  propagation,
  ROOT_CONTEXT,
  trace,
  type Context,
  type ContextManager,
  type Span,
  type SpanOptions,
  type Tracer,
} from "@opentelemetry/api";
import { afterAll, beforeAll, expect, test } from "vitest";
import { traceRequests } from "../../adapters/opentelemetry/trace-requests.ts";
import { traceRuns } from "../../adapters/opentelemetry/trace-runs.ts";
import { compiledTable } from "../support/compiled-engine.ts";
import { checkedService } from "./checked-service.ts";

const storage = new AsyncLocalStorage<Context>();
const manager: ContextManager = {
  active: () => storage.getStore() ?? ROOT_CONTEXT,
  with: (active, body, self, ...args) => storage.run(active, () => body.call(self as never, ...args)),
  bind: (_, target) => target,
  enable: () => manager,
  disable: () => manager,
};

beforeAll(() => {
  context.setGlobalContextManager(manager);
  propagation.setGlobalPropagator({
    inject: () => undefined,
    extract(parent, carrier, getter) {
      const [, traceId, spanId] = String(getter.get(carrier, "traceparent") ?? "").split("-");
      if (traceId === undefined || spanId === undefined) return parent;
      return trace.setSpanContext(parent, { traceId, spanId, traceFlags: 1, isRemote: true });
    },
    fields: () => ["traceparent"],
  });
});
afterAll(() => {
  context.disable();
  propagation.disable();
});

interface Recorded {
  readonly name: string;
  /** The id of the span above. */
  readonly parent: string | undefined;
  readonly id: string;
  readonly attributes: Record<string, unknown>;
  isError: boolean;
  ends: number;
}

function recorder(): { readonly tracer: Tracer; readonly spans: Recorded[] } {
  const spans: Recorded[] = [];
  const startSpan = (name: string, { attributes }: SpanOptions = {}, parent: Context = context.active()): Span => {
    const above = trace.getSpanContext(parent)?.spanId;
    const id = String(spans.length + 1).padStart(16, "0");
    const record: Recorded = { name, parent: above, id, attributes: { ...attributes }, isError: false, ends: 0 };
    spans.push(record);
    return {
      spanContext: () => ({ traceId: "1".repeat(32), spanId: id, traceFlags: 1 }),
      setAttribute: (key: string, value: unknown) => void (record.attributes[key] = value),
      setStatus: () => void (record.isError = true),
      end: () => void record.ends++,
    } as unknown as Span;
  };
  return { tracer: { startSpan } as unknown as Tracer, spans };
}

const GRAPH = {
  table: compiledTable(
    "graph add { input n: int  output m: int  node up = { m: n + 1 } into { m }  start -> up -> end }",
  ),
};

test("a request has a span below that of its client, and its run one below it", async () => {
  const { tracer, spans } = recorder();
  const { post, get } = checkedService({
    graphs: [GRAPH],
    aroundRequest: traceRequests({ tracer }),
    onEvent: traceRuns({ tracer }),
  });
  const traceparent = `00-${"1".repeat(32)}-${"a".repeat(16)}-01`;
  expect((await post("/graphs/add/runs", { input: { n: 1 }, thread: "t" }, { traceparent })).status).toBe(200);
  expect(spans.map(({ name }) => name)).toEqual(["POST /graphs/{graph}/runs", "run add", "step 0", "node up"]);
  const [request, run] = spans;
  expect(request).toMatchObject({ parent: "a".repeat(16), isError: false, ends: 1 });
  expect(request!.attributes).toEqual({
    "http.request.method": "POST",
    "http.route": "/graphs/{graph}/runs",
    "url.path": "/graphs/add/runs",
    "http.response.status_code": 200,
  });
  expect(run).toMatchObject({ parent: request!.id, ends: 1 });
  // A refused request is answered, and is no failure of the service.
  expect((await get("/threads/none")).status).toBe(404);
  expect(spans.at(-1)).toMatchObject({
    name: "GET /threads/{thread}",
    parent: undefined,
    isError: false,
    attributes: { "http.response.status_code": 404 },
  });
});

test("a failure of the service is the error of a span, and stays in the log", async () => {
  const { tracer, spans } = recorder();
  const picture = (): Promise<string> => Promise.reject(new Error("the secret is 1234"));
  const { get, entries } = checkedService({ graphs: [GRAPH], picture, aroundRequest: traceRequests({ tracer }) });
  expect((await get("/graphs/add/picture")).status).toBe(500);
  expect(spans).toMatchObject([{ isError: true, ends: 1, attributes: { "http.response.status_code": 500 } }]);
  expect(JSON.stringify(spans)).not.toContain("1234");
  expect(entries).toContainEqual(expect.objectContaining({ type: "failure", message: "the secret is 1234" }));
});
