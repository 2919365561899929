/**
 * Drives the engine through a trace that a check reported. Nodes are mocked: each makes the choice of the trace and writes a sample
 * value of the right type. The trace decides conditions; scheduler, barriers, writers and limits are the engine's own. So the replay
 * shows what a run does if the conditions hold as in the trace. `computed-replay.ts` computes them.
 */
import type { BoundGraph } from "../../compiler/bind/bound-graph.ts";
import { controlModel } from "../../compiler/explore/build-model.ts";
import type { Routing } from "../../compiler/explore/model.ts";
import { lowerGraph } from "../../compiler/lower/lower.ts";
import type { TraceStep } from "../../diagnostics/diagnostic.ts";
import type { Checkpoint } from "../../runtime/interface/checkpoint.ts";
import type { NodeContext } from "../../runtime/interface/context.ts";
import type { RunResult } from "../../runtime/interface/engine-options.ts";
import type { RunEvent } from "../../runtime/interface/events.ts";
import { createEngine, MemoryStore } from "../../runtime/index.ts";
import type { Json, JsonObject } from "../../runtime/value/json.ts";
import type { Table } from "../../runtime/table/table.ts";
import { CommandError } from "../process/command-error.ts";
import { openChoices } from "./open-choices.ts";
import { readChoice, type Choice } from "./read-choice.ts";
import { DECIDE, replayTable, type BranchQuery } from "./replay-table.ts";
import { sampleValue } from "./sample-value.ts";

/** The result of a replay. */
export interface Replayed {
  readonly table: Table;
  readonly result: RunResult;
  readonly events: readonly RunEvent[];
  /** The nodes of each step that started, including a step that failed. */
  readonly steps: readonly (readonly string[])[];
  /** Oldest first. */
  readonly checkpoints: readonly Checkpoint[];
  /** The input of the run. */
  readonly given: JsonObject;
  /** The conditions were computed. Otherwise the replay assumed that they hold as in the trace. */
  readonly isComputed: boolean;
}

export interface ReplayOptions {
  /** The run ends at the graph's own `limit steps` and not at the end of the trace. */
  readonly ownLimit?: boolean;
  /** The conditions of `assert … at` do not hold in the last step of the trace. Otherwise they hold. */
  readonly breaksAssertions?: boolean;
  /** Two writers in one step fail the run, as in a real run. Otherwise the last writer wins, so that the run reaches the trace's end. */
  readonly keepRaces?: boolean;
  /** Whether a replay shows the failure. If the trace leaves the choices of its last nodes open, they are tried until one is accepted. */
  readonly accept?: (replayed: Replayed) => boolean;
}

/** Maximum number of combinations of choices of the last nodes. */
const MAX_TRIES = 64;

/** @throws CommandError when the trace does not fit the graph: it has no such node or choice, or the run takes another path */
export async function replayTrace(
  graph: BoundGraph,
  trace: readonly TraceStep[],
  options: ReplayOptions = {},
): Promise<Replayed> {
  const table = replayTable(lowerGraph(graph), { keepRaces: options.keepRaces === true });
  let first: Replayed | undefined;
  for (const choices of readChoices(graph, trace)) {
    const replayed = await replayOnce(table, trace, choices, options);
    if (options.accept === undefined || options.accept(replayed)) return replayed;
    first ??= replayed;
  }
  if (first === undefined) throw mismatch(0, "nothing runs");
  return first;
}

type Choices = readonly ReadonlyMap<string, Choice>[];

async function replayOnce(
  table: Table,
  trace: readonly TraceStep[],
  choices: Choices,
  options: ReplayOptions,
): Promise<Replayed> {
  const events: RunEvent[] = [];
  const steps: (readonly string[])[] = [];
  let step = -1;
  const decide = ({ node, kind, branch }: BranchQuery): boolean => {
    if (kind === "asserted") return options.breaksAssertions !== true || step < trace.length - 1;
    const choice = choices[Math.max(step, 0)]?.get(node);
    return choice !== undefined && choice.kind === kind && choice.taken.has(branch);
  };
  const mock = (name: string) => (context: NodeContext) => act(choices[context.step]?.get(name), context);
  const store = new MemoryStore();
  const engine = createEngine(table, {
    functions: { ...standIns(table), [DECIDE]: decide },
    mocks: Object.fromEntries(table.nodes.map(({ name }) => [name, mock(name)])),
    secrets: () => "",
    store,
    onEvent: (event) => {
      events.push(event);
      if (event.type !== "step" || event.phase !== "start") return;
      step = event.step;
      steps.push(event.nodes);
    },
  });
  const limit = options.ownLimit === true ? {} : { maxSteps: trace.length };
  const given = sampleInput(table);
  const result = await engine.run(given, { thread: "replay", ...limit });
  comparePaths(trace, steps, result);
  const checkpoints = [...(await engine.history("replay", { limit: 10_000 }))].reverse();
  return { table, result, events, steps, checkpoints, given, isComputed: false };
}

