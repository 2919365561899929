import { stripVTControlCharacters } from "node:util";
import { printable } from "../../diagnostics/render/index.ts";
import type { PlanEvent } from "../../runtime/plan/plan-events.ts";

/** The last line that each running task has printed, for the live view. */
export interface OutputTails {
  /** A command of a task or of a check has printed whole lines. */
  readonly onText: (node: string, text: string) => void;
  readonly onEvent: (event: PlanEvent) => void;
  /** The last line that is not empty, of the task, its checks, or the tasks of a plan that it calls; in the current attempt. */
  lastLine(task: string): string | undefined;
}

/** A longer line is wider than any terminal, in characters. */
const LONGEST = 1000;

export function createOutputTails(): OutputTails {
  const last = new Map<string, string>();
  return {
    onText(node, text) {
      const line = lastLineOf(text);
      if (line === undefined) return;
      const task = node.replace(/ check \d+$/, "");
      last.set(task, line);
      // Also for the tasks that call its plan.
      for (let at = task.indexOf("/"); at !== -1; at = task.indexOf("/", at + 1)) last.set(task.slice(0, at), line);
    },
    onEvent(event) {
      const isNew = event.type === "node_transition" || (event.type === "node_attempt" && !event.converged);
      if (isNew) last.delete(event.node_id);
    },
    lastLine: (task) => last.get(task),
  };
}

/** The last line with something to see, without the parts that a progress bar has replaced, and without what acts on a terminal. */
function lastLineOf(text: string): string | undefined {
  for (let end = text.length; end > 0;) {
    let begin = end;
    // One scan: a search for each of the two line breaks would read the whole text for each line.
    while (begin > 0 && text[begin - 1] !== "\n" && text[begin - 1] !== "\r") begin--;
    const line = printable(stripVTControlCharacters(text.slice(begin, Math.min(end, begin + LONGEST)))).trim();
    if (line !== "") return line;
    end = begin - 1;
  }
  return undefined;
}
