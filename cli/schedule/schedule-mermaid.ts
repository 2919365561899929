import type { ScheduleView } from "./schedule-view.ts";

/** The drawn length of a task without a duration: one minute, in milliseconds. */
const UNIT = 60_000;

/** A Mermaid Gantt chart with one section for each slot. */
export function scheduleMermaid(view: ScheduleView): string {
  const scale = view.unit === "tasks" ? UNIT : 1;
  const lines = ["gantt", `  title ${plain(view.plan)}`, "  dateFormat x", "  axisFormat %H:%M:%S"];
  const slots = view.tasks.reduce((most, { slot }) => Math.max(most, slot + 1), 0);
  for (let slot = 0; slot < slots; slot++) {
    lines.push(`  section slot ${slot + 1}`);
    for (const [index, task] of view.tasks.entries()) {
      if (task.slot !== slot) continue;
      const tag = task.critical ? "crit, " : "";
      lines.push(
        `  ${plain(task.id)} :${tag}t${index}, ${Math.round(task.start * scale)}, ${Math.round(task.end * scale)}`,
      );
    }
  }
  return lines.join("\n");
}

/** Replaces characters that end a name in Mermaid with similar ones. */
function plain(text: string): string {
  return text
    .replaceAll(":", "꞉")
    .replaceAll(";", "；")
    .replaceAll("#", "＃")
    .replaceAll(",", "‚")
    .replaceAll("%%", "％％");
}
