import type { Durability, EngineOptions, OnFailure, StreamOptions } from "../interface/engine-options.ts";
import { RunError } from "../interface/errors.ts";
import type { StreamViews } from "../interface/events.ts";
import type { Store } from "../interface/store.ts";
import { isPlainRecord } from "../value/plain-object.ts";
import { shown } from "../value/shown.ts";

/** Refuses options that are not a record, such as a `Map`. @throws RunError NG_BAD_INPUT */
export function checkRecord(whose: string, options: unknown): void {
  if (isPlainRecord(options)) return;
  throw new RunError("NG_BAD_INPUT", `the options of ${whose} must be a record`);
}

/**
 * Checks the options of an engine that TypeScript cannot check in a JavaScript program. @throws RunError NG_BAD_INPUT
 */
export function checkEngineOptions(options: EngineOptions): void {
  const { store, leaseMs, storeTimeoutMs, durability, onFailure, onEvent, onWake, execute } = options;
  checkStore(store);
  checkChoice("durability", durability, DURABILITIES);
  checkChoice("onFailure", onFailure, ON_FAILURES);
  checkFunction("onEvent", onEvent);
  checkFunction("onWake", onWake);
  checkFunction("execute", execute);
  checkTtl(options.ttl);
  checkMemory(options.memory);
  checkDuration("leaseMs", leaseMs);
  checkDuration("storeTimeoutMs", storeTimeoutMs);
}

function checkMemory(memory: EngineOptions["memory"]): void {
  if (memory === undefined) return;
  checkRecord("the memory", memory);
  checkFunction("memory.vectors", memory.vectors);
  checkTtl(memory.ttl);
}

export function checkTtl(ttl: number | null | undefined): void {
  if (ttl !== null) checkDuration("ttl", ttl);
}

/** @throws RunError NG_BAD_INPUT */
export function checkView(options: StreamOptions<keyof StreamViews<unknown>>): void {
  checkRecord("a stream", options);
  checkChoice("view", options.view, VIEWS);
  const { views } = options as { readonly views?: unknown };
  if (views === undefined) return;
  if (options.view !== undefined) throw new RunError("NG_BAD_INPUT", "a stream has either `view` or `views`");
  if (!Array.isArray(views) || views.length === 0) throw new RunError("NG_BAD_INPUT", "`views` is a list of views");
  for (const view of views) checkChoice("views", view as string, VIEWS);
}

/** Refuses a store that lacks a required method. */
function checkStore(store: Store | undefined): void {
  if (store === undefined) return;
  const missing = CORE_OF_STORES.filter((method) => !isObject(store) || typeof store[method] !== "function");
  if (missing.length === 0) return;
  const lacks = missing.map((method) => `\`${method}\``).join(", ");
  const message = `\`store\` is not a store: it lacks ${lacks}; omit it to run without a store`;
  throw new RunError("NG_BAD_INPUT", message);
}

export function checkChoice(name: string, value: string | undefined, known: readonly string[]): void {
  if (value === undefined || known.includes(value)) return;
  const choices = known.map((choice) => `\`${choice}\``).join(", ");
  throw new RunError(
    "NG_BAD_INPUT",
    `\`${name}\` is one of ${choices}, not ${typeof value === "string" ? value : shown(value)}`,
  );
}

function checkDuration(name: string, value: number | undefined): void {
  if (value === undefined || (typeof value === "number" && Number.isFinite(value) && value > 0)) return;
  throw new RunError("NG_BAD_INPUT", `\`${name}\` is a number of milliseconds above 0, not ${shown(value)}`);
}

export function checkFunction(name: string, value: unknown): void {
  if (value === undefined || typeof value === "function") return;
  throw new RunError("NG_BAD_INPUT", `\`${name}\` is a function`);
}

export function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

const CORE_OF_STORES = [
  "claim",
  "renew",
  "release",
  "save",
  "loadLatest",
  "loadById",
  "list",
  "deleteThread",
] as const satisfies readonly (keyof Store)[];
export const DURABILITIES: readonly Durability[] = ["sync", "async", "exit"];
export const ON_FAILURES: readonly OnFailure[] = ["finish", "abort"];
const VIEWS: readonly (keyof StreamViews<unknown>)[] = ["events", "updates", "results", "values", "custom", "tokens"];
