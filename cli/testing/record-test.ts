/** Turns the last run of a thread into the text of a `test` block. */
import { quote } from "../../grammar/format/literal-text.ts";
import type { Checkpoint } from "../../runtime/interface/checkpoint.ts";
import type { ChannelSpec, NodeSpec, Table } from "../../runtime/table/table.ts";
import type { Json, JsonObject } from "../../runtime/value/json.ts";
import { CommandError } from "../process/command-error.ts";

/** What a node has returned in a run, call by call. */
interface Recorded {
  readonly results: Json[];
  readonly failures: string[];
}

/**
 * The `test` block of a run. It mocks each node that is no expression with the results that the run stored, and expects the path, the
 * status and the outputs of the run.
 *
 * @param sampleOf any value of the type of a node's result
 * @param checkpoints of the run, oldest first; the first is from before its first step
 * @throws CommandError for a run whose results do not follow from what the store contains
 */
export function recordTest(
  table: Table,
  checkpoints: readonly Checkpoint[],
  title: string,
  sampleOf: (node: string) => Json,
): string {
  const channels = new Map(table.channels.map((channel) => [channel.name, channel]));
  const valueOf = ({ values }: Checkpoint, channel: ChannelSpec): Json =>
    Object.hasOwn(values, channel.name) ? (values[channel.name] ?? null) : (channel.initial ?? null);
  const first = checkpoints[0]!;
  const head = checkpoints.at(-1)!;
  const recorded = new Map<NodeSpec, Recorded>();
  const of = (node: NodeSpec): Recorded => {
    const found = recorded.get(node) ?? { results: [], failures: [] };
    recorded.set(node, found);
    return found;
  };
  const steps: string[] = [];
  for (const [at, checkpoint] of checkpoints.entries()) {
    const before = checkpoints[at - 1];
    if (before === undefined || checkpoint.phase !== "completed") continue;
    const nodes = checkpoint.currentNodes.map((name) => nodeOf(table, name));
    steps.push(nodes.length === 1 ? nodes[0]!.name : `[${nodes.map(({ name }) => name).join(", ")}]`);
    const failed = failuresOf(checkpoint);
    for (const node of new Set(nodes)) {
      const message = failed.get(node.name);
      if (message !== undefined) of(node).failures.push(message);
      else if (node.call.kind !== "expression") {
        of(node).results.push(...resultsOf(node, nodes, table, { before, checkpoint, valueOf, sampleOf }));
      }
    }
  }
  const { failure } = head;
  const cause = failure?.node === undefined ? undefined : table.nodes.find(({ name }) => name === failure.node);
  if (head.status === "failed" && cause !== undefined && failure !== undefined)
    of(cause).failures.push(reasonOf(failure.message));

  const lines: string[] = [];
  for (const channel of channels.values()) {
    const isGiven = channel.role === "input" || channel.role === "config";
    if (isGiven && Object.hasOwn(first.values, channel.name)) {
      lines.push(`given ${channel.name} = ${literal(valueOf(first, channel))}`);
    }
  }
  for (const [node, { results, failures }] of recorded) lines.push(...mockOf(node, results, failures));
  for (const { name, pauseBefore, pauseAfter } of table.nodes) {
    if (pauseBefore === true || pauseAfter === true) lines.push(`answer ${name} = true`);
  }
  if (steps.length > 0) lines.push(`expect ran ${steps.join(", ")}`);
  if (head.status !== "completed") lines.push(`expect status ${head.status}`);
  for (const channel of channels.values()) {
    if (channel.role === "output") lines.push(`expect ${channel.name} == ${literal(valueOf(head, channel))}`);
  }
  return `test ${quote(title)} for ${table.name} {\n${lines.map((line) => `  ${line}\n`).join("")}}\n`;
}

function nodeOf(table: Table, name: string): NodeSpec {
  const found = table.nodes.find((node) => node.name === name);
  if (found !== undefined) return found;
  throw unclear(`the run has a node \`${name}\`, which the graph no longer has`);
}

function mockOf({ name, call }: NodeSpec, results: readonly Json[], failures: readonly string[]): string[] {
  if (failures.length > 0 && results.length > 0) {
    throw unclear(`\`${name}\` has failed in one call and not in another, which a mock cannot do`);
  }
  if (failures.length > 0) return [`mock ${name} fails ${quote(failures[0]!)}`];
  if (results.length === 0) return [];
  // Equal results at the end are one: the last is returned again.
  const texts = results.map(literal);
  const isAnswered = call.kind === "builtin" && call.name === "ask";
  while (!isAnswered && texts.length > 1 && texts.at(-1) === texts.at(-2)) texts.pop();
  return [`${isAnswered ? "answer" : "mock"} ${name} = ${texts.join(" then ")}`];
}

