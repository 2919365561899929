import { sha256 } from "../../runtime/table/sha256.ts";
import { canonicalJson } from "../table/canonical-json.ts";
import { referencedTypes } from "../types/referenced-types.ts";
import type { GraphContext } from "./graph-context.ts";

/**
 * The digest of what an imported function declares: the types of its parameters and its result, with the named types in
 * them. Names of parameters do not count. `undefined` if nothing is known. The beginning of the digest differs as reliably, and a generated module has one
 * for each function.
 */
export function signatureDigest(
  name: string,
  { scope, types }: Pick<GraphContext, "scope" | "types">,
): string | undefined {
  const declared = scope.names.get(name);
  const signatures = declared?.kind === "import" ? declared.signatures() : [];
  if (signatures.length === 0) return undefined;
  const shapes = signatures.map(({ parameters, rest, takesContext, result, isAsync }) => ({
    parameters: parameters.map(({ type, optional }) => ({ type, optional })),
    rest,
    takesContext,
    result,
    isAsync,
  }));
  const roots = shapes.flatMap(({ parameters, rest, result }) => [
    ...parameters.map(({ type }) => type),
    ...(rest === undefined ? [] : [rest]),
    ...(result === undefined ? [] : [result]),
  ]);
  return sha256(canonicalJson({ shapes, types: referencedTypes(roots, types) })).slice(0, LENGTH);
}

const LENGTH = 16;
