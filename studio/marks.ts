/** What happens to the nodes of a picture: counted from checkpoints, and from events since the last one. */
import type { ClientEvent, ClientThread } from "../service/client.ts";
import { ranIn, type KnownCheckpoints } from "./steps.ts";

export interface Mark {
  readonly status: "running" | "waiting" | "failed" | "done" | "next";
  /** How often it has run. */
  readonly runs: number;
  /** Of a `for` node that runs: items that have ended, and all of them. */
  readonly items?: { readonly ended: number; readonly total: number };
  readonly attempt?: number;
}

/** The tasks under way, by node. */
export type Running = Map<
  string,
  { begun: Set<string>; ended: Set<string>; attempt: number; isItems: boolean; total?: number }
>;

/** Applies an event to the tasks under way. @returns whether something has changed */
export function applyEvent(running: Running, { type, data }: ClientEvent): boolean {
  if (Array.isArray(data["namespace"]) && data["namespace"].length > 0) return false;
  if (type === "step" || type === "run" || type === "state") {
    if (type === "step" && data["phase"] !== "start") return false;
    running.clear();
    const counts = type === "step" ? data["items"] : undefined;
    for (const [node, total] of Object.entries((counts ?? {}) as Readonly<Record<string, number>>))
      running.set(node, { begun: new Set(), ended: new Set(), attempt: 1, isItems: true, total });
    return true;
  }
  if (type !== "node") return false;
  const node = String(data["node"]);
  const task = String(data["taskId"]);
  const found = running.get(node) ?? { begun: new Set(), ended: new Set(), attempt: 1, isItems: false };
  running.set(node, found);
  if (typeof data["item"] === "number") found.isItems = true;
  if (typeof data["attempt"] === "number") found.attempt = Math.max(found.attempt, data["attempt"]);
  found.begun.add(task);
  if (data["phase"] === "end" || data["phase"] === "error") found.ended.add(task);
  return true;
}

/** The marks of the nodes, from the checkpoints that the page has loaded. */
export function marksOf(thread: ClientThread, known: KnownCheckpoints, running: Running): ReadonlyMap<string, Mark> {
  const marks = new Map<string, Mark>();
  const counted = new Map<string, string>();
  for (const checkpoint of known.values()) {
    if (checkpoint["abandoned"] === true) continue;
    for (const node of ranIn(checkpoint, known)) {
      // A step that waits has a checkpoint of what has run so far, and another one at its end.
      const step = `${String(checkpoint["step"])} ${String(checkpoint["run"])}`;
      if (counted.get(node) === step) continue;
      counted.set(node, step);
      marks.set(node, { status: "done", runs: (marks.get(node)?.runs ?? 0) + 1 });
    }
  }
  const set = (node: string, status: Mark["status"], more: Partial<Mark> = {}): void => {
    marks.set(node, { runs: marks.get(node)?.runs ?? 0, ...more, status });
  };
  for (const node of thread.next) set(node, "next");
  for (const pause of thread.pauses) if (pause.namespace.length === 0) set(pause.node, "waiting");
  if (thread.status === "failed" && thread.error?.node !== undefined) set(thread.error.node, "failed");
  for (const [node, { begun, ended, attempt, isItems, total = begun.size }] of running) {
    // Items start a few at a time: those that have begun may have ended.
    const isOver = isItems ? ended.size >= total : begun.size === ended.size;
    if (isOver || thread.status !== "running") continue;
    set(node, "running", {
      attempt,
      ...(isItems ? { items: { ended: ended.size, total } } : {}),
    });
  }
  return marks;
}

/** The mark as text: colour is not the only sign. */
export function textOf({ status, runs, items, attempt }: Mark): string {
  const parts: string[] = [SIGNS[status]];
  if (items !== undefined) parts.push(`${items.ended} of ${items.total}`);
  if (attempt !== undefined && attempt > 1) parts.push(`attempt ${attempt}`);
  if (runs > 1) parts.push(`×${runs}`);
  return parts.join(" ");
}

const SIGNS = { running: "▶", waiting: "‖", failed: "✗", done: "✓", next: "○" } as const;
