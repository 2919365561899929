/**
 * The archive of a cached result: gzip over one line of JSON, which names the files with sizes and digests, and then the contents of the
 * files one after the other. Archives of a shared cache come from elsewhere, so nothing in them is trusted: paths and links are compared
 * with what the task declares before a byte is written, and contents with their digests before a file of the tree changes.
 */
import { createHash } from "node:crypto";
import { createReadStream, createWriteStream, lstatSync, readlinkSync } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import { isRecord } from "../../../runtime/expression/operations.ts";
import type { Json } from "../../../runtime/value/json.ts";

/** A file or a symbolic link of a result. */
export type StoredFile =
  | { readonly path: string; readonly size: number; readonly sha256: string; readonly isExecutable: boolean }
  | { readonly path: string; readonly link: string };

export interface ResultHeader {
  readonly format: typeof FORMAT;
  readonly key: string;
  readonly result: Json;
  readonly files: readonly StoredFile[];
  /** What the task has printed, without secrets. */
  readonly output?: string;
}

const FORMAT = "ngraph task result 1";
const LONGEST_HEADER = 64 * 1024 * 1024;
/** So that a small archive cannot fill the disk. */
const MOST_BYTES = 16 * 1024 ** 3;

/** The archive is damaged, or is not what it should be. */
export class BadArchive extends Error {
  override readonly name = "BadArchive";
}

/** The files of the tree, in the order of `paths`. @throws BadArchive for what is neither a file nor a link */
export async function describeFiles(root: string, paths: readonly string[]): Promise<StoredFile[]> {
  const files: StoredFile[] = [];
  for (const path of paths) {
    const stat = lstatSync(join(root, path));
    if (stat.isSymbolicLink()) files.push({ path, link: readlinkSync(join(root, path)) });
    else if (!stat.isFile()) throw new BadArchive(`${path} is neither a file nor a symbolic link`);
    else {
      const { size, sha256 } = await digestOf(join(root, path));
      files.push({ path, size, sha256, isExecutable: (stat.mode & 0o100) !== 0 });
    }
  }
  return files;
}

/** Writes an archive. @throws BadArchive if a file changes meanwhile */
export async function packResult(target: string, root: string, header: Omit<ResultHeader, "format">): Promise<void> {
  async function* content(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(`${JSON.stringify({ format: FORMAT, ...header })}\n`);
    for (const file of header.files) {
      if ("link" in file) continue;
      const hash = createHash("sha256");
      for await (const chunk of createReadStream(join(root, file.path)) as AsyncIterable<Uint8Array>) {
        hash.update(chunk);
        yield chunk;
      }
      if (hash.digest("hex") !== file.sha256) throw new BadArchive(`${file.path} has changed while it was stored`);
    }
  }
  await pipeline(Readable.from(content(), { objectMode: false }), createGzip({ level: 4 }), createWriteStream(target));
}

/** Reads the header of an archive only. @throws BadArchive */
export async function readHeader(path: string): Promise<ResultHeader> {
  const reader = new ArchiveReader(path);
  try {
    return await reader.header();
  } finally {
    await reader.close();
  }
}

/** Writes the contents of an archive to files whose names the caller chooses. @throws BadArchive */
export async function unpackFiles(path: string, place: (file: StoredFile, index: number) => string): Promise<void> {
  const reader = new ArchiveReader(path);
  try {
    const { files } = await reader.header();
    for (const [index, file] of files.entries()) {
      if (!("link" in file)) await reader.copy(file, place(file, index));
    }
    await reader.end();
  } finally {
    await reader.close();
  }
}

class ArchiveReader {
  readonly #source: ReturnType<typeof createReadStream>;
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);
  #bytes = 0;

  constructor(path: string) {
    this.#source = createReadStream(path);
    const gunzip = createGunzip();
    this.#source.on("error", (error) => gunzip.destroy(error));
    this.#chunks = (this.#source.pipe(gunzip) as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
  }

  async header(): Promise<ResultHeader> {
    const parts: Buffer[] = [];
    let length = 0;
    for (;;) {
      const chunk = await this.#next();
      if (chunk === undefined) throw new BadArchive("it has no header");
      const end = chunk.indexOf(10);
      parts.push(end === -1 ? chunk : chunk.subarray(0, end));
      length += chunk.length;
      if (end !== -1) {
        this.#rest = chunk.subarray(end + 1);
        return headerOf(Buffer.concat(parts).toString("utf8"));
      }
      if (length > LONGEST_HEADER) throw new BadArchive("its header is too long");
    }
  }

  async copy(file: Exclude<StoredFile, { readonly link: string }>, target: string): Promise<void> {
    const hash = createHash("sha256");
    const handle: FileHandle = await open(target, "wx", 0o600);
    try {
      let left = file.size;
      while (left > 0) {
        const chunk = await this.#next();
        if (chunk === undefined) throw new BadArchive(`it ends within ${file.path}`);
        const part = chunk.subarray(0, left);
        this.#rest = chunk.subarray(part.length);
        left -= part.length;
        hash.update(part);
        await handle.writeFile(part);
      }
    } finally {
      await handle.close();
    }
    if (hash.digest("hex") !== file.sha256)
      throw new BadArchive(`${file.path} does not have the content of its digest`);
  }

  async end(): Promise<void> {
    if ((await this.#next()) !== undefined) throw new BadArchive("it has more content than files");
  }

  async close(): Promise<void> {
    this.#source.destroy();
    await this.#chunks.return?.().catch(() => undefined);
  }

  async #next(): Promise<Buffer | undefined> {
    if (this.#rest.length > 0) {
      const rest = this.#rest;
      this.#rest = Buffer.alloc(0);
      return rest;
    }
    let step: IteratorResult<Buffer>;
    try {
      step = await this.#chunks.next();
    } catch (error) {
      const code = (error as { code?: string }).code;
      if (code?.startsWith("Z_") === true) throw new BadArchive("it is not a whole gzip file", { cause: error });
      throw error;
    }
    if (step.done === true) return undefined;
    this.#bytes += step.value.length;
    if (this.#bytes > MOST_BYTES) throw new BadArchive("its content is too large");
    return step.value.length === 0 ? this.#next() : step.value;
  }
}

function headerOf(text: string): ResultHeader {
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch (cause) {
    throw new BadArchive("its header is not JSON", { cause });
  }
  if (!isRecord(value) || value["format"] !== FORMAT)
    throw new BadArchive(`it is not in the format ${JSON.stringify(FORMAT)}`);
  const { key, result, files, output } = value;
  if (output !== undefined && typeof output !== "string") throw new BadArchive("its header is not complete");
  if (typeof key !== "string" || result === undefined || !Array.isArray(files) || !files.every(isStoredFile))
    throw new BadArchive("its header is not complete");
  return value as unknown as ResultHeader;
}

function isStoredFile(file: Json): boolean {
  if (!isRecord(file) || typeof file["path"] !== "string") return false;
  if (file["link"] !== undefined) return typeof file["link"] === "string" && file["size"] === undefined;
  const { size, sha256 } = file;
  return (
    typeof size === "number" &&
    Number.isSafeInteger(size) &&
    size >= 0 &&
    typeof sha256 === "string" &&
    typeof file["isExecutable"] === "boolean"
  );
}

async function digestOf(path: string): Promise<{ readonly size: number; readonly sha256: string }> {
  const hash = createHash("sha256");
  let size = 0;
  for await (const chunk of createReadStream(path) as AsyncIterable<Uint8Array>) {
    hash.update(chunk);
    size += chunk.length;
  }
  return { size, sha256: hash.digest("hex") };
}
