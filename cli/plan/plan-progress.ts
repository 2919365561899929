import type { PlanEvent } from "../../runtime/plan/plan-events.ts";
import { liveBlock } from "../output/live-block.ts";
import type { Output } from "../output/output.ts";
import { jsonText } from "../output/json-text.ts";
import { printableText } from "../output/printable-text.ts";
import { duration } from "../run/progress.ts";
import { blockLines } from "./live-lines.ts";
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
  const live = output.live ? liveBlock((size) => blockLines(view, output, now, tails, size)) : undefined;
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

/** @param changed what has changed since the last result of a cached task */
function whyItRuns(changed: readonly string[]): string {
  const [only] = changed;
  if (only === "first run") return "it has no stored result";
  return only === "--no-cache" ? only : `changed since: ${changed.join(", ")}`;
}

function lineOf(
  event: PlanEvent,
  { stderrStyles: styles }: Output,
  started: Map<string, number>,
  now: () => number,
  isLive: boolean,
  triesOf: (task: string) => number,
): string | undefined {
  if (event.type === "node_changed") return `· ${event.node_id} runs: ${whyItRuns(event.changed)}`;
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
