/**
 * Drives the engine through a trace that a check has shown. Nodes are mocked: each does what the trace says that it chose, and
 * writes some value of the right type. Conditions are not computed from values but decided by the trace; scheduler, barriers, writers
 * and limits are the engine's own. So what happens here is what the run of the trace does, if its conditions come about.
 */
import type { BoundGraph } from "../../compiler/bind/bound-graph.ts";
import { buildModel } from "../../compiler/explore/build-model.ts";
import type { Routing } from "../../compiler/explore/model.ts";
import { lowerGraph } from "../../compiler/lower/lower-graph.ts";
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
import { DECIDE, replayTable, type Question } from "./replay-table.ts";
import { sampleValue } from "./sample-value.ts";

/** What a replay did. */
export interface Replayed {
  readonly table: Table;
  readonly result: RunResult;
  readonly events: readonly RunEvent[];
  /** The nodes of each step that began, the last one included where it failed. */
  readonly steps: readonly (readonly string[])[];
  /** Oldest first. */
  readonly checkpoints: readonly Checkpoint[];
}

export interface ReplayOptions {
  /** The graph's own `limit steps` ends the run, not the end of the trace. */
  readonly ownLimit?: boolean;
  /** Two writers in one step fail the run, as they do; otherwise the last one wins, so that the run goes on to what is looked for. */
  readonly keepRaces?: boolean;
  /** Whether a replay shows what it should. Where the trace leaves open what its last nodes choose, their ways are tried until one does. */
  readonly accept?: (replayed: Replayed) => boolean;
}

/** Ways of the last nodes together. */
const MAX_TRIES = 64;

/** @throws CommandError when the trace does not fit the graph: a node or choice that it does not have, or another way than it goes */
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
  if (first === undefined) throw misfit(0, "nothing runs");
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
  const decide = ({ node, kind, branch }: Question): boolean => {
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
  const result = await engine.run(sampleInput(table), { thread: "replay", ...limit });
  compareWays(trace, steps, result);
  const checkpoints = [...(await engine.history("replay", { limit: 10_000 }))].reverse();
  return { table, result, events, steps, checkpoints };
}

/**
 * Choices by step and node; those of `start` stand under the empty name in the first step. Several where the last step leaves open
 * what its nodes choose.
 */
function* readChoices(graph: BoundGraph, trace: readonly TraceStep[]): Generator<Choices> {
  const model = buildModel(graph);
  const nodes = new Map(model.nodes.map((node) => [node.name, node]));
  const open: { readonly name: string; readonly ways: readonly Choice[] }[] = [];
  const said = trace.map(({ ran, chose }, index) => {
    const found = new Map<string, Choice>();
    const read = (name: string, own: Routing, onError: Routing | undefined): Choice => {
      const text = Object.hasOwn(chose, name) ? (chose[name] ?? "") : "";
      const choice = readChoice(text, own, onError);
      if (choice === undefined) throw misfit(index, `\`${name}\` chooses ${text}, and has no such edge`);
      return choice;
    };
    if (index === 0) found.set("", read("start", model.start, undefined));
    for (const name of ran) {
      const node = nodes.get(name);
      if (node === undefined) throw misfit(index, `\`${name}\` runs, and the graph has no such node`);
      found.set(name, read(name, node.routing, node.errorRouting));
      if (index < trace.length - 1 || Object.hasOwn(chose, name)) continue;
      open.push({ name, ways: openChoices(node, (target) => model.nodes[target]?.name ?? "end") });
    }
    return found;
  });
  const total = Math.min(
    MAX_TRIES,
    open.reduce((count, { ways }) => count * ways.length, 1),
  );
  for (let number = 0; number < total; number++) {
    const last = new Map(said.at(-1));
    let rest = number;
    for (const { name, ways } of open) {
      const way = ways[rest % ways.length];
      if (way !== undefined) last.set(name, way);
      rest = Math.floor(rest / ways.length);
    }
    yield [...said.slice(0, -1), last];
  }
}

/** What a mocked node does. */
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

/** For reducers; all else that is imported is not called. */
function standIns(table: Table): Record<string, (current: Json) => Json> {
  return Object.fromEntries(table.functions.map(({ name }) => [name, (current: Json) => current]));
}

function sampleInput({ channels, types }: Table): JsonObject {
  const given = channels.filter(({ role, initial }) => role === "input" && initial === undefined);
  return Object.fromEntries(given.map(({ name, type }) => [name, sampleValue({ type, types })]));
}

/** The engine must go where the trace goes, as far as the run lasts. */
function compareWays(trace: readonly TraceStep[], steps: readonly (readonly string[])[], result: RunResult): void {
  for (const [index, { ran }] of trace.entries()) {
    const own = steps[index];
    if (own === undefined) {
      if (index > 0 && (result.status === "failed" || result.status === "step_limit")) return;
      throw misfit(index, `${names(ran)} ran, and the run has ended (${result.error?.message ?? result.status})`);
    }
    if (names(own) !== names(ran)) throw misfit(index, `${names(ran)} ran, and the graph runs ${names(own)}`);
  }
}

function names(nodes: readonly string[]): string {
  return [...nodes]
    .sort()
    .map((name) => `\`${name}\``)
    .join(", ");
}

function misfit(step: number, what: string): CommandError {
  return new CommandError(`the trace does not fit the graph: in step ${step} of the trace ${what}`, {
    code: "trace_misfit",
    help: "it may be of an older text: make it anew with `ngc check FILE --json`",
  });
}
