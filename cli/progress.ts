import type { EventListener, RunEvent } from "../runtime/events.ts";
import type { Output } from "./output.ts";

/** Shows a run while it goes on. */
export interface Progress {
  readonly onEvent: EventListener;
  /** Takes the live line away, so that other text can follow. */
  stop(): void;
}

/** `--events`: every event as a JSON line on stderr. */
export function eventLines(): Progress {
  return { onEvent: (event) => void process.stderr.write(`${JSON.stringify(event)}\n`), stop: () => {} };
}

/**
 * A line for each node that has ended, was tried again or failed; on a terminal also a last line that says what is running. Items
 * of a `for` node are counted, not listed.
 */
export function createProgress(output: Output): Progress {
  if (output.quiet) return { onEvent: () => {}, stop: () => {} };
  const { stderrStyles: styles } = output;
  const startedAt = new Map<string, number>();
  const running = new Map<string, number>();
  const items = new Map<string, number>();
  const live = output.live ? liveLine(() => runningText(running)) : undefined;

  const line = (text: string): void => {
    live?.clear();
    output.note(text);
    live?.draw();
  };
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
          `${styles.warning("↻")} ${name(event)}: attempt ${event.attempt} failed, again in ${duration(event.delayMs)}: ${event.error.message}`,
        );
      case "error":
        leave(running, label);
        return line(`${styles.error("✗")} ${name(event)}: ${withoutNode(event.error.message, event.node)}`);
      case "end": {
        leave(running, label);
        const start = startedAt.get(event.taskId);
        startedAt.delete(event.taskId);
        if (event.paused === true) return;
        if (event.item !== undefined) {
          items.set(label, (items.get(label) ?? 0) + 1);
          return;
        }
        const took = event.cached === true ? " (cached)" : start === undefined ? "" : ` ${timing(start)}`;
        return line(`${styles.info("✓")} ${name(event)}${took}`);
      }
    }
  };

  return {
    onEvent: (event) => {
      if (event.type === "node") onNode(event);
      else if (event.type === "step" && event.phase === "end") {
        for (const [label, count] of items)
          line(`${styles.info("✓")} ${label} (${count} item${count === 1 ? "" : "s"})`);
        items.clear();
      }
    },
    stop: () => live?.stop(),
  };
}

/** `node \`b\` failed: …` behind the node's own name says it twice. */
function withoutNode(message: string, node: string): string {
  const prefix = `node \`${node}\` failed: `;
  return message.startsWith(prefix) ? message.slice(prefix.length) : message;
}

function leave(running: Map<string, number>, label: string): void {
  const count = (running.get(label) ?? 0) - 1;
  if (count > 0) running.set(label, count);
  else running.delete(label);
}

function runningText(running: ReadonlyMap<string, number>): string {
  const names = [...running].map(([label, count]) => (count === 1 ? label : `${label} ×${count}`));
  return names.length === 0
    ? ""
    : `… ${names.slice(0, 6).join(", ")}${names.length > 6 ? ` and ${names.length - 6} more` : ""}`;
}

function timing(start: number): string {
  return duration(Math.round(performance.now() - start));
}

/** Milliseconds in the unit that reads best. */
export function duration(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)}ms`;
  if (milliseconds < 60_000) return `${(milliseconds / 1000).toFixed(1)}s`;
  return `${Math.floor(milliseconds / 60_000)}m ${Math.round((milliseconds % 60_000) / 1000)}s`;
}

interface LiveLine {
  draw(): void;
  clear(): void;
  stop(): void;
}

/** The terminal's last line, rewritten in place. */
function liveLine(text: () => string): LiveLine {
  const stream = process.stderr;
  const since = performance.now();
  const clear = (): void => void stream.write("\r\u001b[2K");
  const draw = (): void => {
    const content = text();
    if (content === "") return clear();
    const full = `${content} ${duration(performance.now() - since)}`;
    stream.write(`\r\u001b[2K${full.slice(0, Math.max(10, (stream.columns ?? 80) - 1))}`);
  };
  const timer = setInterval(draw, 200);
  timer.unref();
  return {
    draw,
    clear,
    stop: () => {
      clearInterval(timer);
      clear();
    },
  };
}
