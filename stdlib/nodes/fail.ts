import type { BuiltinNode } from "../../runtime/interface/context.ts";
import { NodeFailure } from "../node-failure.ts";

/** `fail("no such customer")`: fails with this message; it is not retried. */
export const fail: BuiltinNode = ({ message }) => {
  throw new NodeFailure(String(message), { retryable: false });
};