/**
 * Choices by step and node; the choice of `start` has the empty name in the first step. If the last step leaves choices open, yields
 * every combination of them, up to `MAX_TRIES`.
 */
function* readChoices(graph: BoundGraph, trace: readonly TraceStep[]): Generator<Choices> {
  const model = controlModel(graph);
  const nodes = new Map(model.nodes.map((node) => [node.name, node]));
  const open: { readonly name: string; readonly choices: readonly Choice[] }[] = [];
  const given = trace.map(({ ran, chose }, index) => {
    const found = new Map<string, Choice>();
    const read = (name: string, own: Routing, onError: Routing | undefined): Choice => {
      const text = Object.hasOwn(chose, name) ? (chose[name] ?? "") : "";
      const choice = readChoice(text, own, onError);
      if (choice === undefined) throw mismatch(index, `\`${name}\` chooses ${text}, but has no such edge`);
      return choice;
    };
    if (index === 0) found.set("", read("start", model.start, undefined));
    for (const name of ran) {
      const node = nodes.get(name);
      if (node === undefined) throw mismatch(index, `\`${name}\` runs, but the graph has no such node`);
      found.set(name, read(name, node.routing, node.errorRouting));
      if (index < trace.length - 1 || Object.hasOwn(chose, name)) continue;
      open.push({ name, choices: openChoices(node, (target) => model.nodes[target]?.name ?? "end") });
    }
    return found;
  });
  const total = Math.min(
    MAX_TRIES,
    open.reduce((count, { choices }) => count * choices.length, 1),
  );
  for (let number = 0; number < total; number++) {
    const last = new Map(given.at(-1));
    let rest = number;
    for (const { name, choices } of open) {
      const choice = choices[rest % choices.length];
      if (choice !== undefined) last.set(name, choice);
      rest = Math.floor(rest / choices.length);
    }
    yield [...given.slice(0, -1), last];
  }
}

/** The behaviour of a mocked node. */
function act(choice: Choice | undefined, context: NodeContext): unknown {
  if (choice?.kind === "error") {
    throw Object.assign(new Error("fails in the trace"), { retryable: false });
  }
  for (const node of choice?.sends ?? []) context.send(node, null);
  const { goto } = choice ?? {};
  if (goto?.exclusive === true) context.goto(goto.targets[0] ?? "end", { exclusive: true });
  else if (goto !== undefined) context.goto(...goto.targets);
  return context.expects === undefined ? null : sampleValue(context.expects);
}

/** Replacements for imported reducers; other imported functions are not called. */
function standIns(table: Table): Record<string, (current: Json) => Json> {
  return Object.fromEntries(table.functions.map(({ name }) => [name, (current: Json) => current]));
}

function sampleInput({ channels, types }: Table): JsonObject {
  const given = channels.filter(({ role, initial }) => role === "input" && initial === undefined);
  return Object.fromEntries(given.map(({ name, type }) => [name, sampleValue({ type, types })]));
}

/** Checks that the run took the path of the trace, as far as it got. */
function comparePaths(trace: readonly TraceStep[], steps: readonly (readonly string[])[], result: RunResult): void {
  for (const [index, { ran }] of trace.entries()) {
    const own = steps[index];
    if (own === undefined) {
      if (index > 0 && (result.status === "failed" || result.status === "limit")) return;
      throw mismatch(index, `${names(ran)} ran, but the run has ended (${result.error?.message ?? result.status})`);
    }
    if (names(own) !== names(ran)) throw mismatch(index, `${names(ran)} ran, but the graph runs ${names(own)}`);
  }
}

function names(nodes: readonly string[]): string {
  return [...nodes]
    .sort()
    .map((name) => `\`${name}\``)
    .join(", ");
}

function mismatch(step: number, what: string): CommandError {
  return new CommandError(`the trace does not fit the graph: in step ${step} of the trace ${what}`, {
    code: "trace_misfit",
    help: "it may belong to an older version of the file: create it again with `ngc check FILE --json`",
  });
}
