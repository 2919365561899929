import { createHash, createHmac, randomUUID, timingSafeEqual } from "node:crypto";
import { createReadStream, lstatSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Json } from "../../../runtime/value/json.ts";
import type { TaskCache, TaskCacheEntry, TaskCacheRequest } from "../../../runtime/plan/task-cache.ts";
import { makeDirectory } from "../../output/make-directory.ts";
import { writeAtomically } from "../../output/write-atomically.ts";
import { reasonOf } from "../../sources/source-files.ts";
import { hashFiles, listFiles } from "../hash-files.ts";
import { BadArchive, describeFiles, packResult, readHeader, type ResultHeader } from "./result-archive.ts";
import { isOutput, refuseForeignFiles, restoreFiles, STAGING } from "./restore-outputs.ts";
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
  /** What the commands of a task have printed in this run, without secrets. It is stored with the result. */
  readonly outputOf?: (node: string) => string;
  /** Called with the output that is stored with a result when the result is used. */
  readonly onReplay?: (node: string, output: string) => void;
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
  /** Whether results are stored in the shared cache. */
  #isShared = true;
  #isClean = false;
  /** By place of the history of a task: the outputs that it has written. */
  #owners: Map<string, readonly string[]> | undefined;
  #uploads: Promise<void> = Promise.resolve();

  constructor(directory: string, options: FileTaskCacheOptions) {
    this.#directory = directory;
    this.#options = options;
    this.#shared = options.shared;
    this.#versions = new ToolVersions(options.root);
  }

  async look(request: TaskCacheRequest): Promise<TaskCacheEntry> {
    this.#clean();
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
        this.#rememberHit(request, key, inputs, this.#ownOf(request, found.files, history, true), history);
        if (found.output !== undefined && found.output !== "")
          this.#options.onReplay?.(request.node ?? request.task, found.output);
        return { result: found.result, changed: [] };
      }
    } catch (error) {
      if (error instanceof BadArchive) this.#drop(key);
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
    const files = await describeFiles(root, this.#withoutOthers(request, listFiles(root, outputs)));
    if (outputs.length > 0 && files.length === 0) return `no file matches its outputs ${outputs.join(", ")}`;
    refuseForeignFiles(files, outputs);
    const key = keyOf(request, inputs);
    const output = this.#options.outputOf?.(request.node ?? request.task) ?? "";
    const header: Omit<ResultHeader, "format"> = { key, result, files, ...(output === "" ? {} : { output }) };
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
    if (header.key !== key) throw new BadArchive("it is the result of something else");
    // A task that has made none of its outputs is not stored.
    if (header.files.length === 0 && (request.cache.outputs ?? []).length > 0)
      throw new BadArchive("it has none of the outputs of the task");
    refuseForeignFiles(header.files, request.cache.outputs ?? []);
    return header;
  }

  async #restore(request: TaskCacheRequest, { key, files }: ResultHeader, known: readonly string[]): Promise<void> {
    const outputs = request.cache.outputs ?? [];
    if (outputs.length === 0) return;
    const { root } = this.#options;
    const paths = listFiles(root, outputs);
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
      if (shared === undefined || !this.#isShared) return;
      const { signatureKey } = this.#options;
      try {
        await shared.put(
          key,
          archive,
          signatureKey === undefined ? undefined : await signatureOf(signatureKey, key, archive),
        );
      } catch (error) {
        if (!READ_ONLY.has((error as { code?: string }).code ?? "")) return this.#giveUp(shared, reasonOf(error));
        this.#isShared = false;
        this.#options.onRemark(`the shared cache ${shared.name} is only read: ${reasonOf(error)}`);
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
    // Two tasks with the same key may be stored at once.
    const temporary = `${target}.${randomUUID()}.tmp`;
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
    const place = this.#placeOf(request);
    this.#owners?.set(place, outputs);
    writeAtomically(place, JSON.stringify(history));
    for (const old of keys.slice(MOST_RESULTS)) this.#drop(old);
  }

  /** A result is used also if the folder of the cache can only be read. */
  #rememberHit(
    request: TaskCacheRequest,
    key: string,
    inputs: TaskInputs,
    outputs: readonly string[],
    before: TaskHistory | undefined,
  ): void {
    try {
      this.#remember(request, key, inputs, outputs, before);
    } catch {
      // Without a history, the next run explains less.
    }
  }

  /** Removes what a killed run has left. The caller has claimed the tree, so no other run writes there. */
  #clean(): void {
    if (this.#isClean) return;
    this.#isClean = true;
    for (const [folder, isLeft] of [
      [this.#directory, (name: string) => name.startsWith(STAGING) || name.endsWith(".tmp")],
      [join(this.#directory, "results"), (name: string) => name.endsWith(".tmp")],
    ] as const) {
      for (const name of namesIn(folder).filter(isLeft)) {
        try {
          rmSync(join(folder, name), { recursive: true, force: true });
        } catch {
          // It only takes space.
        }
      }
    }
  }

  /**
   * The files that belong to the result of a task. A file that another task has written, and this one has left as it was, belongs to the
   * other: as a part of this result, it would come back with an old content.
   */
  #withoutOthers(request: TaskCacheRequest, paths: readonly string[]): readonly string[] {
    const own = this.#placeOf(request);
    const earlier = new Set(this.#historyOf(request)?.outputs);
    const others = new Set([...this.#ownersOfAll()].flatMap(([place, outputs]) => (place === own ? [] : outputs)));
    if (others.size === 0) return paths;
    const there = this.#there.get(request);
    const now = marksOf(this.#options.root, request.cache.outputs ?? []);
    const isWritten = (path: string): boolean => there?.get(path) !== now.get(path);
    const shared = paths.filter((path) => others.has(path));
    const both = shared.filter((path) => isWritten(path) && !earlier.has(path));
    if (both.length > 0) {
      const rest = both.length > 3 ? ` and ${both.length - 3} more` : "";
      this.#options.onRemark(
        `${request.task} has written outputs of another cached task: ${both.slice(0, 3).join(", ")}${rest}`,
      );
    }
    const foreign = new Set(shared.filter((path) => !isWritten(path) && !earlier.has(path)));
    return paths.filter((path) => !foreign.has(path));
  }

  #ownersOfAll(): Map<string, readonly string[]> {
    if (this.#owners !== undefined) return this.#owners;
    this.#owners = new Map();
    for (const name of namesIn(this.#directory)) {
      const place = join(this.#directory, name);
      if (name.endsWith(".json")) this.#owners.set(place, readHistory(place)?.outputs ?? []);
    }
    return this.#owners;
  }

  #historyOf(request: TaskCacheRequest): TaskHistory | undefined {
    return readHistory(this.#placeOf(request));
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

/** Errors of a place that can only be read. */
const READ_ONLY: ReadonlySet<string> = new Set(["EROFS", "EACCES", "EPERM"]);

function readHistory(place: string): TaskHistory | undefined {
  try {
    const value = JSON.parse(readFileSync(place, "utf8")) as TaskHistory;
    const isWhole = value.version === 2 && isTexts(value.keys) && isTexts(value.outputs) && isInputs(value.inputs);
    return isWhole ? value : undefined;
  } catch {
    return undefined;
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** The files that match, each with its inode, size and time of change. */
function marksOf(root: string, outputs: readonly string[]): ReadonlyMap<string, string> {
  const marks = new Map<string, string>();
  if (outputs.length === 0) return marks;
  for (const path of listFiles(root, outputs)) {
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
