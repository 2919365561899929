import type { PlanEvent } from "../../runtime/plan/plan-events.ts";
import { liveBlock } from "../output/live-block.ts";
import type { Output } from "../output/output.ts";
import { jsonText } from "../output/json-text.ts";
import { printableText } from "../output/printable-text.ts";
import { duration } from "../run/progress.ts";
import type { OutputTails } from "./output-tails.ts";
import type { PlanView } from "./plan-view.ts";

/** Shows the progress of a plan's run. */
export interface PlanProgress {
  readonly onEvent: (event: PlanEvent) => void;
  /** Writes whole lines above the live part. */
  above(write: () => void): void;
  /** Removes the live part until the returned function is called. */
  pause(): () => void;
  /** Removes the live part. */
  stop(): void;
}

/** `--events`: every event as a JSON line on stderr. */
export function planEventLines(): PlanProgress {
  return {
    onEvent: (event) => void process.stderr.write(`${jsonText(event)}\n`),
    above: (write) => write(),
    pause: () => () => {},
    stop: () => {},
  };
}

/**
 * Prints a line for each task that starts, is tried again or ends; on a terminal it also shows the running tasks below, each with the
 * last line that it has printed.
 */
export function createPlanProgress(
  view: PlanView,
  output: Output,
  now: () => number,
  tails: OutputTails,
): PlanProgress {
  if (output.quiet) return { ...planEventLines(), onEvent: view.onEvent };
  const live = output.live ? liveBlock(() => blockLines(view, output, now, tails)) : undefined;
  const started = new Map<string, number>();
  const above = (write: () => void): void => (live === undefined ? write() : live.above(write));
  return {
    onEvent(event) {
      view.onEvent(event);
      tails.onEvent(event);
      const line = lineOf(event, output, started, now, live !== undefined, view.triesOf);
      if (line !== undefined) above(() => output.note(line));
      else live?.draw();
    },
    above,
    pause: () => live?.pause() ?? (() => {}),
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
    const why = printableText(failed.length > 0 ? failed.join(", ") : ((event.error ?? "").split("\n")[0] ?? ""));
    return `${styles.warning("↻")} ${event.node_id}: try ${event.attempt} not done: ${why}`;
  }
  if (event.type !== "node_transition") return undefined;
  const name = event.node_id;
  const since = started.get(name);
  const took = since === undefined ? "" : ` ${duration(now() - since)}`;
  switch (event.to) {
    case "running":
      started.set(name, now());
      // On a terminal the live part shows it.
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

function blockLines(view: PlanView, { stderrStyles: styles }: Output, now: () => number, tails: OutputTails): string[] {
  const lines: string[] = [];
  const at = now();
  for (const { task, attempt, since } of view.running.slice(0, SHOWN)) {
    const tail = tails.lastLine(task);
    const state = `  ▸ ${task} ${duration(at - since)}${attempt > 1 ? ` (try ${attempt})` : ""}`;
    lines.push(tail === undefined ? state : `${state} │ ${tail}`);
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
