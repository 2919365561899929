/** Node functions of `review.ngraph`. */
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";

export interface Change {
  kind: "added" | "fixed" | "changed" | "removed";
  text: string;
}

/** Reads one change from each line (`added: text`). Empty lines and lines that begin with `#` are ignored. */
export async function readChanges(path: string): Promise<Change[]> {
  const changes: Change[] = [];
  for (const [index, line] of (await readFile(path, "utf8")).split("\n").entries()) {
    if (line.trim() === "" || line.startsWith("#")) continue;
    const match = /^(added|fixed|changed|removed): (.+)$/.exec(line);
    if (match === null)
      throw new Error(`${path}:${index + 1}: expected "added: …", "fixed: …", "changed: …" or "removed: …"`);
    changes.push({ kind: match[1] as Change["kind"], text: (match[2] ?? "").trim() });
  }
  return changes;
}

const TITLES: Record<Change["kind"], string> = { added: "New", changed: "Changed", fixed: "Fixed", removed: "Removed" };

/** Drafts notes from the changes and applies every remark of the last review. */
export function draftNotes(changes: readonly Change[], remarks: readonly string[]): string {
  const lines = ["# Release notes", ""];
  if (remarks.includes("has no summary")) lines.push(`${changes.length} changes in this release.`, "");
  const kinds: Change["kind"][] = remarks.includes("removals must come first")
    ? ["removed", "added", "changed", "fixed"]
    : ["added", "changed", "fixed", "removed"];
  for (const kind of kinds) {
    const texts = changes.filter((change) => change.kind === kind).map((change) => change.text);
    if (texts.length === 0) continue;
    lines.push(`## ${TITLES[kind]}`, "", ...texts.map((text) => `- ${text}`), "");
  }
  return lines.join("\n");
}

/** The remarks about the notes; empty if the notes are good. Remarks of earlier reviews are repeated. */
export function reviewNotes(notes: string): string[] {
  const summary = /changes in this release/.test(notes);
  const removed = notes.indexOf("## Removed");
  const removalsFirst = removed === -1 || removed === notes.indexOf("## ");
  if (summary && removalsFirst) return [];
  return summary ? ["has no summary", "removals must come first"] : ["has no summary"];
}

/** Writes the notes atomically and returns the path. */
export async function publishNotes(path: string, notes: string): Promise<string> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(`${path}.new`, notes);
  await rename(`${path}.new`, path);
  return path;
}
