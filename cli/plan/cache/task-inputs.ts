import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { arch, platform } from "node:os";
import type { TaskCacheRequest } from "../../../runtime/plan/task-cache.ts";
import { parsePathPattern } from "../../../runtime/plan/path-pattern.ts";
import { fromEnvironment } from "../../../stdlib/from-environment.ts";
import { hashFiles, matchesPattern } from "../hash-files.ts";

/** What a result depends on, as hashes by name. */
export interface TaskInputs {
  readonly call: string;
  /** By path: the files that match `touches` and `inputs`, without the outputs. */
  readonly files: Readonly<Record<string, string>>;
  readonly upstream: Readonly<Record<string, string>>;
  readonly variables: Readonly<Record<string, string>>;
  readonly tools: Readonly<Record<string, string>>;
  /** The globs of the outputs, and the system: results of other systems are not used. */
  readonly rest: string;
}

/** How long a command that prints the version of a tool may run. */
const TOOL_TIMEOUT_MS = 30_000;

export class ToolFailure extends Error {
  override readonly name = "ToolFailure";
}

/** Hashes the outputs of commands once for each run. */
export class ToolVersions {
  readonly #known = new Map<string, string>();
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
  }

  /** @throws ToolFailure */
  hash(command: string): string {
    const known = this.#known.get(command);
    if (known !== undefined) return known;
    const { status, signal, stdout, stderr, error } = spawnSync(command, {
      cwd: this.#root,
      shell: true,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
      timeout: TOOL_TIMEOUT_MS,
      killSignal: "SIGKILL",
      windowsHide: true,
    });
    if (error !== undefined || status !== 0) {
      const why = signal === null ? `ended with exit code ${status}` : `was ended after ${TOOL_TIMEOUT_MS / 1000} s`;
      throw new ToolFailure(`\`${command}\` ${why}`);
    }
    // Some programs print their version on stderr.
    const hash = sha256(JSON.stringify([stdout, stderr]));
    this.#known.set(command, hash);
    return hash;
  }
}

/** @throws ToolFailure */
export function inputsOf(
  { call, touches, cache, upstream }: TaskCacheRequest,
  root: string,
  versions: ToolVersions,
): TaskInputs {
  const { inputs, outputs = [], variables = [], tools = [] } = cache;
  const files = hashFiles(root, [...touches.map(({ path }) => path), ...inputs]);
  const made = outputs.map(parsePathPattern);
  return {
    call: sha256(JSON.stringify(call)),
    files: byName(Object.entries(files).filter(([path]) => !made.some((pattern) => matchesPattern(pattern, path)))),
    upstream: byName(Object.entries(upstream)),
    variables: byName(variables.map((name) => [name, hashVariable(fromEnvironment(name))])),
    tools: byName(tools.map((command) => [command, versions.hash(command)])),
    rest: JSON.stringify([outputs, platform(), arch()]),
  };
}

/** The key of a result: a hash of all that it depends on. */
export function keyOf(
  { plan, task }: TaskCacheRequest,
  { call, files, upstream, variables, tools, rest }: TaskInputs,
): string {
  const parts = [files, upstream, variables, tools].map((hashes) => Object.entries(hashes));
  return sha256(JSON.stringify(["ngraph task 2", plan, task, call, ...parts, rest]));
}

/** What has changed, for people. */
export function changesBetween(before: TaskInputs, now: TaskInputs): string[] {
  return [
    ...(before.call === now.call ? [] : ["command"]),
    ...differences(before.files, now.files),
    ...differences(before.upstream, now.upstream).map((name) => `upstream ${name}`),
    ...differences(before.variables, now.variables).map((name) => `variable ${name}`),
    ...differences(before.tools, now.tools).map((command) => `tool \`${command}\``),
    ...(before.rest === now.rest ? [] : ["outputs"]),
  ];
}

/** Files that a task only reads and that have other contents than before it ran. Its result belongs to neither content. */
export function changedWhileItRan({ touches }: TaskCacheRequest, before: TaskInputs, after: TaskInputs): string[] {
  const written = touches.filter(({ mode }) => mode === "write").map(({ path }) => parsePathPattern(path));
  return differences(before.files, after.files).filter(
    (path) => !written.some((pattern) => matchesPattern(pattern, path)),
  );
}

export function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function differences(a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): string[] {
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...names].filter((name) => a[name] !== b[name]).sort();
}

/** A variable that is not set differs from an empty one. */
function hashVariable(value: string | undefined): string {
  return value === undefined ? "" : sha256(value);
}

/** Sorted, without a prototype: names come from files. */
function byName(entries: readonly (readonly [string, string])[]): Record<string, string> {
  const record = Object.create(null) as Record<string, string>;
  for (const [name, hash] of [...entries].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))) record[name] = hash;
  return record;
}
