import { expect } from "vitest";
import {
  createPlanRunner,
  type BuiltinNode,
  type PlanEvent,
  type PlanResumeOptions,
  type PlanRunOptions,
  type PlanRunResult,
  type PlanRunner,
  type Store,
} from "../../runtime/index.ts";
import type { PlanRunnerOptions } from "../../runtime/plan/plan-options.ts";
import { VirtualClock } from "../support/virtual-clock.ts";
import { planTable } from "./compile-plan.ts";

/** The behaviour of a plan's commands, by their text. Other commands take a second and exit with 0. */
export interface Command {
  /** Seconds. */
  readonly takes?: number;
  /** Exit codes by attempt; the last one repeats. */
  readonly codes?: readonly number[];
  readonly stdout?: string;
}

export interface TextRunner {
  readonly runner: PlanRunner;
  readonly clock: VirtualClock;
  readonly events: PlanEvent[];
  /** Commands in the order in which they started. */
  readonly started: string[];
  /** For each start of a task's command (not of a check), the commands of the tasks in flight, sorted. */
  readonly together: (readonly string[])[];
  run(options?: PlanRunOptions, input?: Parameters<PlanRunner["run"]>[0]): Promise<PlanRunResult>;
  resume(thread: string, options?: PlanResumeOptions): Promise<PlanRunResult>;
}

/** A plan's text, compiled, with its commands run in virtual time. Commands that begin with `check` take no time. */
export function textRunner(
  text: string,
  commands: Readonly<Record<string, Command>> = {},
  options: PlanRunnerOptions & { readonly store?: Store } = {},
  files: Readonly<Record<string, string>> = {},
): TextRunner {
  const clock = new VirtualClock();
  const events: PlanEvent[] = [];
  const started: string[] = [];
  const together: (readonly string[])[] = [];
  const inFlight: string[] = [];
  const counts = new Map<string, number>();
  const shell: BuiltinNode = ({ command, check }, { signal }) => {
    const line = String(command);
    const { takes = 1, codes = [0], stdout = "" } = commands[line] ?? {};
    const count = counts.get(line) ?? 0;
    counts.set(line, count + 1);
    started.push(line);
    const code = codes[Math.min(count, codes.length - 1)] ?? 0;
    const result = { code, stdout, stderr: "" };
    const isCheck = line.startsWith("check");
    const end = (): unknown => {
      if (code !== 0 && check !== false) throw new Error(`\`${line}\` ended with exit code ${code}`);
      return result;
    };
    if (isCheck) return end();
    inFlight.push(line);
    together.push([...inFlight].sort());
    return new Promise((resolve, reject) => {
      const leave = (): void => void inFlight.splice(inFlight.indexOf(line), 1);
      signal.addEventListener("abort", () => {
        leave();
        reject(signal.reason as Error);
      });
      clock.setTimeout(() => {
        if (signal.aborted) return;
        leave();
        try {
          resolve(end());
        } catch (error) {
          reject(error as Error);
        }
      }, takes * 1000);
    });
  };
  const { builtins, ...rest } = options;
  const runner = createPlanRunner(planTable(text, undefined, files), {
    clock,
    ...rest,
    builtins: { shell, ...builtins },
  });
  const onEvent = (event: PlanEvent): void => void events.push(event);
  const settle = async (result: Promise<PlanRunResult>): Promise<PlanRunResult> => {
    const ended = await clock.until(result);
    expectLegal(events);
    return ended;
  };
  return {
    runner,
    clock,
    events,
    started,
    together,
    run: (settings = {}, input = {}) => {
      events.length = 0;
      return settle(runner.run(input, { onEvent, ...settings }));
    },
    resume: (thread, settings = {}) => {
      events.length = 0;
      return settle(runner.resume(thread, { onEvent, ...settings }));
    },
  };
}

const LEGAL: Readonly<Record<string, readonly string[]>> = {
  pending: ["ready", "blocked", "skipped", "cancelled", "done"],
  ready: ["running", "blocked", "skipped", "cancelled"],
  running: ["done", "failed", "waiting", "cancelled"],
  waiting: ["running"],
};

/** K-07, K-34, K-35 and the order of a log, for any run of any plan. */
export function expectLegal(events: readonly PlanEvent[]): void {
  expect(events[0]?.type).toBe("run_start");
  expect(events.at(-1)?.type).toBe("run_end");
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index));
  const status = new Map<string, string>();
  const ready = new Set<string>();
  for (const event of events) {
    if (event.type !== "node_transition") continue;
    const { node_id, from, to, reason } = event;
    expect(from).toBe(status.get(node_id) ?? "pending");
    expect(LEGAL[from] ?? [], `${node_id}: ${from} → ${to}`).toContain(to);
    // Only a task that an earlier run finished is done without running.
    if (from === "pending" && to === "done") expect(reason).toBe("restored");
    if (to === "ready") {
      expect(ready.has(node_id), `${node_id} is ready twice`).toBe(false);
      ready.add(node_id);
    }
    expect("attempt" in event).toBe(to === "running");
    status.set(node_id, to);
  }
}

export function transitions(events: readonly PlanEvent[], name?: string): string[] {
  return events.flatMap((event) => {
    if (event.type !== "node_transition" || (name !== undefined && event.node_id !== name)) return [];
    const reason = event.reason === undefined ? "" : ` ${event.reason}`;
    return [`${name === undefined ? `${event.node_id} ` : ""}${event.from}→${event.to}${reason}`];
  });
}

export function attemptsOf(events: readonly PlanEvent[]): Extract<PlanEvent, { type: "node_attempt" }>[] {
  return events.flatMap((event) => (event.type === "node_attempt" ? [event] : []));
}
