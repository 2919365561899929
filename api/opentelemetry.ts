/** `ngraph/opentelemetry`: spans of runs, steps and nodes. Needs the package `@opentelemetry/api`. */
export { traceRuns, type TraceOptions } from "../adapters/opentelemetry/trace-runs.ts";
