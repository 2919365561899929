import type { Effect } from "./effects.ts";

/** The hosts to which allowed effects restrict requests; `undefined` if they allow any host. */
export function hostsOf(allow: readonly Effect[] | undefined): readonly string[] | undefined {
  if (allow === undefined || allow.includes("net")) return undefined;
  return allow.flatMap((each) => (each.startsWith("net:") ? [each.slice(4)] : []));
}
