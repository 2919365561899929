import { RunError } from "../errors.ts";
import type { Json } from "../json.ts";
import { describeError, emitEvent } from "./run-events.ts";
import type { Run } from "./run.ts";
import type { Outcome, Task } from "./task.ts";

/** Updates of a step, applied to the state; `undo` puts everything back. */
export interface Applied {
  undo(): void;
  /** Tells the chain and those who watch: the updates stay. */
  settle(): void;
}

/** Nothing of the step may be applied: the tasks at fault have to run again. */
export interface Fault {
  readonly error: RunError;
  readonly atFault: readonly Task[];
}

/** Applies updates in task order, all or nothing (2.2, 2.3). Costs what is written. */
export function applyUpdates(run: Run, tasks: readonly Task[], outcomes: readonly Outcome[]): Applied | Fault {
  const { channels } = run.program;
  const { state } = run;
  const before: Before[] = [];
  const undo = (): void => {
    for (let at = before.length - 1; at >= 0; at--) state[before[at]!.channel] = before[at]!.value;
  };
  const clash = tasks.length > 1 ? concurrentWrite(run, tasks, outcomes) : undefined;
  if (clash !== undefined) return clash;
  for (let index = 0; index < tasks.length; index++) {
    for (const { channel, value } of outcomes[index]!.updates) {
      const code = channels[channel]!;
      const current = state[channel]!;
      try {
        state[channel] = code.reduce === undefined ? value : code.reduce(current, value);
      } catch (cause) {
        undo();
        const task = tasks[index]!;
        const { name } = task.node.spec;
        const reason = run.shared.redact(describeError(cause));
        const message = `the reducer of channel \`${code.name}\` failed on what node \`${name}\` wrote: ${reason}`;
        return { error: new RunError("NG_REDUCER_FAILED", message, { nodeIds: [name], cause }), atFault: [task] };
      }
      before.push({ channel, value: current, task: index, update: value, after: state[channel]! });
    }
  }
  return { undo, settle: () => settle(run, tasks, before) };
}

interface Before {
  readonly channel: number;
  readonly value: Json;
  readonly task: number;
  readonly update: Json;
  readonly after: Json;
}

function settle(run: Run, tasks: readonly Task[], writes: readonly Before[]): void {
  const { channels } = run.program;
  const { chain } = run;
  if (chain === undefined && !run.listening) return;
  for (const { channel, value, task, update, after } of writes) {
    const { name, spec } = channels[channel]!;
    chain?.touch(channel, value, spec.reducer?.kind === "append");
    if (run.listening) {
      emitEvent(run, { type: "write", node: tasks[task]!.node.spec.name, channel: name, update, value: after });
    }
  }
}

/** Two tasks that write a channel which takes one writer a step. */
function concurrentWrite(run: Run, tasks: readonly Task[], outcomes: readonly Outcome[]): Fault | undefined {
  const { channels } = run.program;
  let writers: Map<number, number[]> | undefined;
  for (let index = 0; index < tasks.length; index++) {
    for (const { channel } of outcomes[index]!.updates) {
      if (channels[channel]!.reduce !== undefined) continue;
      writers ??= new Map();
      const known = writers.get(channel);
      if (known === undefined) writers.set(channel, [index]);
      else if (known.at(-1) !== index) known.push(index);
    }
  }
  if (writers === undefined) return undefined;
  const clashes = [...writers].filter(([, indexes]) => indexes.length > 1);
  const first = clashes[0];
  if (first === undefined) return undefined;
  const names = first[1].map((index) => tasks[index]!.node.spec.name);
  const message =
    `nodes ${names.map((name) => `\`${name}\``).join(" and ")} both write channel \`${channels[first[0]]!.name}\` in ` +
    `step ${run.step}: give it a reducer (\`reduce last\`, say), or let one run after the other`;
  const atFault = [...new Set(clashes.flatMap(([, indexes]) => indexes))].map((index) => tasks[index]!);
  return { error: new RunError("NG_CONCURRENT_WRITE", message, { nodeIds: [...new Set(names)] }), atFault };
}
