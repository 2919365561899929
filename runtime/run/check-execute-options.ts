import type { ExecuteOptions } from "../interface/engine-options.ts";
import { RunError } from "../interface/errors.ts";
import { readRecord } from "../value/read-record.ts";
import { admitJson, Mismatch } from "../value/validate.ts";
import {
  checkChoice,
  checkFunction,
  checkRecord,
  checkTtl,
  DURABILITIES,
  isObject,
  ON_FAILURES,
} from "./check-options.ts";

/** Checks the options of a run or a resume. @throws RunError NG_BAD_INPUT */
export function checkExecuteOptions(options: ExecuteOptions): void {
  checkRecord("a run", options);
  const { signal, metadata, durability, onFailure, onEvent, context } = options;
  if (context !== undefined && (!isObject(context) || Array.isArray(context)))
    throw new RunError("NG_BAD_INPUT", "`context` is a record of objects for node bodies");
  checkChoice("durability", durability, DURABILITIES);
  checkChoice("onFailure", onFailure, ON_FAILURES);
  checkFunction("onEvent", onEvent);
  // Not `instanceof`: signals of other realms and of polyfills are valid.
  if (signal !== undefined && (!isObject(signal) || !("addEventListener" in signal))) {
    throw new RunError("NG_BAD_INPUT", "`signal` is an `AbortSignal`: hand over the `signal` of an `AbortController`");
  }
  checkMetadata(metadata);
  checkTtl(options.ttl);
}

/** @throws RunError NG_BAD_INPUT */
export function checkMetadata(metadata: unknown): void {
  if (metadata === undefined) return;
  const record = readRecord(metadata);
  const admitted = record instanceof Mismatch ? record : admitJson(record);
  if (!(admitted instanceof Mismatch)) return;
  throw new RunError("NG_BAD_INPUT", `\`metadata\` is a record of plain JSON: ${admitted.describe()}`);
}
