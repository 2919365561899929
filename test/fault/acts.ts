/** The acts of a simulated user: every operation that the engine offers for a thread. */
import type { CheckpointId } from "../../runtime/interface/checkpoint.ts";
import type { Engine, ExecuteOptions } from "../../runtime/interface/engine-options.ts";
import type { Json, JsonObject } from "../../runtime/value/json.ts";
import { nameIn, type Version } from "./versions.ts";
import type { Drift } from "./table-of-model.ts";

export type Act =
  | { readonly kind: "run"; readonly input: number; readonly abandon: boolean }
  | { readonly kind: "resume"; readonly answers?: Readonly<Record<string, Json>>; readonly answer?: Json }
  /** `source` is the checkpoint, `from` the id or label that names it. */
  | { readonly kind: "resume from"; readonly source: CheckpointId; readonly from: string; readonly at?: number }
  | {
      readonly kind: "fork";
      readonly source: CheckpointId;
      readonly from?: string;
      readonly as?: string;
      readonly at?: number;
    }
  | { readonly kind: "update"; readonly values: JsonObject; readonly replace: boolean; readonly as?: number }
  | { readonly kind: "label"; readonly checkpoint: CheckpointId; readonly label: string };

/** An act, the thread it applies to, and its expected result without faults. */
export interface Plan {
  readonly act: Act;
  readonly thread: string;
  /** The error code that the act must be refused with, before anything runs or is written. */
  readonly refusal?: string;
  /** The engine has another version of the table. */
  readonly drift?: Drift;
  /** The names that the engine's table uses; absent if the graph of the seed is never edited. */
  readonly version?: Version;
}

/** Performs the act. Acts that run return a promise of the result. */
export async function perform(
  engine: Engine,
  { act, thread, version = "plain" }: Plan,
  names: readonly string[],
  options: ExecuteOptions,
): Promise<unknown> {
  switch (act.kind) {
    case "run":
      return engine.run({ input: act.input }, { ...options, thread, abandon: act.abandon });
    case "resume": {
      const { answers, answer } = act;
      const given = { ...(answers === undefined ? {} : { answers }), ...(answer === undefined ? {} : { answer }) };
      return engine.resume(thread, { ...options, ...given });
    }
    case "resume from": {
      const { from, at } = act;
      return engine.resume(thread, { ...options, from, ...(at === undefined ? {} : { at: names[at]! }) });
    }
    case "fork": {
      const { from, as, at } = act;
      return engine.fork(thread, {
        ...(from === undefined ? {} : { from }),
        ...(as === undefined ? {} : { as }),
        ...(at === undefined ? {} : { at: names[at]! }),
      });
    }
    case "update": {
      const { replace, as } = act;
      const values = Object.fromEntries(
        Object.entries(act.values).map(([name, value]) => [nameIn(version, name), value]),
      );
      return engine.update(thread, values, { replace, ...(as === undefined ? {} : { as: names[as]! }) });
    }
    case "label":
      return engine.label(thread, act.label, { checkpoint: act.checkpoint });
  }
}

/** The act in one line. */
export function describeAct({ act, thread, refusal, drift, version }: Plan): string {
  const { kind, ...rest } = act;
  const changed = drift === undefined ? "" : ` under another table ${JSON.stringify(drift)}`;
  const names = version === undefined ? "" : ` with ${version} names`;
  return `${kind} on ${thread} ${JSON.stringify(rest)}${changed}${names}${refusal === undefined ? "" : `, to be refused with ${refusal}`}`;
}
