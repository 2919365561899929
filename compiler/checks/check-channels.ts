/** Unused channels: NG406 for graphs and plans, NG405 for the state of a plan. */
import { writeNeverRead } from "../../diagnostics/catalog/data.ts";
import { constantChannel, unusedChannel } from "../../diagnostics/catalog/types.ts";
import type { Diagnostic, Place } from "../../diagnostics/diagnostic.ts";
import type { Span } from "../../diagnostics/source.ts";
import type { BoundChannel, BoundGraph } from "../bind/bound-graph.ts";
import { conditionsOf } from "../bind/edge-parts.ts";
import { deleteStatement } from "../bind/delete-unused.ts";
import type { BoundPlan, BoundTask } from "../bind/plan/bound-plan.ts";

type Report = (diagnostic: Diagnostic) => void;

/** Reports NG406 for a graph without errors. */
export function checkChannelsOfGraph(graph: BoundGraph, report: Report): void {
  const { nodes, edges, assertions, channels, file, poisoned } = graph;
  const conditions = [...edges.flatMap(conditionsOf), ...assertions.flatMap(({ condition }) => condition ?? [])];
  const undos = nodes.flatMap(({ undo }) => undo ?? []);
  const reads = new Set([...nodes, ...undos, ...conditions].flatMap((part) => part.reads));
  for (const name of configOfCalled(graph)) reads.add(name);
  const writes = new Set(nodes.flatMap((node) => node.writes));
  for (const channel of channels) {
    if (poisoned.has(channel.name)) continue;
    const isUnused = reportUnused(channel, reads, writes, placesIn(file), report);
    if (!isUnused && channel.role === "state" && channel.initial !== undefined && !writes.has(channel.name))
      report(constantChannel(placesIn(file)(channel.declaration.name.span), { name: channel.name }));
  }
}

/** Reports NG406 and NG405 for a plan without errors. */
export function checkChannelsOfPlan(plan: BoundPlan, report: Report): void {
  const { tasks, channels, file, poisoned } = plan;
  const reads = new Set(tasks.flatMap((task) => task.reads));
  for (const name of configOfCalled(plan)) reads.add(name);
  const writes = new Set(tasks.flatMap((task) => task.writes));
  const placeOf = placesIn(file);
  for (const channel of channels) {
    if (poisoned.has(channel.name)) continue;
    const isUnused = reportUnused(channel, reads, writes, placeOf, report);
    if (!isUnused && channel.role === "state" && !reads.has(channel.name)) {
      reportUnread(channel, tasks, placeOf, report);
    }
  }
}

/** Names of the configuration that called graphs read: a declaration here sets their default. */
function configOfCalled({ graphs, plans = [] }: Pick<BoundGraph, "graphs" | "plans">): readonly string[] {
  return [...graphs, ...plans].flatMap(({ config }) => config.map(({ channel }) => channel.name));
}

function placesIn(file: Place["file"]): (span: Span) => Place {
  return (span) => ({ file, span });
}

/**
 * Reports NG406: an input or a configuration without a reader, an output without a writer, or another channel without both. Returns
 * whether it did.
 */
function reportUnused(
  { name, role, declaration }: BoundChannel,
  reads: ReadonlySet<string>,
  writes: ReadonlySet<string>,
  placeOf: (span: Span) => Place,
  report: Report,
): boolean {
  const problem = problemOf(role, reads.has(name), writes.has(name));
  if (problem === undefined) return false;
  const place = placeOf(declaration.name.span);
  // Other channels are known outside of the graph, or hold values of earlier runs.
  const fixes = role === "state" ? [deleteStatement(place.file, declaration, "state")] : [];
  report(unusedChannel(place, { name, role, problem, fixes }));
  return true;
}

function problemOf(
  role: BoundChannel["role"],
  isRead: boolean,
  isWritten: boolean,
): "read" | "written" | "used" | undefined {
  switch (role) {
    case "input":
    case "config":
      return isRead ? undefined : "read";
    case "output":
      return isWritten ? undefined : "written";
    case "state":
    case "memory":
      return isRead || isWritten ? undefined : "used";
    default:
      return role satisfies never;
  }
}

/** Reports NG405 at the first output that writes the channel. */
function reportUnread(
  { name, declaration }: BoundChannel,
  tasks: readonly BoundTask[],
  placeOf: (span: Span) => Place,
  report: Report,
): void {
  // The tasks of a matrix share one declaration.
  const writers = [...new Set(tasks.filter((task) => task.writes.includes(name)).map((task) => task.declaration))];
  const output = writers[0]?.output;
  const at =
    output?.kind === "ChannelOutput"
      ? output.channel
      : output?.fields.find((field) => field.channel.name === name)?.channel;
  if (at === undefined) return;
  report(
    writeNeverRead(placeOf(at.span), {
      channel: name,
      writers: writers.map((writer) => writer.name.name),
      declaration: { ...placeOf(declaration.name.span), message: "declared here" },
    }),
  );
}
