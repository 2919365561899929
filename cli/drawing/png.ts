/** Pictures as PNG, by a renderer that the project or the machine has: this program has none of its own. */
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { importOptional } from "../run/import-optional.ts";
import { CommandError } from "../process/command-error.ts";
import { reasonOf } from "../sources/source-files.ts";

/** Pixels of a point of the picture: text is sharp on usual screens. */
const SCALE = 2;
/** Larger pictures need gigabytes in some renderers. */
const MAX_PIXELS = 16_000;
const TIMEOUT_MS = 30_000;
const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

interface Job {
  readonly svg: string;
  readonly input: string;
  readonly output: string;
  readonly width: number;
  readonly height: number;
}

/** Programs in the order in which they are tried, with their arguments. */
const PROGRAMS: readonly (readonly [program: string, argumentsOf: (job: Job) => readonly string[]])[] = [
  [
    "rsvg-convert",
    ({ input, output, width }) => ["--width", String(width), "--background-color", "white", "--output", output, input],
  ],
  ["resvg", ({ input, output, width }) => ["--width", String(width), "--background", "white", input, output]],
  ["inkscape", ({ input, output, width }) => [input, `--export-filename=${output}`, `--export-width=${width}`]],
];

/**
 * Draws an SVG as PNG with `@resvg/resvg-js` of the project, or with a program of the PATH.
 *
 * @param file the source file, whose project may have the package
 * @param timeoutMs how long each program may take
 * @throws CommandError when there is no renderer, or all of them fail
 */
export async function renderPng(svg: string, file: string, timeoutMs = TIMEOUT_MS): Promise<Buffer> {
  const [, width = "0", height = "0"] = /width="(\d+)pt" height="(\d+)pt"/.exec(svg) ?? [];
  const scale = Math.min(SCALE, MAX_PIXELS / Math.max(Number(width), Number(height), 1));
  const pixels = { width: Math.ceil(Number(width) * scale), height: Math.ceil(Number(height) * scale) };
  const failures: string[] = [];
  const own = await byPackage(svg, file, pixels.width);
  if (own instanceof Buffer) return own;
  if (own !== undefined) failures.push(`@resvg/resvg-js: ${own}`);
  const directory = mkdtempSync(join(tmpdir(), "ngraph-png-"));
  try {
    const job: Job = { svg, ...pixels, input: join(directory, "picture.svg"), output: join(directory, "picture.png") };
    writeFileSync(job.input, svg);
    for (const [program, argumentsOf] of PROGRAMS) {
      const reason = await run(program, argumentsOf(job), directory, timeoutMs);
      if (reason === "missing") continue;
      const picture = readPicture(job.output);
      if (picture !== undefined) return picture;
      failures.push(`${program}: ${reason ?? "it wrote no PNG"}`);
    }
    throw new CommandError(
      failures.length === 0
        ? "there is no renderer for PNG"
        : `no renderer could draw the picture: ${failures.join("; ")}`,
      {
        help: "install the package `@resvg/resvg-js` in the project, or one of rsvg-convert, resvg and inkscape; or write .svg",
      },
    );
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** The picture of the package, or the reason why it draws none; `undefined` without the package. */
async function byPackage(svg: string, file: string, width: number): Promise<Buffer | string | undefined> {
  let resvg: { Resvg: new (svg: string, options: object) => { render(): { asPng(): Uint8Array } } };
  try {
    resvg = (await importOptional(file)("@resvg/resvg-js")) as typeof resvg;
  } catch {
    return undefined;
  }
  const options = { fitTo: { mode: "width", value: width }, background: "white", font: { loadSystemFonts: true } };
  try {
    const picture = Buffer.from(new resvg.Resvg(svg, options).render().asPng());
    return isPicture(picture) ? picture : "it drew no PNG";
  } catch (error) {
    return reasonOf(error).slice(0, 200);
  }
}

/** The reason why a program has failed; `undefined` if it has not. */
function run(
  program: string,
  args: readonly string[],
  directory: string,
  timeoutMs: number,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      cwd: directory,
      stdio: ["ignore", "ignore", "pipe"],
      timeout: timeoutMs,
      killSignal: "SIGKILL",
    });
    let errors = "";
    child.stderr.on("data", (chunk: Buffer) => {
      if (errors.length < 2_000) errors += chunk.toString();
    });
    child.on("error", (error: NodeJS.ErrnoException) => resolve(error.code === "ENOENT" ? "missing" : error.message));
    const end = (code: number | null, signal: NodeJS.Signals | null): void => {
      const last = errors.trim().split("\n").at(-1) ?? "";
      resolve(
        code === 0 ? undefined : `${signal === null ? `exit code ${code}` : signal} ${last}`.trim().slice(0, 200),
      );
    };
    child.on("close", end);
    // The process of a script, which lives on when the script is killed, keeps the pipe open.
    child.on("exit", (code, signal) => {
      if (signal === null) return;
      child.stderr.destroy();
      end(code, signal);
    });
  });
}

function readPicture(path: string): Buffer | undefined {
  try {
    const picture = readFileSync(path);
    return isPicture(picture) ? picture : undefined;
  } catch {
    return undefined;
  }
}

function isPicture(bytes: Buffer): boolean {
  return bytes.subarray(0, SIGNATURE.length).equals(SIGNATURE);
}
