/** `ngraph/opentelemetry`: spans of runs, steps and nodes, and of requests of the HTTP service. Needs the package `@opentelemetry/api`. */
export { traceRuns, type TraceOptions } from "../adapters/opentelemetry/trace-runs.ts";
export { traceRequests, type RequestTracing, type TracedRequest } from "../adapters/opentelemetry/trace-requests.ts";
