import { NodeError } from "../interface/errors.ts";
import { ChildStopped } from "./child-stopped.ts";

/** The fields of `error` that come from a thrown value, except its message. */
export interface ThrownError {
  /** The class of the error. */
  readonly name: string;
  /** Its own `status`, or else its `code`, if that is a string or an integer. */
  readonly status: string | number | null;
}

/**
 * Reads the class and the status of a thrown value, redacted. Reading the value may run user code, which may throw. The
 * failure of a called graph has those of the error that was thrown inside.
 */
export function readThrown(thrown: unknown, redact: (text: string) => string): ThrownError {
  const origin = originOf(thrown);
  const shown = (text: string): string => redact(text).slice(0, MAX_LENGTH);
  const status = attempt(() => statusOf(origin), null);
  return {
    name: shown(attempt(() => nameOf(origin), "Error")),
    status: typeof status === "string" ? shown(status) : status,
  };
}

function originOf(thrown: unknown): unknown {
  let origin = thrown;
  for (let depth = 0; depth < MAX_DEPTH; depth++) {
    if (origin instanceof ChildStopped) origin = origin.error;
    else if (origin instanceof NodeError && origin.cause !== undefined) origin = origin.cause;
    else break;
  }
  return origin;
}

function nameOf(thrown: unknown): string {
  if (thrown === null || (typeof thrown !== "object" && typeof thrown !== "function")) return typeOf(thrown);
  const { name, constructor } = thrown as { readonly name?: unknown; readonly constructor?: unknown };
  const known = typeof name === "string" && name !== "" ? name : undefined;
  if (typeof constructor !== "function" || constructor.name === "") return known ?? "Error";
  const prototype = constructor.prototype as unknown;
  // A subclass of `Error` without its own `name` inherits `"Error"`. The name of its class is more specific.
  const isOwn = Object.hasOwn(thrown, "name") || (prototype instanceof Object && Object.hasOwn(prototype, "name"));
  return isOwn && known !== undefined ? known : constructor.name;
}

function typeOf(value: unknown): string {
  return value === null ? "null" : typeof value;
}

function statusOf(thrown: unknown): string | number | null {
  if (typeof thrown !== "object" || thrown === null) return null;
  const { status, code } = thrown as { readonly status?: unknown; readonly code?: unknown };
  return readStatus(status) ?? readStatus(code);
}

function readStatus(value: unknown): string | number | null {
  if (typeof value === "string") return value;
  return typeof value === "number" && Number.isSafeInteger(value) ? value : null;
}

function attempt<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch {
    return otherwise;
  }
}

const MAX_LENGTH = 200;
/** Of graphs that call graphs. */
const MAX_DEPTH = 100;
