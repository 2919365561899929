import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { everyNth, stride } from "../support/depth.ts";
import type { HostileInput } from "./hostile-input.ts";
import { HOSTILE_INPUTS } from "./hostile-inputs.ts";

/** The exit code and the first line of the message of each input. `UPDATE=1` writes it, for review. */
const EXPECTED = "test/hostile/expected.json";
const isUpdate = process.env["UPDATE"] === "1";
const expected = stored();
const actual: Record<string, Outcome> = {};

interface Outcome {
  readonly exit: number;
  readonly message: string;
}

/**
 * The limits of the shell and of V8 replace assertions: a command that exceeds one is killed and has no valid exit
 * code.
 */
const CPU_SECONDS = 10;
const HEAP_MEGABYTES = 900;

/** Each input starts a process, so `npm test` runs few of them. */
const SAMPLE = everyNth(HOSTILE_INPUTS, stride(1, 30));

const program = join(process.cwd(), "dist/cli/ngc.js");

test("there are at least 1,000 inputs, each with a name and an outcome of its own", () => {
  expect(HOSTILE_INPUTS.length).toBeGreaterThanOrEqual(1000);
  expect(new Set(HOSTILE_INPUTS.map(({ name }) => name)).size).toBe(HOSTILE_INPUTS.length);
  if (!isUpdate) expect(HOSTILE_INPUTS.filter(({ name }) => !(name in expected)).map(({ name }) => name)).toEqual([]);
});

describe.runIf(process.platform === "linux")("a hostile input", () => {
  // The inputs wait for processes, so several run at the same time.
  test.concurrent.each(isUpdate ? HOSTILE_INPUTS : SAMPLE)("$name", async (input) => {
    const { exit, stdout, stderr } = await run(input);
    const text = stdout + stderr;
    const outcome = { exit, message: messageOf(stderr) };
    actual[input.name] = outcome;
    expect([0, 1, 2, 3, 64], text.slice(0, 500)).toContain(exit);
    // oxlint-disable-next-line no-control-regex -- they are what must not occur
    expect(text).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/);
    expect(text).not.toMatch(/this is a bug|^\s+at .*(?:main\.cjs|node:internal)|Hunter2PW|TOP LEVEL RAN/m);
    expect(stderr.length).toBeLessThan(200_000);
    if (isUpdate) return;
    if (input.hasTimedMessage === true) expect(exit).toBe(expected[input.name]?.exit);
    else expect(outcome).toEqual(expected[input.name]);
  });

  afterAll(() => {
    if (!isUpdate) return;
    // With `-t`, some of the inputs have not run.
    const known = new Map([...Object.entries(stored()), ...Object.entries(actual)]);
    const all = HOSTILE_INPUTS.flatMap(({ name }) => (known.has(name) ? [[name, known.get(name)] as const] : []));
    writeFileSync(EXPECTED, `${JSON.stringify(Object.fromEntries(all), null, 2)}\n`);
  });
});

interface Ended {
  readonly exit: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function run({ files = {}, setup = ":", args, redirect = "" }: HostileInput): Promise<Ended> {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "ngraph-hostile-")));
  try {
    for (const [name, content] of Object.entries(files)) writeFileSync(join(directory, name), content);
    const script = `${setup}\nulimit -t ${CPU_SECONDS}\nexec "$0" --max-old-space-size=${HEAP_MEGABYTES} "$@" ${redirect}`;
    const { exit, stdout, stderr } = await execute(directory, script, args);
    return { exit, stdout, stderr: stderr.replaceAll(directory, "DIR") };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function execute(cwd: string, script: string, args: readonly string[]): Promise<Ended> {
  const env = {
    ...process.env,
    NO_COLOR: "1",
    FORCE_COLOR: undefined,
    npm_command: undefined,
    NODE_OPTIONS: "",
    PGCONNECT_TIMEOUT: "2",
  };
  const options = { cwd, encoding: "utf8", timeout: 240_000, maxBuffer: 64 * 1024 * 1024, env } as const;
  return new Promise((resolve, reject) => {
    const child = execFile(
      "sh",
      ["-c", script, process.execPath, program, ...args],
      options,
      (error, stdout, stderr) => {
        // Without an exit code, a limit ended the command, or the command did not start.
        if (error !== null && child.exitCode === null && child.signalCode === null) reject(error);
        else resolve({ exit: child.exitCode ?? -1, stdout, stderr });
      },
    );
    // A command that does not read its input closes it.
    child.stdin?.on("error", () => undefined);
    child.stdin?.end();
  });
}

/** The first line that reports something, without places and numbers and ids that change. */
function messageOf(stderr: string): string {
  const lines = stderr.split("\n");
  const line = lines.find((each) => /error|warning/.test(each)) ?? lines[0] ?? "";
  const id = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|(?<=@\d+\.)[0-9a-f]{12}/g;
  return line
    .replace(/\b\d+ms\b/g, "Nms")
    .replace(id, "ID")
    .slice(0, 160);
}

function stored(): Readonly<Record<string, Outcome>> {
  return JSON.parse(readFileSync(EXPECTED, "utf8")) as Readonly<Record<string, Outcome>>;
}
