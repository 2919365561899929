import type { EventListener, RunEvent } from "../../runtime/interface/events.ts";
import { liveBlock } from "../output/live-block.ts";
import type { Output } from "../output/output.ts";
import { jsonText } from "../output/json-text.ts";
import { printableText } from "../output/printable-text.ts";

/** Shows the progress of a run. */
export interface Progress {
  readonly onEvent: EventListener;
  /** Writes whole lines above the live line. */
  above(write: () => void): void;
  /** Removes the live line. */
  stop(): void;
}

/** `--events`: every event as a JSON line on stderr. */
export function eventLines(): Progress {
  return {
    onEvent: (event) => void process.stderr.write(`${jsonText(event)}\n`),
    above: (write) => write(),
    stop: () => {},
  };
}

/**
 * Prints a line for each node that ended, is tried again or failed; on a terminal also a last line with the running nodes. Items of
 * a `for` node are counted and not listed.
 */
export function createProgress(output: Output): Progress {
  if (output.quiet) return { onEvent: () => {}, above: (write) => write(), stop: () => {} };
  const { stderrStyles: styles } = output;
  const startedAt = new Map<string, number>();
  const running = new Map<string, number>();
  /** Ended items of `for` nodes whose step has not ended, by label, with the namespace of the step. */
  const items = new Map<string, { count: number; readonly namespace: string }>();
  const since = performance.now();
  const live = output.live
    ? liveBlock(() => (running.size === 0 ? [] : [runningText(running, performance.now() - since)]))
    : undefined;

  const above = (write: () => void): void => (live === undefined ? write() : live.above(write));
  const line = (text: string): void => above(() => output.note(text));
  const name = (event: RunEvent & { type: "node" }): string =>
    [...event.namespace, event.item === undefined ? event.node : `${event.node}[${event.item}]`].join(" › ");

  const onNode = (event: RunEvent & { type: "node" }): void => {
    const label = [...event.namespace, event.node].join(" › ");
    switch (event.phase) {
      case "start":
        if (event.attempt === 1) startedAt.set(event.taskId, performance.now());
        running.set(label, (running.get(label) ?? 0) + 1);
        live?.draw();
        return;
      case "retry":
        leave(running, label);
        return line(
          `${styles.warning("↻")} ${name(event)}: attempt ${event.attempt} failed, next attempt in ${duration(event.delayMs)}: ${printableText(event.error.message)}`,
        );
      case "error":
        leave(running, label);
        return line(
          `${styles.error("✗")} ${name(event)}: ${printableText(withoutNode(event.error.message, event.node))}`,
        );
      case "end": {
        leave(running, label);
        const start = startedAt.get(event.taskId);
        startedAt.delete(event.taskId);
        if (event.paused === true) return;
        if (event.item !== undefined) {
          const ended = items.get(label) ?? { count: 0, namespace: event.namespace.join("/") };
          ended.count++;
          items.set(label, ended);
          return;
        }
        const took = event.cached === true ? " (cached)" : start === undefined ? "" : ` ${timing(start)}`;
        return line(`${styles.info("✓")} ${name(event)}${took}`);
      }
    }
  };

  const onUndo = (event: RunEvent & { type: "undo" }): void => {
    const label = [...event.namespace, `${event.call} of ${event.taskId}`].join(" › ");
    if (event.phase === "end") line(`${styles.info("↩")} ${label}`);
    else if (event.phase === "dropped") line(`${styles.warning("!")} ${label} is dropped with the run`);
    else if (event.phase === "error" || event.phase === "retry") {
      const mark = event.phase === "retry" ? styles.warning("↻") : styles.error("✗");
      line(`${mark} ${label}: ${printableText(withoutNode(event.error.message, event.node))}`);
    }
  };

  return {
    onEvent: (event) => {
      if (event.type === "node") onNode(event);
      else if (event.type === "undo") onUndo(event);
      else if (event.type === "step" && event.phase === "end") {
        // A step of a called graph ends while the items of its caller go on.
        const namespace = event.namespace.join("/");
        for (const [label, ended] of items) {
          if (ended.namespace !== namespace) continue;
          items.delete(label);
          line(`${styles.info("✓")} ${label} (${ended.count} item${ended.count === 1 ? "" : "s"})`);
        }
      }
    },
    above,
    stop: () => live?.stop(),
  };
}

/** Removes ``node `b` failed: `` from a message that is printed after the node's name. */
function withoutNode(message: string, node: string): string {
  const failed = `node \`${node}\` failed`;
  if (!message.startsWith(failed)) return message;
  const rest = message.slice(failed.length);
  return rest.startsWith(": ") ? rest.slice(2) : `failed${rest}`;
}

function leave(running: Map<string, number>, label: string): void {
  const count = (running.get(label) ?? 0) - 1;
  if (count > 0) running.set(label, count);
  else running.delete(label);
}

/** The elapsed time comes first: a line that is too long is cut at its end. */
function runningText(running: ReadonlyMap<string, number>, elapsed: number): string {
  const shown: string[] = [];
  for (const [label, count] of running) {
    if (shown.length === 6) break;
    shown.push(count === 1 ? label : `${label} ×${count}`);
  }
  const more = running.size - shown.length;
  return `… ${duration(elapsed)} ${shown.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

function timing(start: number): string {
  return duration(Math.round(performance.now() - start));
}

/** Formats milliseconds: `250ms`, `1.5s`, `2m 5s`. */
export function duration(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)}ms`;
  if (milliseconds < 60_000) return `${(milliseconds / 1000).toFixed(1)}s`;
  return `${Math.floor(milliseconds / 60_000)}m ${Math.round((milliseconds % 60_000) / 1000)}s`;
}
