/** `ngraph/serve`: an HTTP service that runs graphs, as an app of Hono, for Node, Bun, Deno and edge runtimes. */
export * from "../service/index.ts";
