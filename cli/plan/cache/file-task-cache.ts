import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { createReadStream, lstatSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Json } from "../../../runtime/value/json.ts";
import type { TaskCache, TaskCacheEntry, TaskCacheRequest } from "../../../runtime/plan/task-cache.ts";
import { makeDirectory } from "../../output/make-directory.ts";
import { writeAtomically } from "../../output/write-atomically.ts";
import { reasonOf } from "../../sources/source-files.ts";
import { hashFiles } from "../hash-files.ts";
import { describeFiles, packResult, readHeader, type ResultHeader } from "./result-archive.ts";
import { isOutput, refuseForeignFiles, restoreFiles } from "./restore-outputs.ts";
import type { SharedCache } from "./shared-cache.ts";
import {
  changedWhileItRan,
  changesBetween,
  inputsOf,
  keyOf,
  sha256,
  ToolFailure,
  ToolVersions,
  type TaskInputs,
} from "./task-inputs.ts";

/** Results of a task that are kept. */
const MOST_RESULTS = 20;

/** What the cache knows of a task. */
interface TaskHistory {
  readonly version: 2;
  /** Keys of its results, the latest first. */
  readonly keys: readonly string[];
  /** What the latest result depends on: to explain why the task runs. */
  readonly inputs: TaskInputs;
  /** The outputs that this task has written, or the cache for it: a restore deletes no other file. */
  readonly outputs: readonly string[];
}

export interface FileTaskCacheOptions {
  readonly root: string;
  /** Every task runs, and its new result is stored. */
  readonly isForced: boolean;
  readonly shared?: SharedCache | undefined;
  /** Signs the archives of a shared cache. */
  readonly signatureKey?: string | undefined;
  /** Replaces the values of secrets: a result that contains one is not stored. */
  readonly redact: (text: string) => string;
  /** Reports why a result was not stored or not used. The run continues. */
  readonly onRemark: (text: string) => void;
}

export interface FileTaskCache extends TaskCache {
  /** Waits until all results are stored in the shared cache. */
  close(): Promise<void>;
}

/**
 * Stores the results of tasks below a directory, several for each task, by a hash of what they depend on. The files that a task
 * declares as outputs are part of its result. No fault of the cache fails a run: the task runs instead.
 */
export function createFileTaskCache(directory: string, options: FileTaskCacheOptions): FileTaskCache {
  return new Cache(directory, options);
}

class Cache implements FileTaskCache {
  readonly #directory: string;
  readonly #options: FileTaskCacheOptions;
  readonly #versions: ToolVersions;
  /** By request: what the task depended on before it ran. */
  readonly #before = new WeakMap<TaskCacheRequest, TaskInputs>();
  /** By request: the files that matched its outputs before it ran, with marks that change with each write. */
  readonly #there = new WeakMap<TaskCacheRequest, ReadonlyMap<string, string>>();
  #shared: SharedCache | undefined;
  #uploads: Promise<void> = Promise.resolve();

  constructor(directory: string, options: FileTaskCacheOptions) {
    this.#directory = directory;
    this.#options = options;
    this.#shared = options.shared;
    this.#versions = new ToolVersions(options.root);
  }

