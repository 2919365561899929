/** `ngraph/serve`: an HTTP service that runs graphs, as an app of Hono. */
export type { Access, AccessOptions, Action, Principal } from "./access.ts";
export { createService } from "./create-service.ts";
export type { PlanLogPart, PlanRun, PlanRunLog, PlanRuns, PlanRunSummary, PlanRunTask, PlanSpan } from "./plan-runs.ts";
export type { ProblemDocument } from "./problem.ts";
export type { LogEntry, RecordedTest, RoutedRequest, ServedGraph, Service, ServiceOptions } from "./service-options.ts";
export type { Webhook } from "./webhook-request.ts";
