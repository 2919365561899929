/** What the page shows, by its address: `#/threads/NAME`, `#/plans`, `#/plans/RUN`, or the list of threads. */
export type Place =
  | { readonly kind: "threads" }
  | { readonly kind: "thread"; readonly name: string }
  | { readonly kind: "plans" }
  | { readonly kind: "plan-run"; readonly name: string };

export const PLANS = "#/plans";

/** The address of the page of a thread. */
export function addressOf(thread: string): string {
  return `#/threads/${encodeURIComponent(thread)}`;
}

/** The address of the page of a run of a plan. */
export function addressOfRun(run: string): string {
  return `${PLANS}/${encodeURIComponent(run)}`;
}

export function placeOf(hash: string): Place {
  if (hash === PLANS) return { kind: "plans" };
  const [, kind, encoded = ""] = /^#\/(threads|plans)\/(.+)$/.exec(hash) ?? [];
  try {
    const name = decodeURIComponent(encoded);
    if (kind !== undefined) return { kind: kind === "plans" ? "plan-run" : "thread", name };
  } catch {
    // Not an address of the page.
  }
  return { kind: "threads" };
}
