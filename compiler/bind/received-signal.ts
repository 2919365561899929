import type { Span } from "../../diagnostics/source.ts";
import type { BoundNode } from "./bound-graph.ts";

export interface ReceivedSignal {
  /** `undefined` if it is computed. */
  readonly name?: string;
  /** The argument that names it. */
  readonly span?: Span;
}

/** The signal that a call of `receive` waits for; `undefined` for other calls. */
export function receivedSignal(call: BoundNode["call"]): ReceivedSignal | undefined {
  if (call.kind !== "builtin" || call.signature.name !== "receive") return undefined;
  const argument = call.args.find(({ name }) => name === "name")?.value;
  const name = argument?.expression;
  return argument !== undefined && name?.op === "const" && typeof name.value === "string"
    ? { name: name.value, span: argument.span }
    : {};
}
