import type { PlanEvent } from "../../runtime/plan/plan-events.ts";
import type { Output } from "../output.ts";
import { duration } from "../progress.ts";
import type { PlanView } from "./plan-view.ts";

/** Shows a plan's run while it goes on. */
export interface PlanProgress {
  readonly onEvent: (event: PlanEvent) => void;
  /** Takes the live part away, so that other text can follow. */
  stop(): void;
}

/** A line for each task that has started, was tried again or has ended; on a terminal below them a view of what is going on. */
export function createPlanProgress(view: PlanView, output: Output, now: () => number): PlanProgress {
  if (output.quiet) return { onEvent: view.onEvent, stop: () => {} };
  const live = output.live ? liveBlock(() => blockLines(view, output, now)) : undefined;
  const started = new Map<string, number>();
  const print = (text: string): void => {
    live?.clear();
    output.note(text);
    live?.draw();
  };
  return {
    onEvent(event) {
      view.onEvent(event);
      const line = lineOf(event, output, started, now, live !== undefined, view.triesOf);
      if (line !== undefined) print(line);
      else live?.draw();
    },
    stop: () => live?.stop(),
  };
}

function lineOf(
  event: PlanEvent,
  { stderrStyles: styles }: Output,
  started: Map<string, number>,
  now: () => number,
  isLive: boolean,
  triesOf: (task: string) => number,
): string | undefined {
  if (event.type === "node_changed") return `· ${event.node_id} runs: changed since: ${event.changed.join(", ")}`;
  if (event.type === "node_attempt") {
    if (event.cached === true) return `${styles.info("=")} ${event.node_id}: nothing it depends on has changed`;
    if (event.converged || event.attempt >= triesOf(event.node_id)) return undefined;
    const failed = event.done_when_results.filter(({ rc }) => rc !== 0).map(({ cmd, rc }) => `${cmd} (${rc})`);
    const why = failed.length > 0 ? failed.join(", ") : (event.error ?? "").split("\n")[0];
    return `${styles.warning("↻")} ${event.node_id}: try ${event.attempt} not done: ${why}`;
  }
  if (event.type !== "node_transition") return undefined;
  const name = event.node_id;
  const since = started.get(name);
  const took = since === undefined ? "" : ` ${duration(now() - since)}`;
  switch (event.to) {
    case "running":
      started.set(name, now());
      // On a terminal it stands below.
      return isLive ? undefined : `▸ ${name}`;
    case "done":
      return event.reason === "restored" ? undefined : `${styles.info("✓")} ${name}${took}`;
    case "failed":
      return `${styles.error("✗")} ${name}${took}: ${event.reason ?? "failed"}`;
    case "blocked":
      return `${styles.warning("⊘")} ${name}: ${event.reason ?? "blocked"}`;
    case "skipped":
      return event.reason === "left_out" ? undefined : `${styles.info("–")} ${name}: skipped (${event.reason ?? ""})`;
    case "cancelled":
      return since === undefined ? undefined : `${styles.warning("■")} ${name}: ended (${event.reason ?? "cancelled"})`;
    case "waiting":
      return `${styles.warning("?")} ${name} waits for an answer`;
    default:
      return undefined;
  }
}

const SHOWN = 8;

function blockLines(view: PlanView, { stderrStyles: styles }: Output, now: () => number): string[] {
  const lines: string[] = [];
  const at = now();
  for (const { task, attempt, since } of view.running.slice(0, SHOWN)) {
    lines.push(`  ▸ ${task} ${duration(at - since)}${attempt > 1 ? ` (try ${attempt})` : ""}`);
  }
  if (view.running.length > SHOWN) lines.push(`  ▸ and ${view.running.length - SHOWN} more`);
  const waiting = view.waiting();
  for (const { task, why } of waiting.slice(0, SHOWN)) lines.push(`  … ${task}: ${why}`);
  if (waiting.length > SHOWN) lines.push(`  … and ${waiting.length - SHOWN} more`);
  for (const task of view.asking) lines.push(styles.warning(`  ? ${task} waits for an answer`));
  if (view.failed.length > 0) lines.push(styles.error(`  ✗ failed: ${view.failed.join(", ")}`));
  const left = view.timeLeft(at);
  const width = 24;
  const full = view.total === 0 ? width : Math.round((width * view.ended) / view.total);
  lines.push(
    `  ${"█".repeat(full)}${"░".repeat(width - full)} ${view.ended}/${view.total}${left === undefined || left < 1 ? "" : ` · about ${duration(left)} left`}`,
  );
  return lines;
}

const REDRAW_MS = 100;

interface LiveBlock {
  draw(): void;
  clear(): void;
  stop(): void;
}

/** The terminal's last lines, rewritten in place. */
function liveBlock(lines: () => readonly string[]): LiveBlock {
  const stream = process.stderr;
  let height = 0;
  let drawnAt = -Infinity;
  let known: readonly string[] = [];
  const clear = (): void => {
    if (height > 0) stream.write(`\u001b[${height}A\r\u001b[J`);
    height = 0;
  };
  const draw = (): void => {
    // Looking at everything that waits costs what there is: not for every event of a large plan.
    const now = performance.now();
    if (now - drawnAt > REDRAW_MS) {
      known = lines();
      drawnAt = now;
    } else if (height > 0) return;
    const width = Math.max(20, (stream.columns || 80) - 1);
    // More lines than the terminal has cannot be taken back.
    const shown = known.slice(-Math.max(1, (stream.rows || 24) - 2));
    const text = shown.map((line) => `${cut(line, width)}\n`).join("");
    stream.write(`${height > 0 ? `\u001b[${height}A\r\u001b[J` : ""}${text}`);
    height = shown.length;
  };
  const timer = setInterval(draw, 250);
  timer.unref();
  return {
    draw,
    clear,
    stop() {
      clearInterval(timer);
      clear();
    },
  };
}

/** Styled lines are short: only plain ones are cut. */
function cut(line: string, width: number): string {
  return line.includes("\u001b") || line.length <= width ? line : `${line.slice(0, width - 1)}…`;
}
