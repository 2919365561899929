/**
 * The edits of a tab, which a reload of the page would lose. They belong to the address under which they were made, end with the tab, and
 * are on no server. A browser that keeps nothing for a page throws at each use.
 */
import { readProject, type Project } from "./project.ts";

const KEY = "ngraph.playground.draft";

/** Keeps the edited project of this address. `undefined`: nothing was edited, and what was kept before is removed. */
export function keepDraft(address: string, project: Project | undefined): void {
  try {
    if (project === undefined) sessionStorage.removeItem(KEY);
    else sessionStorage.setItem(KEY, JSON.stringify({ address, project }));
  } catch {
    // The page works without it.
  }
}

/** The edited project of an address, if this tab has one. */
export function draftOf(address: string): Project | undefined {
  try {
    const kept = JSON.parse(sessionStorage.getItem(KEY) ?? "null") as {
      readonly address?: unknown;
      readonly project?: unknown;
    } | null;
    return kept?.address === address ? readProject(kept.project) : undefined;
  } catch {
    return undefined;
  }
}
