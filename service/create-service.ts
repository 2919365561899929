import { Hono, type Context } from "hono";
import { cors } from "hono/cors";
import { threadsOf } from "../runtime/thread/list-threads.ts";
import { RateLimit, type Principal } from "./access.ts";
import { readFields, readQuery } from "./fields.ts";
import { graphHandlers } from "./graph-handlers.ts";
import { openApiDocument } from "./openapi.ts";
import { OPERATIONS, type Operation, type OperationId } from "./operations.ts";
import { planHandlers } from "./plan-handlers.ts";
import { Problem, problemOf, problemResponse } from "./problem.ts";
import { Recovery } from "./recovery.ts";
import { readBody } from "./request-body.ts";
import { RunRequests, type Call } from "./run-requests.ts";
import { json, ServiceCore } from "./service-core.ts";
import type { Service, ServiceOptions } from "./service-options.ts";
import { threadHandlers } from "./thread-handlers.ts";

/**
 * An HTTP service that runs graphs: an app of Hono for any host.
 *
 * @throws TableError, RunError as `createEngine`; RangeError for two graphs with one name
 * @example
 * const service = createService({ graphs: [{ table, functions }], store: new MemoryStore(), tokens: { shop: "…" } });
 * Bun.serve({ fetch: service.fetch });
 */
export function createService(options: ServiceOptions): Service {
  const core = new ServiceCore(options);
  const runs = new RunRequests(core);
  const recovery = new Recovery(core);
  const rate =
    options.limits?.requestsPerMinute === undefined ? undefined : new RateLimit(options.limits.requestsPerMinute);
  const handlers: Readonly<Record<OperationId, (call: Call) => Promise<Response>>> = {
    ...graphHandlers(core, runs),
    ...threadHandlers(core, runs),
    ...planHandlers(core),
  };

  const admit = async (context: Context): Promise<Principal> => {
    const principal = await core.gatekeeper.principalOf(context.req.raw);
    context.set("principal", principal.name);
    rate?.take(principal.name, Date.now());
    return principal;
  };

  const handle = async (operation: Operation, id: OperationId, context: Context): Promise<Response> => {
    const request = context.req.raw;
    const principal = await admit(context);
    const parameters = {
      graph: context.req.param("graph"),
      thread: context.req.param("thread"),
      run: context.req.param("run"),
    };
    if (operation.action !== undefined && parameters.graph !== undefined) {
      const { table } = core.graphNamed(parameters.graph);
      if (!(await core.gatekeeper.permits({ principal, action: operation.action, graph: table.name, thread: null }))) {
        throw new Problem(
          "forbidden",
          `the principal \`${principal.name}\` has no permission to ${operation.action} this graph`,
        );
      }
    }
    const values =
      operation.body === undefined
        ? readQuery(new URL(request.url).searchParams, operation.query ?? {})
        : readFields(await readBody(request, operation, options.limits?.body ?? 1024 * 1024), operation.body);
    const given = Object.entries(parameters).filter(([, value]) => value !== undefined);
    return handlers[id]({ request, context, principal, values, parameters: Object.fromEntries(given) });
  };

  const refuse = (error: unknown): Response => {
    const { status } = problemOf(error);
    if (status >= 500) core.fail(error instanceof Error ? error.message : String(error), error);
    return problemResponse(error);
  };

  const app = new Hono<{ Variables: { principal: string } }>();
  app.use(async (context, next) => {
    const begin = performance.now();
    await next();
    const { method } = context.req;
    // The answer to HEAD has no body, so nothing would end the stream of one.
    if (method === "HEAD") await context.res.body?.cancel();
    const { status } = context.res;
    core.metrics.add("ngraph_http_requests_total", { method: METHODS.has(method) ? method : "other", status });
    core.say({
      type: "request",
      time: Date.now(),
      method,
      path: context.req.path,
      status,
      milliseconds: Math.round(performance.now() - begin),
      principal: context.get("principal") ?? null,
    });
  });
  app.use(async (context, next) => {
    core.gatekeeper.checkHost(context.req.raw);
    await core.gatekeeper.checkOrigin(context.req.raw);
    await next();
  });
  if (options.origins !== undefined) {
    app.use(
      cors({
        origin: [...options.origins],
        allowHeaders: ["authorization", "content-type", "idempotency-key", "last-event-id", "prefer"],
        exposeHeaders: ["location", "idempotent-replayed", "retry-after"],
      }),
    );
  }
  for (const [id, operation] of Object.entries(OPERATIONS) as [OperationId, Operation][]) {
    const path = operation.path.replaceAll(/\{(\w+)\}/g, ":$1");
    app.on(operation.method.toUpperCase(), path, async (context) => {
      const { aroundRequest } = options;
      if (aroundRequest === undefined) return handle(operation, id, context);
      const routed = { request: context.req.raw, route: operation.path };
      return aroundRequest(routed, () => handle(operation, id, context).catch(refuse));
    });
    // A path that exists with another method.
    const methods = Object.values(OPERATIONS).flatMap((each: Operation) =>
      each.path === operation.path ? [each.method.toUpperCase()] : [],
    );
    app.all(path, () => {
      throw new Problem("method-not-allowed", `the methods of ${operation.path} are ${methods.join(", ")}`, {
        headers: { allow: methods.join(", ") },
      });
    });
  }
  app.get("/openapi.json", async (context) => {
    const tables = await core.tablesFor(await admit(context));
    return json(openApiDocument(tables, options.tokens !== undefined));
  });
  app.get("/health", () => json({ status: "ok" }));
  app.get("/ready", async () => {
    if (core.closing.signal.aborted) throw new Problem("too-busy", "the service is shutting down");
    await threadsOf(core.store, { limit: 1 }, () => undefined);
    return json({ status: "ok" });
  });
  app.get("/metrics", async (context) => {
    await admit(context);
    return new Response(core.metrics.text(), { headers: { "content-type": "text/plain; version=0.0.4" } });
  });
  app.notFound((context) =>
    problemResponse(
      new Problem("not-found", `there is no ${context.req.path.slice(0, 200)}; /openapi.json has the paths`),
    ),
  );
  app.onError(refuse);

  return {
    app: app as unknown as Hono,
    fetch: async (request, env) => app.fetch(request, env),
    start() {
      recovery.start();
      core.cancellations.start();
      core.webhooks.start();
    },
    async drain(settings = {}) {
      recovery.stop();
      const ending = Promise.all([...core.served.values()].map(({ engine }) => engine.drain(settings)));
      core.closing.abort();
      await ending;
      core.cancellations.stop();
      await core.webhooks.stop();
    },
  };
}

const METHODS: ReadonlySet<string> = new Set(["GET", "POST", "PUT", "OPTIONS", "HEAD", "DELETE", "PATCH"]);
