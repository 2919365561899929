/** `ngraph/serve`: an HTTP service that runs graphs, as an app of Hono. */
export type { Access, AccessOptions, Action, Principal } from "./access.ts";
export { createService, type LogEntry, type ServedGraph, type Service, type ServiceOptions } from "./create-service.ts";
export type { ProblemDocument } from "./problem.ts";
export type { Webhook } from "./webhook-request.ts";
