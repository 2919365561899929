/**
 * 5.6 Eight command lines resume one thread at the same time. One runs it, and the others report the owner. After the
 * owner is killed, one of the next eight takes over.
 */
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test, vi } from "vitest";
import { PostgresServer } from "../stores/postgres-server.ts";
import { createProject, type Document, type Project } from "./project.ts";

const RIVALS = 8;
const FILES = {
  "flow.ngraph": `import { work } from "./work.ts"
graph flow {
  output log: string[] reduce append
  node first = work("first") into log
  node second = work("second") into log
  node third = work("third") into log
  start -> first -> second -> third
}
`,
  // Records which process runs which node; the second waits until the test releases it.
  "work.ts": `import { appendFileSync, existsSync } from "node:fs";
export async function work(name: string): Promise<string> {
  appendFileSync("ran", name + " " + process.pid + "\\n");
  while (name === "second" && !existsSync("go")) await new Promise((resolve) => setTimeout(resolve, 10));
  return name;
}
`,
};

let server: PostgresServer | undefined;
afterAll(() => server?.dispose());

test("SQLite", { timeout: 300_000 }, () => race(createProject(FILES), "sqlite:runs.db"));

test("Postgres", { timeout: 300_000 }, async () => {
  server = await PostgresServer.start();
  await race(createProject(FILES), server.url);
});

async function race(project: Project, store: string): Promise<void> {
  const options = ["--store", store];
  const first = start(project, ["run", "flow.ngraph", "--thread", "t", "--json", ...options]);
  const winner = await winnerOf(first);
  // The winner is at the second node, and no other process has run a node.
  await until(() => expect(ranIn(project)).toEqual([`first ${winner.pid}`, `second ${winner.pid}`]));
  expect(project.json(["threads", ...options]).document.threads).toHaveLength(1);
  winner.child.kill("SIGKILL");
  await winner.ended;

  const second = start(project, ["resume", "t", "--json", ...options]);
  const heir = await winnerOf(second);
  await until(() => expect(ranIn(project).slice(2)).toEqual([`second ${heir.pid}`]));
  writeFileSync(join(project.directory, "go"), "");
  expect(await heir.ended).toBe(0);
  expect(JSON.parse(heir.stdout())).toMatchObject({
    status: "completed",
    output: { log: ["first", "second", "third"] },
  });
  expect(ranIn(project).slice(3)).toEqual([`third ${heir.pid}`]);
  const { document } = project.json(["history", "t", ...options]);
  const history = document.checkpoints as readonly Document[];
  for (const [index, { parent }] of history.entries()) expect(parent).toBe(history[index + 1]?.id ?? null);
  expect(history.map(({ step }) => step as number)).toEqual([2, 1, 0, -1]);
}

/** The others can be refused before the winner reaches this node. */
async function until(check: () => void): Promise<void> {
  await vi.waitFor(check, { timeout: 60_000 });
}

interface Rival {
  readonly child: ReturnType<Project["start"]>;
  readonly pid: number;
  readonly stdout: () => string;
  readonly stderr: () => string;
  readonly ended: Promise<number | NodeJS.Signals | null>;
}

function start(project: Project, args: readonly string[]): readonly Rival[] {
  return Array.from({ length: RIVALS }, () => {
    const child = project.start(args);
    let [stdout, stderr] = ["", ""];
    child.stdout.on("data", (chunk) => (stdout += String(chunk)));
    child.stderr.on("data", (chunk) => (stderr += String(chunk)));
    const ended = once(child, "close").then(([code, signal]) => (signal ?? code) as number | NodeJS.Signals | null);
    return { child, pid: child.pid!, stdout: () => stdout, stderr: () => stderr, ended };
  });
}

/** Waits until all processes but one have ended. Each of them must have reported the owner. */
async function winnerOf(rivals: readonly Rival[]): Promise<Rival> {
  const over = new Set<Rival>();
  await new Promise<void>((resolve) => {
    for (const rival of rivals)
      void rival.ended.then(() => {
        over.add(rival);
        if (over.size === rivals.length - 1) resolve();
      });
  });
  const winner = rivals.find((rival) => !over.has(rival))!;
  for (const loser of over) {
    expect(await loser.ended, loser.stderr()).toBe(1);
    const { error } = JSON.parse(loser.stdout()) as Document;
    expect(error).toMatchObject({ code: "NG_THREAD_CONFLICT" });
    expect(error.message).toMatch(
      new RegExp(`^thread "t" is being run by .*\\(process ${winner.pid} on .*\\): wait until`),
    );
  }
  return winner;
}

function ranIn(project: Project): readonly string[] {
  const path = join(project.directory, "ran");
  return existsSync(path) ? readFileSync(path, "utf8").trimEnd().split("\n") : [];
}
