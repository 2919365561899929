import type { BuiltinNode } from "../../runtime/interface/context.ts";
import { NodeFailure } from "../node-failure.ts";

/**
 * `receive("picked_up")`: waits for a signal from outside with this name (`engine.signal`, `ngc signal`). Its value has the
 * type of the channel that stores it.
 */
export const receive: BuiltinNode = ({ name }, context) => {
  if (typeof name !== "string" || name === "") {
    throw new NodeFailure(`\`receive\` takes the name of a signal, not ${JSON.stringify(name)}`, { retryable: false });
  }
  if (context.receive === undefined) throw new NodeFailure("`receive` runs in an engine", { retryable: false });
  return context.receive(name, { expects: context.expects });
};
