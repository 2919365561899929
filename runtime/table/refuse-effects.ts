import { RunError } from "../interface/errors.ts";
import { isAllowed, type Effect } from "./effects.ts";
import type { Table } from "./table.ts";

/**
 * Refuses a graph or plan whose effects are not all allowed. Effects are in the table, so no code needs to be loaded for this check.
 *
 * @throws RunError NG_EFFECT_DENIED
 */
export function refuseEffects(
  table: Pick<Table, "name" | "effects">,
  allow: readonly Effect[] | undefined,
  what: "graph" | "plan",
): void {
  if (allow === undefined) return;
  const denied = table.effects.filter((effect) => !isAllowed(effect, allow));
  if (denied.length === 0) return;
  throw new RunError(
    "NG_EFFECT_DENIED",
    `${what} \`${table.name}\` has the effects ${denied.join(", ")}, which are not allowed (allowed: ${allow.join(", ") || "nothing"})`,
  );
}
