import type { BuiltinNode } from "../../runtime/interface/context.ts";
import { NodeFailure } from "../node-failure.ts";

/** `fail("no such customer")`: ends in failure, on purpose; trying again would not change it. */
export const fail: BuiltinNode = ({ message }) => {
  throw new NodeFailure(String(message), { retryable: false });
};
