/** A run in the page: memory store, simulated clock, and given results in place of all that reaches outside. */
import { createEngine } from "../runtime/engine/create-engine.ts";
import type { Bindings, Engine, RunResult } from "../runtime/interface/engine-options.ts";
import type { RunEvent } from "../runtime/interface/events.ts";
import { stubBindings } from "../runtime/program/stub-bindings.ts";
import { MemoryStore } from "../runtime/stores/memory.ts";
import type { Table } from "../runtime/table/table.ts";
import type { Json, JsonObject } from "../runtime/value/json.ts";
import { SimulatedClock } from "../testing/simulated-clock.ts";
import { testNodes } from "../testing/test-nodes.ts";
import type { Answer, Pause, RunSettings, RunState, RunStep } from "./messages.ts";

const THREAD = "playground";
/** Steps of a run that the page keeps, and steps after which it ends. */
const MAX_SHOWN = 500;
const MAX_STEPS = 2_000;
const MAX_LEASE_MS = 2 ** 31 - 1;

export class Session {
  readonly #engine: Engine;
  readonly #clock = new SimulatedClock(() => false);
  readonly #steps: RunStep[] = [];
  readonly #settings: RunSettings;
  readonly #configNames: ReadonlySet<string>;
  #wrote: Record<string, Json> = {};
  #cut = 0;
  #pauses: RunResult["pauses"] = [];

  constructor(table: Table, settings: RunSettings) {
    this.#settings = settings;
    this.#configNames = new Set(table.channels.flatMap(({ name, role }) => (role === "config" ? [name] : [])));
    this.#engine = createEngine(table, {
      ...bindingsOf(table),
      builtins: testNodes((name) => `a page does not run \`${name}\`: give the result of the node that calls it`),
      mocks: Object.fromEntries(
        Object.entries(settings.mocks).map(([node, results]) => {
          let call = 0;
          return [node, () => results[Math.min(call++, results.length - 1)] ?? null];
        }),
      ),
      store: new MemoryStore(),
      secrets: (name) => `value of ${name}`,
      clock: this.#clock,
      random: () => 0.5,
      wake: false,
      leaseMs: MAX_LEASE_MS,
      onEvent: (event) => this.#note(event),
    });
  }

  async start(): Promise<RunState> {
    const part = (isConfig: boolean): JsonObject =>
      Object.fromEntries(
        Object.entries(this.#settings.input).filter(([name]) => this.#configNames.has(name) === isConfig),
      );
    return this.#stateOf(
      await this.#engine.run(part(false), { thread: THREAD, config: part(true), maxSteps: MAX_STEPS }),
    );
  }

  /** Continues: with values, after the time that the run waits for, or after the deadline of a pause. */
  async answer({ answers, signals, late }: Answer): Promise<RunState> {
    for (const { name, value } of signals) await this.#engine.signal(THREAD, name, value);
    if (Object.keys(answers).length === 0 && signals.length === 0) {
      const due = this.#pauses.flatMap((pause) => (late === undefined || pause.id === late ? (pause.due ?? []) : []));
      if (due.length > 0) this.#clock.advanceTo(Math.min(...due));
    }
    return this.#stateOf(await this.#engine.resume(THREAD, { answers, maxSteps: MAX_STEPS }));
  }

  #note(event: RunEvent): void {
    if (event.namespace.length > 0) return;
    if (event.type === "write") this.#wrote[event.channel] = event.value;
    if (event.type !== "step" || event.phase !== "end") return;
    if (this.#steps.length < MAX_SHOWN) this.#steps.push({ ran: event.nodes, wrote: this.#wrote });
    else this.#cut++;
    this.#wrote = {};
  }

  async #stateOf(result: RunResult): Promise<RunState> {
    this.#pauses = result.pauses;
    const thread = await this.#engine.state(THREAD);
    return {
      status: result.status,
      steps: [...this.#steps],
      cut: this.#cut,
      state: result.state,
      pauses: result.pauses.map((pause): Pause => {
        const members = pause.expects?.type.kind === "union" ? pause.expects.type.members : [];
        const choices = members.flatMap((member) => (member.kind === "literal" ? [member.value] : []));
        return {
          id: pause.id,
          node: pause.namespace[0] ?? pause.node,
          kind: pause.kind,
          payload: pause.payload,
          hasDeadline: pause.kind !== "timer" && pause.due !== undefined,
          ...(choices.length > 0 && choices.length === members.length ? { choices } : {}),
        };
      }),
      ...(result.error === null ? {} : { error: result.error.message }),
      next: thread?.next ?? [],
    };
  }
}

/** Functions of modules do not run. Undos have no result, so nothing is missing. */
function bindingsOf(table: Table): Bindings {
  const stubs = stubBindings(table, "a page runs no functions of modules");
  const undos = table.nodes.flatMap(({ undo }) => (undo?.call.kind === "function" ? [undo.call.function] : []));
  const names = undos.map((index) => table.functions[index]?.name ?? "");
  return {
    ...stubs,
    functions: { ...stubs.functions, ...Object.fromEntries(names.map((name) => [name, () => null])) },
  };
}
