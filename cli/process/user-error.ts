import { describeError } from "../../runtime/event/run-events.ts";

/**
 * Part of the file name of the bundle with the user's code. The stack of an error shows with it, or by way of source maps with the
 * name of a source file, whether user code threw the error.
 */
export const USER_BUNDLE_MARK = "ngraph-user-code";

/** Paths of the source files in the bundle; empty before user code is loaded. */
const userSources = new Set<string>();

export function rememberUserSources(files: Iterable<string>): void {
  for (const file of files) userSources.add(file);
}

/** The source files of all modules that have been loaded: also of those that no graph file names. */
export function userSourceFiles(): Iterable<string> {
  return userSources;
}

/** Removes the secrets of the current run from a text; there are none before a run. */
let redact = (text: string): string => text;

/** Sets the secrets that errors of user code outside of a node call may contain. */
export function redactUserErrors(redactor: (text: string) => string): void {
  redact = redactor;
}

/** The message of an error, or a thrown value as text, without secrets. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? describeError(error, redact) : describeThrown(error);
}

/** An error with its place, `ReferenceError: x is not defined (nodes.ts:12:5)`; `undefined` if no stack frame is user code. */
export function describeUserError(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const place = userPlace(error);
  return place === undefined ? undefined : `${headline(error)} (${place})`;
}

/** Describes a thrown value that is not an `Error`. Only user code throws such values. */
export function describeThrown(value: unknown): string {
  try {
    return `${redact(String(value))} was thrown, which is not an Error`;
  } catch {
    return "a value was thrown that cannot be converted to text";
  }
}

/** The innermost frame of user code in an error's stack, `file:line:column`. */
export function userPlace(error: Error): string | undefined {
  for (const line of stackOf(error).split("\n")) {
    const match = /(?:\(|at )(?:file:\/\/)?([^()]+):(\d+):(\d+)\)?$/.exec(line.trim());
    const file = match?.[1];
    if (file === undefined) continue;
    const isUser = file.includes(USER_BUNDLE_MARK) || [...userSources].some((source) => samePath(file, source));
    if (isUser) return `${shortPath(file)}:${match?.[2]}:${match?.[3]}`;
  }
  return undefined;
}

/**
 * Whether no frame of the stack is in a file of this program or of the user: a worker or an event emitter that user code has
 * started failed.
 */
export function isThrownElsewhere(error: Error): boolean {
  const frames = stackOf(error).match(/^\s+at .*$/gm) ?? [];
  return frames.length > 0 && frames.every((frame) => /node:|\[worker eval\]|\[eval\]|<anonymous>|native/.test(frame));
}

/** The stack as text; user code may have replaced it with any value or a throwing getter. */
function stackOf(error: Error): string {
  try {
    return `${error.stack ?? ""}`;
  } catch {
    return "";
  }
}

function headline(error: Error): string {
  const message = describeError(error, redact);
  return error.name === "Error" || message === error.name ? message : `${error.name}: ${message}`;
}

function samePath(file: string, source: string): boolean {
  return file === source || decodeURI(file) === source;
}

/** A path below the working directory is made relative to it. */
function shortPath(file: string): string {
  const here = `${process.cwd()}/`;
  return file.startsWith(here) ? file.slice(here.length) : file;
}
