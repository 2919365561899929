import { spawn } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createProject, type Project } from "../cli/project.ts";
import { randomOf } from "../fault/random.ts";
import { scale } from "../support/depth.ts";
import { leftoverOf } from "./leftover-graphs.ts";

/** Repeats what it receives, as a server with a debug page does. It is a process, because the test waits for commands. */
const SERVER = `require("node:http").createServer((request, response) => {
  response.statusCode = 500;
  response.end("x".repeat(Number(request.url.length) * 90) + JSON.stringify(request.headers));
}).listen(0, "127.0.0.1", function () { console.log("http://127.0.0.1:" + this.address().port); });`;

const server = spawn(process.execPath, ["-e", SERVER], { stdio: ["ignore", "pipe", "inherit"] });
let base = "";
beforeAll(async () => {
  base = await new Promise<string>((resolve) =>
    server.stdout.once("data", (chunk: Buffer) => resolve(chunk.toString().trim())),
  );
});
afterAll(() => void server.kill());

const RUNS = scale(75, 50);
const SEED = process.env["SEED"];
const seeds = SEED === undefined ? Array.from({ length: RUNS }, (_, index) => index + 1) : [Number(SEED)];

test("no run leaves a part of a secret behind", { timeout: 3_600_000 }, () => {
  let redacted = 0;
  for (const seed of seeds) {
    const { files, secrets, commands } = leftoverOf(randomOf(seed), base);
    const project = createProject(files);
    const key = Buffer.from(secrets["KEY"] ?? "").toString("base64");
    const env = { ...secrets, KEY64: key };
    const needles = [...needlesOf("KEY", secrets["KEY"] ?? ""), ...needlesOf("TOKEN", secrets["TOKEN"] ?? "")];
    for (const command of commands) {
      const { status, stdout, stderr } = project.ngc(command, { env });
      if (SEED !== undefined) console.log(`$ ngc ${command.join(" ")}\n${stdout}${stderr}`);
      const what = `seed ${seed}: ngc ${command.join(" ")}`;
      expect([0, 1, 3, 4, 64], `${what}\n${stderr}`).toContain(status);
      expect(foundIn(stdout, needles), `${what}: standard output\n${files["p.ngraph"]}`).toEqual([]);
      expect(foundIn(stderr, needles), `${what}: standard error\n${files["p.ngraph"]}`).toEqual([]);
    }
    for (const [path, bytes] of leftIn(project)) {
      if (path in files) continue;
      expect(foundIn(bytes, needles), `seed ${seed}: ${path}\n${files["p.ngraph"]}`).toEqual([]);
      if (bytes.includes("[secret ")) redacted++;
    }
  }
  // Otherwise the graphs show no secrets, and the test nothing.
  if (SEED === undefined) expect(redacted).toBeGreaterThan(RUNS / 3);
});

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

function leftIn(project: Project): readonly (readonly [path: string, text: string])[] {
  return readdirSync(project.directory, { recursive: true, encoding: "utf8" })
    .filter((path) => statSync(join(project.directory, path)).isFile())
    .map((path) => [path, readFileSync(join(project.directory, path), "utf8")]);
}
