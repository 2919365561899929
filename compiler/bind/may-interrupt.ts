import type { GraphContext } from "./graph-context.ts";

/**
 * Whether an imported function may pause the run with `context.interrupt`: its last parameter is the context or may be it,
 * or the signature is unknown.
 */
export function mayInterrupt(name: string, { scope }: Pick<GraphContext, "scope">): boolean {
  const declared = scope.names.get(name);
  const signatures = declared?.kind === "import" ? declared.signatures() : [];
  if (signatures.length === 0) return true;
  return signatures.some(({ takesContext, rest, parameters }) => {
    const last = parameters.at(-1);
    const mayBeContext = last?.isValue !== true && (last?.type.kind === "opaque" || last?.type.kind === "json");
    return takesContext || rest !== undefined || mayBeContext;
  });
}
