import type { Json } from "../runtime/value/json.ts";

/** Longer values are cut: a page with megabytes of text does not scroll. */
const MOST = 20_000;

/** A value as JSON text. */
export function ValueText({ value }: { readonly value: Json | undefined }) {
  if (value === undefined) return <span class="quiet">none</span>;
  const text = JSON.stringify(value, null, 2);
  const shown = text.length > MOST ? `${text.slice(0, MOST)}… (${text.length - MOST} more characters)` : text;
  return text.includes("\n") ? <pre tabIndex={0}>{shown}</pre> : <code>{shown}</code>;
}
