/** The files of the playground: a page that needs no server but one of static files. */
import { lstatSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import { printable } from "../../diagnostics/render/index.ts";
import { makeDirectory } from "../output/make-directory.ts";
import type { Output } from "../output/output.ts";
import { CommandError } from "../process/command-error.ts";
import { EXIT, type ExitCode } from "../process/exit-codes.ts";
import { markServer, withInterruption } from "../process/interruption.ts";
import { reasonOf } from "../sources/source-files.ts";
import { packageRoot } from "../start/package-root.ts";

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
};

/** What `index.html` states for servers that send no headers, and what only headers can state. */
const HEADERS = {
  "cache-control": "no-cache",
  "content-security-policy": "frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
};

function readFiles(): ReadonlyMap<string, Buffer> {
  const directory = join(packageRoot(), "dist", "cli", "playground");
  return new Map(readdirSync(directory).map((name) => [name, readFileSync(join(directory, name))]));
}

/**
 * Writes the files into a directory. Files of other names in it stay, and files of these names are replaced only if the directory has a
 * page of the playground. @throws CommandError
 */
export function writePlayground(directory: string, output: Output): void {
  const files = readFiles();
  try {
    makeDirectory(directory);
    refuseStrangers(directory, files);
    for (const [name, content] of files) writeFileSync(join(directory, name), content);
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(`cannot write to ${printable(directory)}: ${reasonOf(error)}`, { cause: error });
  }
  output.document({ version: 1, ok: true, files: [...files.keys()].sort() });
  output.note(`wrote ${files.size} files to ${printable(directory)}`);
}

/** @throws CommandError before anything is written */
function refuseStrangers(directory: string, files: ReadonlyMap<string, Buffer>): void {
  const isOwnPage = (): boolean => readFileSync(join(directory, PAGE), "utf8").includes(TITLE);
  const found = [...files].flatMap(([name, content]) => {
    const stat = lstatSync(join(directory, name), { throwIfNoEntry: false });
    return stat === undefined ? [] : [{ name, content, stat }];
  });
  const other = found.find(({ stat }) => !stat.isFile());
  if (other !== undefined) {
    const kind = other.stat.isSymbolicLink() ? "a symbolic link" : "no file";
    throw new CommandError(`cannot write ${printable(join(directory, other.name))}: it is ${kind}`, {
      help: ELSEWHERE,
    });
  }
  if (found.some(({ name }) => name === PAGE) && isOwnPage()) return;
  const stranger = found.find(({ name, content }) => !readFileSync(join(directory, name)).equals(content));
  if (stranger === undefined) return;
  throw new CommandError(
    `${printable(join(directory, stranger.name))} exists and does not belong to a page of the playground`,
    { help: ELSEWHERE },
  );
}

const PAGE = "index.html";
const TITLE = "<title>ngraph playground</title>";
const ELSEWHERE = "name another directory, or delete it";

/** Serves the page on this machine until a signal arrives. */
export async function servePlayground(port: number, output: Output): Promise<ExitCode> {
  if (port > 65_535) throw new CommandError(`--port takes a number from 0 to 65535, not ${port}`);
  const files = readFiles();
  const server = createServer((request, response) => {
    const path = (request.url ?? "/").replace(/[?#].*$/, "");
    const name = path === "/" ? "index.html" : path.slice(1);
    const file = files.get(name);
    if (request.method !== "GET" && request.method !== "HEAD") {
      response.writeHead(405, { ...HEADERS, allow: "GET, HEAD" }).end();
    } else if (file === undefined) {
      response.writeHead(404, { ...HEADERS, "content-type": "text/plain; charset=utf-8" }).end("not found\n");
    } else {
      response.writeHead(200, { ...HEADERS, "content-type": TYPES[extname(name)] ?? "application/octet-stream" });
      response.end(request.method === "HEAD" ? undefined : file);
    }
  });
  await listen(server, port);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  markServer();
  let isEnded = false;
  const isAborted = await withInterruption(
    async (signal) => {
      output.document({ version: 1, url });
      output.result(`playground: ${url}`);
      await new Promise<void>((resolve) => {
        signal.addEventListener("abort", () => resolve(), { once: true });
        server.once("ending", resolve);
      });
      server.close();
      server.closeAllConnections();
      return signal.aborted;
    },
    () => {
      isEnded = true;
      server.emit("ending");
    },
  );
  return isAborted && !isEnded ? EXIT.interrupted : EXIT.ok;
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const inUse = error.code === "EADDRINUSE";
      reject(
        new CommandError(`cannot listen on 127.0.0.1:${port}: ${inUse ? "the port is in use" : reasonOf(error)}`, {
          help: inUse ? "choose another one with --port; 0 chooses a free one" : undefined,
          cause: error,
        }),
      );
    });
    server.listen(port, "127.0.0.1", resolve);
  });
}
