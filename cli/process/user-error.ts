import { describeError } from "../../runtime/event/run-events.ts";

/**
 * Errors of the user's own code, told apart from ours by their stack: bundled node functions carry this name in their file
 * name, and source maps lead back to the sources.
 */
export const USER_BUNDLE_MARK = "ngraph-user-code";

/** Roots of the sources in the bundle, once there is one. */
const userSources = new Set<string>();

export function rememberUserSources(files: Iterable<string>): void {
  for (const file of files) userSources.add(file);
}

/** `ReferenceError: x is not defined (nodes.ts:12:5)`; `undefined` when no frame of the stack is user code. */
export function describeUserError(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const place = userPlace(error);
  return place === undefined ? undefined : `${headline(error)} (${place})`;
}

/** What was thrown and is no error: our own code throws none. */
export function describeThrown(value: unknown): string {
  try {
    return `${typeof value === "string" ? value : String(value)} was thrown, which is no Error`;
  } catch {
    return "something was thrown that cannot be shown";
  }
}

/** The first line of user code in an error's stack, `file:line:column`. */
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

/** User code may put anything in its place. */
function stackOf(error: Error): string {
  try {
    return `${error.stack ?? ""}`;
  } catch {
    return "";
  }
}

function headline(error: Error): string {
  const message = describeError(error);
  return error.name === "Error" || message === error.name ? message : `${error.name}: ${message}`;
}

function samePath(file: string, source: string): boolean {
  return file === source || decodeURI(file) === source;
}

/** Relative to the working directory where it lies below it. */
function shortPath(file: string): string {
  const here = `${process.cwd()}/`;
  return file.startsWith(here) ? file.slice(here.length) : file;
}
