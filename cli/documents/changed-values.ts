import type { Json } from "../../runtime/value/json.ts";
import { formatValue } from "../output/format-values.ts";

/** Channels that differ between two checkpoints, by name; a missing channel is `null`. */
export type ChangedValues = Readonly<Record<string, { readonly before: Json; readonly after: Json }>>;

export function changedValues(
  before: Readonly<Record<string, Json>>,
  after: Readonly<Record<string, Json>>,
): ChangedValues {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const valueOf = (values: Readonly<Record<string, Json>>, name: string): Json =>
    Object.hasOwn(values, name) ? (values[name] ?? null) : null;
  // No prototype: `__proto__` is a valid channel name.
  const changes = Object.create(null) as Record<string, { before: Json; after: Json }>;
  for (const name of names) {
    const [old, now] = [valueOf(before, name), valueOf(after, name)];
    if (JSON.stringify(old) !== JSON.stringify(now)) changes[name] = { before: old, after: now };
  }
  return changes;
}

/**
 * ```text
 * since the parent:
 *   notes: + "found it"
 *   score: 0 → 0.9
 * ```
 */
export function describeChanges(changes: ChangedValues): string {
  const lines = Object.entries(changes).map(([name, change]) => `  ${name}: ${describe(change)}`);
  return lines.length === 0 ? "no value has changed since the parent" : ["since the parent:", ...lines].join("\n");
}

/** For a list that has grown, shows only its new items. */
function describe({ before, after }: ChangedValues[string]): string {
  if (Array.isArray(before) && Array.isArray(after) && after.length > before.length) {
    const isLonger = before.every((item, index) => JSON.stringify(item) === JSON.stringify(after[index]));
    if (isLonger) return `+ ${after.slice(before.length).map(shown).join(", ")}`;
  }
  return `${shown(before)} → ${shown(after)}`;
}

function shown(value: Json): string {
  const text = typeof value === "string" ? JSON.stringify(value) : formatValue(value).replace(/\s*\n\s*/g, " ");
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN)}…`;
}

/** `ngc show` prints the full values above the changes. */
const MAX_SHOWN = 60;
