/** Spans of OpenTelemetry for the requests of the HTTP service. */
import { context, propagation, SpanKind, SpanStatusCode, trace, type Span, type Tracer } from "@opentelemetry/api";

/** A request of a route of the service. */
export interface TracedRequest {
  readonly request: Request;
  /** The path of the route, with its parameters in braces. */
  readonly route: string;
}

/** Answers a request, or passes it on. */
export type RequestTracing = (traced: TracedRequest, next: () => Promise<Response>) => Promise<Response>;

/**
 * A function for `aroundRequest` of a service. The span of a request is below that of its client (`traceparent`), and the runs that it
 * starts are below it, if `onEvent` is `traceRuns()`: the program needs a provider with a context manager. A span has the attributes of
 * the HTTP conventions and no values of the request. That of a stream of events ends when the stream begins.
 *
 * @example
 * createService({ graphs, store, aroundRequest: traceRequests(), onEvent: traceRuns() });
 */
export function traceRequests({
  tracer = trace.getTracer("ngraph"),
}: { readonly tracer?: Tracer } = {}): RequestTracing {
  return async ({ request, route }, next) => {
    const parent = propagation.extract(context.active(), request.headers, {
      get: (headers, name) => headers.get(name) ?? undefined,
      keys: (headers) => [...headers.keys()],
    });
    const { method, url } = request;
    const attributes = { "http.request.method": method, "http.route": route, "url.path": new URL(url).pathname };
    const span = tracer.startSpan(`${method} ${route}`, { kind: SpanKind.SERVER, attributes }, parent);
    try {
      const response = await context.with(trace.setSpan(parent, span), next);
      end(span, response.status);
      return response;
    } catch (error) {
      end(span, 500);
      throw error;
    }
  };
}

function end(span: Span, status: number): void {
  span.setAttribute("http.response.status_code", status);
  // A request that is refused is no failure of the service.
  if (status >= 500) {
    span.setAttribute("error.type", String(status));
    span.setStatus({ code: SpanStatusCode.ERROR });
  }
  span.end();
}