/** What the body has thrown: the engine adds the node to a message, and adds it to the one of the mock again. */
function reasonOf(message: string): string {
  return message.replace(/^node `[^`]*` failed(?: at item \d+)?(?: after \d+ attempts)?: /, "");
}

/** Failures of a step whose `on error` edges were taken, by node. */
function failuresOf({ errors }: Checkpoint): ReadonlyMap<string, string> {
  return new Map(
    Object.values(errors).flatMap((error) => {
      const { node, message } = (error ?? {}) as { readonly node?: Json; readonly message?: Json };
      return typeof node === "string" && typeof message === "string" ? [[node, message] as const] : [];
    }),
  );
}

interface Step {
  readonly before: Checkpoint;
  readonly checkpoint: Checkpoint;
  readonly valueOf: (checkpoint: Checkpoint, channel: ChannelSpec) => Json;
  readonly sampleOf: (node: string) => Json;
}

/** What a node returned in a step: one result, or those of the items of a `for`. */
function resultsOf(node: NodeSpec, nodes: readonly NodeSpec[], table: Table, step: Step): readonly Json[] {
  const { output } = node;
  // No channel has the other fields, so their values do not matter.
  const sample = node.call.kind === "builtin" ? step.sampleOf(node.name) : null;
  if (output === undefined) return [sample];
  const fields = output.kind === "channel" ? [{ field: "", ...output }] : output.fields;
  if (node.call.kind === "graph") {
    const outputs = table.graphs[node.call.graph]!.channels.filter(({ role }) => role === "output");
    const missing = outputs.find(({ name }) => !fields.some(({ field }) => field === name));
    if (missing !== undefined) {
      throw unclear(`\`${node.name}\` does not store the output \`${missing.name}\` of the graph that it calls`);
    }
  }
  const parts = fields.map(({ field, channel: index, set }) => {
    const channel = table.channels[index]!;
    const writers = nodes.filter((each) => writes(each, index)).length;
    return { field, values: writtenBy(node, channel, set === true, writers, step) };
  });
  if (output.kind === "channel") return parts[0]!.values;
  const count = Math.max(0, ...parts.map(({ values }) => values.length));
  return Array.from({ length: count }, (_, at) => ({
    ...(sample as JsonObject | null),
    ...Object.fromEntries(parts.map(({ field, values }) => [field, values[at] ?? null])),
  }));
}

function writes({ output }: NodeSpec, index: number): boolean {
  if (output === undefined) return false;
  return output.kind === "channel" ? output.channel === index : output.fields.some(({ channel }) => channel === index);
}

function writtenBy(
  node: NodeSpec,
  channel: ChannelSpec,
  replaces: boolean,
  writers: number,
  { before, checkpoint, valueOf }: Step,
): readonly Json[] {
  const old = valueOf(before, channel);
  const value = valueOf(checkpoint, channel);
  const isMany = node.each !== undefined;
  const kind = replaces ? undefined : channel.reducer?.kind;
  if (writers > 1 && kind !== "last" && kind !== "min" && kind !== "max") {
    throw unclear(`several nodes of one step write \`${channel.name}\`, and the store has what they wrote together`);
  }
  if (kind === undefined) return isMany && Array.isArray(value) ? value : [value];
  if (kind === "append" && Array.isArray(value) && Array.isArray(old)) {
    const added = value.slice(old.length);
    return isMany ? added : [added];
  }
  if (isMany || kind === "function") {
    throw unclear(`\`${node.name}\` writes \`${channel.name}\` with a reducer that does not show what it wrote`);
  }
  if (kind === "sum") return [Number(value) - Number(old)];
  return [value];
}

/** A value as a literal of the language. */
function literal(value: Json): string {
  if (typeof value === "string") return quote(value);
  if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`;
  if (value === null || typeof value !== "object") return String(value);
  const fields = Object.entries(value).map(([name, field]) => `${keyText(name)}: ${literal(field ?? null)}`);
  return fields.length === 0 ? "{}" : `{ ${fields.join(", ")} }`;
}

function keyText(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? name : quote(name);
}

function unclear(why: string): CommandError {
  return new CommandError(`the run cannot be recorded: ${why}`, {
    help: "write the test by hand; `ngc history` and `ngc show` print the path and the values of the run",
  });
}
