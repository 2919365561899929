/**
 * The studio in a real browser with 5,000 threads and a run of 10,000 steps (`npm run build` first): what its main thread does in each part of
 * its use. The figures are processor time of that thread, from a trace of the browser, so that other programs of the machine do not count:
 * tasks, the longest one, those of more than 16 ms (a frame) and of more than 50 ms (a delay that people notice), and the elements of the page.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Page } from "playwright-core";
import { createClient } from "../service/client.ts";
import { launchBrowser } from "../test/support/browser.ts";

const THREADS = Number(process.env["THREADS"] ?? 5_000);
const STEPS = Number(process.env["STEPS"] ?? 10_000);
const AT_ONCE = 50;

const loop = (name: string, work: string) => `graph ${name} {
  input most: int = 0
  output n: int = 0
  node add = ${work} into n
  limit steps 1000000
  start -> add
  add -> add when n < most
  add -> end otherwise
}
`;
const NODES = `export async function grow(n: number): Promise<number> {
  if (n > ${STEPS}) await new Promise((resolve) => setTimeout(resolve, 5));
  return n + 1;
}
`;

interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  /** Microseconds of processor time. */
  readonly tdur?: number;
  readonly args: { readonly name?: string };
}

const browser = await launchBrowser();
const directory = mkdtempSync(join(tmpdir(), "ngraph-bench-studio-"));
writeFileSync(join(directory, "quick.ngraph"), loop("quick", "n + 1"));
writeFileSync(join(directory, "slow.ngraph"), `import { grow } from "./nodes.ts"\n\n${loop("slow", "grow(n)")}`);
writeFileSync(join(directory, "nodes.ts"), NODES);
const program = resolve("dist/cli/ngc.js");
const files = ["quick.ngraph", "slow.ngraph"];
const server = spawn(process.execPath, [program, "serve", ...files, "--studio", "--port", "0", "--json"], {
  cwd: directory,
  stdio: ["ignore", "pipe", "ignore"],
});
try {
  const [line] = (await once(server.stdout, "data")) as [Buffer];
  const { url } = JSON.parse(line.toString()) as { url: string };
  const client = createClient({ url });
  await client.graph("quick").run({ most: STEPS }, { thread: "long" });
  for (let at = 0; at < THREADS; at += AT_ONCE)
    await Promise.all(Array.from({ length: AT_ONCE }, () => client.graph("quick").run({})));
  console.log(`${THREADS} threads, a run of ${STEPS} steps\n`);
  console.log(
    "| part | tasks | processor time ms | longest task ms | over 16 ms | over 50 ms | elements |\n|---|---|---|---|---|---|---|",
  );
  await measureParts(await browser.newPage(), url);
} finally {
  server.kill("SIGKILL");
  await browser.close();
  rmSync(directory, { recursive: true, force: true });
}

async function measureParts(page: Page, url: string): Promise<void> {
  const measure = async (title: string, work: () => Promise<unknown>): Promise<void> => {
    await browser.startTracing(page, {
      categories: ["toplevel", "disabled-by-default-devtools.timeline", "devtools.timeline"],
    });
    await work();
    // What the last event has caused belongs to it.
    await page.waitForTimeout(500);
    const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: TraceEvent[] };
    const tasks = tasksOfPage(traceEvents);
    const over = (least: number) => tasks.filter((each) => each > least).length;
    const sum = tasks.reduce((total, each) => total + each, 0);
    const most = tasks.reduce((longest, each) => Math.max(longest, each), 0);
    const elements = await page.locator("body *").count();
    console.log(
      `| ${title} | ${tasks.length} | ${sum.toFixed(0)} | ${most.toFixed(1)} | ${over(16)} | ${over(50)} | ${elements} |`,
    );
  };

  await measure("the list of threads opens", async () => {
    await page.goto(`${url}/studio`);
    await page.locator("table.threads tbody tr").nth(99).waitFor();
  });
  await page.mouse.move(400, 400);
  await measure("it is scrolled", () => wheel(page, 40));
  await measure("ten pages are turned", async () => {
    for (let turn = 0; turn < Math.min(10, THREADS / 100 - 1); turn++) {
      const top = await page.locator("table.threads tbody a").first().textContent();
      await page.getByRole("button", { name: "Older threads" }).click();
      await page
        .locator("table.threads tbody a")
        .first()
        .filter({ hasNotText: top ?? "" })
        .waitFor();
    }
  });
  await measure("a label is typed", async () => {
    await page.getByLabel("Label").pressSequentially("release", { delay: 30 });
    await page.getByText("No thread fits.").waitFor();
  });
  await measure("the long run opens", async () => {
    await page.evaluate("location.hash = '#/threads/long'");
    await page.locator(".checkpoint dl").first().waitFor();
  });
  await measure("all its checkpoints are read", () => readCheckpoints(page));
  await page.locator(".rows").hover();
  await measure("its timeline is scrolled", () => wheel(page, 60));
  await measure("ten checkpoints are selected", async () => {
    for (let at = 0; at < 10; at++) {
      await page
        .locator(".rows .row button")
        .nth(at + 12)
        .click();
      await page.locator(".checkpoint dl").first().waitFor();
    }
  });
  const { graph, thread } = createClient({ url });
  await graph("quick").start({ most: 1_000_000 }, { thread: "quick" });
  await measure("ten seconds of a run without pauses", async () => {
    await page.evaluate("location.hash = '#/threads/quick'");
    await page.locator(".checkpoint dl").first().waitFor();
    await page.waitForTimeout(10_000);
  });
  await thread("quick").cancel();
  await graph("slow").start({ most: 1_000_000 }, { thread: "slow" });
  while ((await thread("slow").state()).step < STEPS) await page.waitForTimeout(100);
  await page.evaluate("location.hash = '#/threads/slow'");
  await page.locator(".checkpoint dl").first().waitFor();
  await readCheckpoints(page);
  await measure("ten seconds of a run at 200 steps a second, all checkpoints read", () => page.waitForTimeout(10_000));
  await thread("slow").cancel();
}

async function readCheckpoints(page: Page): Promise<void> {
  const earlier = page.getByRole("button", { name: "Earlier checkpoints" });
  const size = () => page.locator(".rows .row").first().getAttribute("aria-setsize");
  while ((await earlier.count()) > 0) {
    const before = Number(await size());
    await earlier.click();
    while (Number(await size()) < before + 100 && (await earlier.count()) > 0) await page.waitForTimeout(20);
  }
}

async function wheel(page: Page, turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn++) {
    await page.mouse.wheel(0, 400);
    await page.waitForTimeout(16);
  }
}

/** Milliseconds of the tasks of the main thread of the page: the busiest of the renderers, as others are spare ones. */
function tasksOfPage(events: readonly TraceEvent[]): number[] {
  const threads = new Map<string, number[]>();
  for (const { name, pid, tid, args } of events)
    if (name === "thread_name" && args.name === "CrRendererMain") threads.set(`${pid} ${tid}`, []);
  for (const { name, pid, tid, tdur } of events)
    if (name.endsWith("RunTask") && tdur !== undefined) threads.get(`${pid} ${tid}`)?.push(tdur / 1000);
  const sum = (tasks: readonly number[]) => tasks.reduce((total, each) => total + each, 0);
  return [...threads.values()].toSorted((a, b) => sum(b) - sum(a))[0] ?? [];
}
