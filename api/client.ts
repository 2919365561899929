/** `ngraph/client`: a client of the HTTP service, for browsers and servers. */
export * from "../service/client.ts";
