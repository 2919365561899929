import type { BoundNode } from "./bound-graph.ts";

/** The signal that a call of `receive` waits for, without a name if it is computed; `undefined` for other calls. */
export function receivedSignal(call: BoundNode["call"]): { readonly name?: string } | undefined {
  if (call.kind !== "builtin" || call.signature.name !== "receive") return undefined;
  const name = call.args.find((argument) => argument.name === "name")?.value.expression;
  return name?.op === "const" && typeof name.value === "string" ? { name: name.value } : {};
}
