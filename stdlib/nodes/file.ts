import type { BuiltinContext, BuiltinNode } from "../../runtime/interface/context.ts";
import type { Json } from "../../runtime/value/json.ts";
import { isInside, nodeFiles, type NodeFiles } from "../files/node-files.ts";
import { globFiles } from "../files/glob-files.ts";
import { resolvePath } from "../files/resolve-path.ts";
import { NodeFailure } from "../node-failure.ts";

/** Maximum size of a text without the option `maxBytes`. A larger one fails the node, because checkpoints hold texts. */
export const MAX_FILE_BYTES = 10 * 1024 * 1024;

export interface FileOptions {
  /** The directory that the node reads and writes; all other paths are refused. Default: the working directory. */
  readonly root?: string;
}

/**
 * `file(read: path)` returns the text of a file, `file(write: path, text: text)` replaces a file and returns its path, and
 * `file(glob: pattern)` returns the sorted paths of files. Paths are relative to the root. A path or a symbolic link that leads
 * out of the root is refused.
 *
 * A write is atomic: the text is written to a temporary file in the same directory, which then takes the place of the file. Missing
 * directories are created. A value that is not a string is written as JSON.
 */
export const file: BuiltinNode = createFile();

/**
 * Makes the node `file` for a directory.
 * @example createEngine(table, { builtins: { ...builtinNodes, file: createFile({ root: "/srv/notes" }) } });
 */
export function createFile({ root }: FileOptions = {}): BuiltinNode {
  return async ({ read, write, glob, text = null, maxBytes = MAX_FILE_BYTES }, context) => {
    const node = nodeFiles();
    const directory = await rootOf(root, node);
    const limit = Number(maxBytes);
    if (!Number.isSafeInteger(limit) || limit < 0) {
      throw refusal(`\`maxBytes\` of \`file\` is a number of bytes from 0, not ${limit}`);
    }
    context.signal.throwIfAborted();
    if (typeof glob === "string") return globFiles(glob, directory, node, context.signal);
    if (typeof write === "string") return writeText(write, text, limit, directory, node, context);
    return readText(String(read), limit, directory, node, context);
  };
}

async function rootOf(root: string | undefined, node: NodeFiles): Promise<string> {
  try {
    return await node.fs.realpath(root ?? process.cwd());
  } catch (error) {
    throw new NodeFailure(`the root of \`file\` cannot be read: ${reasonOf(error)}`, {
      retryable: false,
      cause: error,
    });
  }
}

async function readText(
  path: string,
  limit: number,
  root: string,
  node: NodeFiles,
  { signal, redact }: BuiltinContext,
): Promise<string> {
  const shown = redact(JSON.stringify(path));
  const found = await resolvePath(path, root, node, redact);
  if (!found.exists) throw refusal(`the file ${shown} does not exist`);
  const { constants } = node;
  // Without O_NONBLOCK, opening a pipe waits for a writer.
  const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
  const handle = await node.fs.open(found.path, flags).catch((error: unknown) => {
    throw failed(`cannot read the file ${shown}`, error);
  });
  try {
    const stat = await handle.stat();
    if (!stat.isFile()) throw refusal(`${shown} is not a file`);
    const bytes = new Uint8Array(Math.min(stat.size, limit) + 1);
    let length = 0;
    // A file can grow between `stat` and the end of the read.
    while (length < bytes.length) {
      signal.throwIfAborted();
      const { bytesRead } = await handle.read(bytes, length, bytes.length - length, length);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    if (length > limit) throw tooLarge(`the file ${shown}`, limit);
    if (length > stat.size) throw new NodeFailure(`the file ${shown} grew while it was read`);
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(0, length));
  } catch (error) {
    if (error instanceof NodeFailure || signal.aborted) throw error;
    if (error instanceof TypeError) throw refusal(`the file ${shown} is not UTF-8 text`);
    throw failed(`cannot read the file ${shown}`, error);
  } finally {
    await handle.close();
  }
}

async function writeText(
  path: string,
  value: Json,
  limit: number,
  root: string,
  node: NodeFiles,
  { signal, redact }: BuiltinContext,
): Promise<string> {
  const shown = redact(JSON.stringify(path));
  const bytes = new TextEncoder().encode(typeof value === "string" ? value : `${JSON.stringify(value, null, 2)}\n`);
  if (bytes.byteLength > limit) throw tooLarge(`the text for ${shown}`, limit);
  const { fs, path: paths } = node;
  const target = await resolvePath(path, root, node, redact);
  if (target.path === root) throw refusal(`${shown} is the root directory, not a file`);
  const folder = paths.dirname(target.path);
  try {
    await fs.mkdir(folder, { recursive: true });
    // Another process may have replaced a directory by a link since the path was resolved.
    if (!isInside(await fs.realpath(folder), root, node)) throw refusal(`${shown} leads out of the root`);
    const former = await fs.stat(target.path).catch(() => undefined);
    if (former?.isFile() === false) throw refusal(`${shown} is not a file`);
    const temporary = paths.join(folder, `.${crypto.randomUUID()}.tmp`);
    try {
      const handle = await fs.open(temporary, "wx", former === undefined ? 0o666 : former.mode & 0o777);
      try {
        await handle.writeFile(bytes);
        // The umask restricts the mode of a new file only.
        if (former !== undefined) await handle.chmod(former.mode & 0o777);
        await handle.sync();
      } finally {
        await handle.close();
      }
      signal.throwIfAborted();
      await fs.rename(temporary, target.path);
    } catch (error) {
      await fs.rm(temporary, { force: true });
      throw error;
    }
  } catch (error) {
    if (error instanceof NodeFailure || signal.aborted) throw error;
    throw failed(`cannot write the file ${shown}`, error);
  }
  return paths.relative(root, target.path).split(paths.sep).join("/");
}

function tooLarge(what: string, limit: number): NodeFailure {
  return refusal(`${what} is larger than ${limit} bytes: a larger limit is \`maxBytes: …\``);
}

/** The codes of errors for which another attempt can succeed. */
const TRANSIENT: ReadonlySet<string> = new Set(["EAGAIN", "EBUSY", "EIO", "EMFILE", "ENFILE", "ENOSPC", "EDQUOT"]);

function failed(what: string, error: unknown): NodeFailure {
  const code = error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
  return new NodeFailure(`${what}: ${reasonOf(error)}`, {
    retryable: TRANSIENT.has(code),
    cause: error,
    ...(code === "" ? {} : { details: { code } }),
  });
}

/** The reason without the absolute path that Node appends. */
function reasonOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replace(/, \w+ '.*$/s, "");
}

function refusal(message: string): NodeFailure {
  return new NodeFailure(message, { retryable: false });
}