  async look(request: TaskCacheRequest): Promise<TaskCacheEntry> {
    const inputs = this.#inputsOf(request);
    if (inputs === undefined) return { changed: ["a tool that has failed"] };
    this.#before.set(request, inputs);
    const history = this.#historyOf(request);
    this.#there.set(request, marksOf(this.#options.root, request.cache.outputs ?? []));
    if (this.#options.isForced) return { changed: ["--no-cache"] };
    const key = keyOf(request, inputs);
    try {
      const found = await this.#find(request, key);
      if (found !== undefined) {
        await this.#restore(request, found, history?.outputs ?? []);
        this.#remember(request, key, inputs, this.#ownOf(request, found.files, history, true), history);
        return { result: found.result, changed: [] };
      }
    } catch (error) {
      this.#drop(key);
      this.#options.onRemark(`${request.task}: the stored result cannot be used: ${reasonOf(error)}`);
      return { changed: ["the stored result"] };
    }
    if (history === undefined) return { changed: ["first run"] };
    const changed = changesBetween(history.inputs, inputs);
    return { changed: changed.length > 0 ? changed : ["its result is not stored any more"] };
  }

  async keep(request: TaskCacheRequest, result: Json): Promise<void> {
    const before = this.#before.get(request);
    const inputs = before === undefined ? undefined : this.#inputsOf(request);
    if (before === undefined || inputs === undefined) return;
    try {
      const why = await this.#store(request, result, before, inputs);
      if (why !== undefined) this.#options.onRemark(`the result of ${request.task} is not stored: ${why}`);
    } catch (error) {
      this.#options.onRemark(`the result of ${request.task} is not stored: ${reasonOf(error)}`);
    }
  }

  fingerprint(paths: readonly string[], value: Json): string {
    return sha256(JSON.stringify([Object.entries(hashFiles(this.#options.root, paths)), value]));
  }

  close(): Promise<void> {
    return this.#uploads;
  }

  /** Returns why the result cannot be stored. */
  async #store(
    request: TaskCacheRequest,
    result: Json,
    before: TaskInputs,
    inputs: TaskInputs,
  ): Promise<string | undefined> {
    const { root, redact } = this.#options;
    const changed = changedWhileItRan(request, before, inputs);
    if (changed.length > 0) return `${changed.slice(0, 3).join(", ")} changed while it ran`;
    const text = JSON.stringify(result);
    if (redact(text) !== text) return "it contains a secret";
    const outputs = request.cache.outputs ?? [];
    const files = await describeFiles(root, Object.keys(hashFiles(root, outputs)));
    if (outputs.length > 0 && files.length === 0) return `no file matches its outputs ${outputs.join(", ")}`;
    refuseForeignFiles(files, outputs);
    const key = keyOf(request, inputs);
    const header: Omit<ResultHeader, "format"> = { key, result, files };
    const archive = this.#archiveOf(key);
    await this.#whole(archive, (temporary) => packResult(temporary, root, header));
    const history = this.#historyOf(request);
    this.#remember(request, key, inputs, this.#ownOf(request, files, history), history);
    this.#upload(key, archive);
    return undefined;
  }

  /**
   * The files that the task has written, or a restore of its result: files of other tasks and of people may match its outputs, too.
   * A restore also writes files that were there, so only the others count.
   */
  #ownOf(
    request: TaskCacheRequest,
    files: ResultHeader["files"],
    history: TaskHistory | undefined,
    isRestored = false,
  ): readonly string[] {
    const { root } = this.#options;
    const there = this.#there.get(request);
    const now = isRestored ? there : marksOf(root, request.cache.outputs ?? []);
    const earlier = new Set(history?.outputs);
    const isOwn = (path: string): boolean => there?.has(path) !== true || there.get(path) !== now?.get(path);
    return files.map(({ path }) => path).filter((path) => earlier.has(path) || isOwn(path));
  }

  /** The result of a key, of this tree or of the shared cache. Its paths are safe. */
  async #find(request: TaskCacheRequest, key: string): Promise<ResultHeader | undefined> {
    const own = this.#archiveOf(key);
    let header: ResultHeader | undefined;
    try {
      header = await readHeader(own);
    } catch (error) {
      if ((error as { code?: string }).code !== "ENOENT") throw error;
      if (!(await this.#download(key, own))) return undefined;
      header = await readHeader(own);
    }
    if (header.key !== key) throw new Error("it is the result of something else");
    refuseForeignFiles(header.files, request.cache.outputs ?? []);
    return header;
  }

  async #restore(request: TaskCacheRequest, { key, files }: ResultHeader, known: readonly string[]): Promise<void> {
    const outputs = request.cache.outputs ?? [];
    if (outputs.length === 0) return;
    const { root } = this.#options;
    const paths = Object.keys(hashFiles(root, outputs));
    const there = await describeFiles(root, paths).catch(() => []);
    const now = new Map(there.map((file) => [file.path, JSON.stringify(contentOf(file))]));
    const wanted = new Set(files.map(({ path }) => path));
    const removable = known.filter((path) => isOutput(path, outputs));
    const isThere = files.every((file) => now.get(file.path) === JSON.stringify(contentOf(file)));
    if (isThere && !removable.some((path) => now.has(path) && !wanted.has(path))) return;
    await restoreFiles(this.#archiveOf(key), files, { root, directory: this.#directory, known: removable });
  }

  async #download(key: string, target: string): Promise<boolean> {
    const shared = this.#shared;
    if (shared === undefined) return false;
    let problem: string | undefined;
    const isFound = await this.#whole(target, async (temporary) => {
      try {
        const found = await shared.get(key, temporary);
        if (found === undefined) return false;
        const { signatureKey } = this.#options;
        if (signatureKey === undefined || (await isSigned(signatureKey, key, temporary, found.tag))) return true;
        this.#options.onRemark(
          `the shared cache ${shared.name}: the result ${key.slice(0, 12)} has no valid signature`,
        );
      } catch (error) {
        problem = reasonOf(error);
      }
      return false;
    });
    if (problem !== undefined) this.#giveUp(shared, problem);
    return isFound;
  }

  #upload(key: string, archive: string): void {
    this.#uploads = this.#uploads.then(async () => {
      const shared = this.#shared;
      if (shared === undefined) return;
      const { signatureKey } = this.#options;
      try {
        await shared.put(
          key,
          archive,
          signatureKey === undefined ? undefined : await signatureOf(signatureKey, key, archive),
        );
      } catch (error) {
        this.#giveUp(shared, reasonOf(error));
      }
    });
  }

  /** A server that has failed once is not asked again: each request could take its whole time. */
  #giveUp(shared: SharedCache, why: string): void {
    if (this.#shared === undefined) return;
    this.#shared = undefined;
    this.#options.onRemark(`the shared cache ${shared.name} is not used any more: ${why}`);
  }

  /** Writes a file that appears as a whole. `false` of `fill`: it does not appear. */
  async #whole(target: string, fill: (temporary: string) => Promise<boolean | void>): Promise<boolean> {
    const temporary = `${target}.${process.pid}.tmp`;
    try {
      makeDirectory(join(this.#directory, "results"));
      if ((await fill(temporary)) === false) return false;
      renameSync(temporary, target);
      return true;
    } finally {
      rmSync(temporary, { force: true });
    }
  }

  #remember(
    request: TaskCacheRequest,
    key: string,
    inputs: TaskInputs,
    outputs: readonly string[],
    before: TaskHistory | undefined,
  ): void {
    const keys = [key, ...(before?.keys ?? []).filter((known) => known !== key)];
    const history: TaskHistory = {
      version: 2,
      keys: keys.slice(0, MOST_RESULTS),
      inputs,
      outputs,
    };
    writeAtomically(this.#placeOf(request), JSON.stringify(history));
    for (const old of keys.slice(MOST_RESULTS)) this.#drop(old);
  }

  #historyOf(request: TaskCacheRequest): TaskHistory | undefined {
    try {
      const value = JSON.parse(readFileSync(this.#placeOf(request), "utf8")) as TaskHistory;
      const isWhole = value.version === 2 && isTexts(value.keys) && isTexts(value.outputs) && isInputs(value.inputs);
      return isWhole ? value : undefined;
    } catch {
      return undefined;
    }
  }

  #inputsOf(request: TaskCacheRequest): TaskInputs | undefined {
    try {
      return inputsOf(request, this.#options.root, this.#versions);
    } catch (error) {
      if (!(error instanceof ToolFailure)) throw error;
      this.#options.onRemark(`${request.task} is not cached: ${error.message}`);
      return undefined;
    }
  }

  #placeOf({ plan, task }: TaskCacheRequest): string {
    return join(this.#directory, `${sha256(JSON.stringify([plan, task]))}.json`);
  }

  #archiveOf(key: string): string {
    return join(this.#directory, "results", `${key}.gz`);
  }

  #drop(key: string): void {
    if (!/^[0-9a-f]{64}$/.test(key)) return;
    try {
      rmSync(this.#archiveOf(key), { force: true });
    } catch {
      // What cannot be deleted, or is a folder, is refused again when the key is looked up.
    }
  }
}

/** The files that match, each with its inode, size and time of change. */
function marksOf(root: string, outputs: readonly string[]): ReadonlyMap<string, string> {
  const marks = new Map<string, string>();
  if (outputs.length === 0) return marks;
  for (const path of Object.keys(hashFiles(root, outputs))) {
    const stat = lstatSync(join(root, path), { bigint: true, throwIfNoEntry: false });
    if (stat !== undefined) marks.set(path, `${stat.ino}:${stat.size}:${stat.ctimeNs}`);
  }
  return marks;
}

function contentOf(file: ResultHeader["files"][number]): Json {
  return "link" in file ? ["link", file.link] : [file.size, file.sha256, file.isExecutable];
}

async function signatureOf(secret: string, key: string, archive: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(archive) as AsyncIterable<Uint8Array>) hash.update(chunk);
  return createHmac("sha256", secret).update(key).update(hash.digest()).digest("base64");
}

async function isSigned(secret: string, key: string, archive: string, tag: string | undefined): Promise<boolean> {
  const expected = Buffer.from(await signatureOf(secret, key, archive));
  const given = Buffer.from(tag ?? "");
  return expected.length === given.length && timingSafeEqual(expected, given);
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

function isInputs(value: TaskInputs | undefined): boolean {
  const records = [value?.files, value?.upstream, value?.variables, value?.tools];
  return typeof value?.call === "string" && records.every((record) => typeof record === "object" && record !== null);
}
