import { NodeError } from "../interface/errors.ts";
import type { Json } from "../value/json.ts";
import { Mismatch } from "../value/mismatch.ts";
import type { Run } from "../run/run.ts";
import { endTurnAfter } from "../run/cut-work.ts";
import type { Task, Update } from "./task.ts";
import { isRecord } from "../value/plain-object.ts";

/** The updates of a node's result, or the error if the result does not fit (2.3). */
export function updatesOf(run: Run, task: Task, value: unknown): readonly Update[] | NodeError {
  const { output, isEach } = task.node;
  if (output === undefined) return NOTHING;
  if (output.kind === "channel") {
    const update = admit(run, task, output, value, undefined);
    return update instanceof NodeError ? update : [update];
  }
  if (!isRecord(value)) {
    const names = output.fields.map(({ field }) => `\`${field}\``).join(", ");
    return badResult(run, task, `expected a record with ${names}, found ${describeKind(value)}`);
  }
  const updates: Update[] = [];
  for (const target of output.fields) {
    const { field, channel } = target;
    let part: unknown;
    try {
      part = Object.hasOwn(value, field) ? (value as Readonly<Record<string, unknown>>)[field] : undefined;
    } catch (cause) {
      return badResult(run, task, `its field \`${field}\` cannot be read`, cause);
    }
    if (part === undefined && target.optional === true) continue;
    const code = run.program.channels[channel]!;
    // A missing optional field reads as null, if the channel accepts null.
    if (part === undefined && !isEach && !(code.admit(null) instanceof Mismatch)) part = null;
    const update = admit(run, task, target, part, field);
    if (update instanceof NodeError) return update;
    updates.push(update);
  }
  return updates;
}

function admit(
  run: Run,
  task: Task,
  { channel, set }: { readonly channel: number; readonly set?: true },
  value: unknown,
  field: string | undefined,
): Update | NodeError {
  const declared = run.program.channels[channel]!;
  const code = set === true ? declared.plain : declared;
  let admitted = task.node.list === undefined ? code.admitUpdate(value) : code.admitItem(value);
  if (admitted instanceof Mismatch) {
    const place = field === undefined ? admitted : admitted.under(field);
    return badResult(run, task, `${place.describe()}, for channel \`${code.name}\``);
  }
  endTurnAfter(run.shared, admitted);
  // An item that was sent to a `for` node is a list of one item.
  if (task.node.list !== undefined && task.itemIndex === -1) admitted = code.combineItems([admitted as Json]);
  return set === true ? { channel, value: admitted, set } : { channel, value: admitted };
}

function badResult(run: Run, task: Task, problem: string, cause?: unknown): NodeError {
  const { name } = task.node.spec;
  return new NodeError("NG_BAD_RESULT", name, `the result of node \`${name}\` does not fit: ${problem}`, {
    items: task.itemIndex === -1 ? [] : [task.itemIndex],
    threadId: run.shared.threadId,
    ...(cause === undefined ? {} : { cause }),
  });
}

function describeKind(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  return Array.isArray(value) ? "a list" : `a ${typeof value}`;
}

const NOTHING: readonly never[] = Object.freeze([]);
