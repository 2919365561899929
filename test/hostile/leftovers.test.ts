import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PROGRAM, type Ran } from "../cli/project.ts";
import { randomOf } from "../fault/random.ts";
import { isDeep, scale } from "../support/depth.ts";
import { runInProcess } from "./in-process.ts";
import { leftoverOf } from "./leftover-graphs.ts";

/** Repeats what it receives, as a server with a debug page does. */
const server = createServer((request, response) => {
  response.statusCode = 500;
  response.end("x".repeat(Number(request.url?.length) * 90) + JSON.stringify(request.headers));
});
let base = "";
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  base = typeof address === "object" && address !== null ? `http://127.0.0.1:${address.port}` : "";
});
afterAll(() => void server.close());

/** `SEED=12` prints the commands of one seed. */
const SEED = process.env["SEED"];

describe.each([
  { runs: scale(500, 12), isSpawned: false, where: "in this process" },
  { runs: scale(20, 1), isSpawned: true, where: "in a process of its own" },
])("a run $where", ({ runs, isSpawned }) => {
  const seeds = SEED === undefined ? Array.from({ length: runs }, (_, index) => index + 1) : [Number(SEED)];

  test("leaves no part of a secret behind", { timeout: 3_600_000 }, async () => {
    let redacted = 0;
    for (const seed of seeds) if (await isRedacted(seed, isSpawned)) redacted++;
    // Otherwise the graphs show no secrets, and the test nothing.
    if (SEED === undefined && isDeep) expect(redacted).toBeGreaterThan(runs / 3);
  });
});

/** Whether a run has left redacted secrets in its files. Fails if it has left a part of one anywhere. */
async function isRedacted(seed: number, isSpawned: boolean): Promise<boolean> {
  const { files, secrets, environment, commands } = leftoverOf(randomOf(seed), base, isSpawned);
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "ngraph-leftovers-")));
  try {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
    const needles = [...needlesOf("KEY", secrets.KEY), ...needlesOf("TOKEN", secrets.TOKEN)];
    for (const command of commands) {
      const run = isSpawned ? runSpawned : runInProcess;
      const { status, stdout, stderr } = await run(command, directory, environment);
      if (SEED !== undefined) console.log(`$ ngc ${command.join(" ")}\n${stdout}${stderr}`);
      const what = `seed ${seed}: ngc ${command.join(" ")}`;
      expect([0, 1, 3, 4, 64], `${what}\n${stderr}`).toContain(status);
      expect(foundIn(stdout, needles), `${what}: standard output\n${files["p.ngraph"]}`).toEqual([]);
      expect(foundIn(stderr, needles), `${what}: standard error\n${files["p.ngraph"]}`).toEqual([]);
    }
    let hasRedacted = false;
    for (const [path, text] of leftIn(directory)) {
      if (path in files) continue;
      expect(foundIn(text, needles), `seed ${seed}: ${path}\n${files["p.ngraph"]}`).toEqual([]);
      hasRedacted ||= text.includes("[secret ");
    }
    return hasRedacted;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Asynchronous, because a command may send requests to the server of this process. */
function runSpawned(args: readonly string[], cwd: string, environment: Readonly<Record<string, string>>): Promise<Ran> {
  const env = { ...process.env, NO_COLOR: "1", NODE_OPTIONS: "", ...environment };
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [PROGRAM, ...args],
      { cwd, env, timeout: 240_000, maxBuffer: 64 * 1024 * 1024 },
      (_, stdout, stderr) => resolve({ status: child.exitCode, stdout, stderr }),
    );
    child.stdin?.end();
  });
}

/** Parts of a secret of 8 characters, in the forms in which programs repeat it. */
function needlesOf(name: string, secret: string): readonly (readonly [string, string])[] {
  const found = new Map<string, string>();
  const add = (form: string, text: string, length: number): void => {
    for (let at = 0; at + length <= text.length; at++) {
      const part = text.slice(at, at + length);
      // The frame of a key file is no secret. Logs of plans have a field `key`, too.
      if (!/-----|account|%22|key\\?":/.test(part) && !'{"type":"account","key":"'.includes(part))
        found.set(part, `${name} as ${form}`);
    }
  };
  for (const line of secret.split("\n")) add("text", line, 8);
  add("JSON", JSON.stringify(secret).slice(1, -1), 10);
  for (const line of secret.split("\n")) add("part of a URL", encodeURIComponent(line), 12);
  for (const offset of [0, 1, 2, 5]) {
    const text = Buffer.from("user:".slice(5 - offset) + secret).toString("base64");
    add("base64", text.slice(offset === 0 ? 0 : 8, -4), 12);
  }
  return [...found];
}

function foundIn(text: string, needles: readonly (readonly [string, string])[]): readonly string[] {
  return needles.filter(([part]) => text.includes(part)).map(([part, form]) => `${form}: ${part}`);
}

function leftIn(directory: string): readonly (readonly [path: string, text: string])[] {
  return readdirSync(directory, { recursive: true, encoding: "utf8" })
    .filter((path) => statSync(join(directory, path)).isFile())
    .map((path) => [path, readFileSync(join(directory, path), "utf8")]);
}
