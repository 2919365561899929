import type { CallSpec, NodeSpec, ToolSpec } from "../../runtime/table/table.ts";
import { formatTime } from "../schedule/schedule-view.ts";

/** Built-in nodes that wait for a time. */
const TIMERS: ReadonlySet<string> = new Set(["sleep"]);

/** The policies of a node that a picture shows, each with a sign of its own: colour and place are not their only signs. */
export function marksOf(node: NodeSpec, describe: (call: CallSpec) => string): { readonly marks?: readonly string[] } {
  const { call, within, timeout, tries, cache, undo } = node;
  const marks = [
    ...(node.pauseBefore === true ? ["‖ pauses before"] : []),
    ...(node.pauseAfter === true ? ["‖ pauses after"] : []),
    ...(call.kind === "builtin" && TIMERS.has(call.name) ? ["◷ timer"] : []),
    ...(call.kind === "builtin" && call.tools !== undefined ? [`⚒ tools: ${call.tools.map(toolText).join(", ")}`] : []),
    ...(within === undefined ? [] : [`◷ within ${formatTime(within, "ms")}`]),
    ...(timeout === undefined ? [] : [`◷ timeout ${formatTime(timeout, "ms")}`]),
    ...(tries === undefined ? [] : [`↻ ${tries.attempts} tries`]),
    ...(cache === undefined ? [] : ["≡ cached"]),
    ...(undo === undefined ? [] : [`↶ undo ${describe(undo.call)}`]),
  ];
  return marks.length === 0 ? {} : { marks };
}

/** `⊞`: the tool is a graph; `‖`: a person approves its calls. */
function toolText({ name, graph, approval }: ToolSpec): string {
  return `${graph === undefined ? "" : "⊞ "}${name}${approval === undefined ? "" : " ‖"}`;
}
