/**
 * The edits of a tab, which a reload of the page or another address would lose. They belong to the address under which they were made, end
 * with the tab, and are on no server. A browser that keeps nothing for a page throws at each use.
 */
import { readProject, type Project } from "./project.ts";

const KEY = "ngraph.playground.draft ";

/** Keeps the edited project of this address. `undefined`: nothing was edited, and what was kept before is removed. */
export function keepDraft(address: string, project: Project | undefined): void {
  try {
    if (project === undefined) sessionStorage.removeItem(KEY + address);
    else store(address, JSON.stringify(project));
  } catch {
    // The page works without it.
  }
}

function store(address: string, text: string): void {
  try {
    sessionStorage.setItem(KEY + address, text);
  } catch {
    // The storage is full: the newest edits replace those of other addresses.
    for (const key of Object.keys(sessionStorage)) if (key.startsWith(KEY)) sessionStorage.removeItem(key);
    sessionStorage.setItem(KEY + address, text);
  }
}

/** The edited project of an address, if this tab has one. */
export function draftOf(address: string): Project | undefined {
  try {
    const kept = sessionStorage.getItem(KEY + address);
    return kept === null ? undefined : readProject(JSON.parse(kept));
  } catch {
    return undefined;
  }
}
