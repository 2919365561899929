/** Runs of plans in the studio of the built program, in a real browser. */
import { once } from "node:events";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { createClient } from "../../service/client.ts";
import { launchBrowser, openPage } from "../support/browser.ts";
import { createProject, type Project } from "./project.ts";

const PLAN = String.raw`plan ship {
  max parallel 2
  task prepare = shell("printf '\\033[32mready\\033[0m <b>now</b>\\n'") { estimate 1s }
  task wait = shell("echo begun; until [ -e go ]; do sleep 0.05; done; echo went") after prepare { estimate 2s }
  task wrong = shell("echo no; exit 3") after prepare { estimate 1s }
  task last = shell("true") after wait, wrong { estimate 500ms }
}
`;

/** Where pictures of the pages are written. */
const SCREENSHOTS = process.env["NGRAPH_SCREENSHOTS"];

let browser: Browser;

beforeAll(async () => {
  browser = await launchBrowser();
});

afterAll(() => browser.close());

async function serve(project: Project, args: readonly string[]): Promise<string> {
  const child = project.start([...args, "--port", "0", "--json"]);
  onTestFinished(() => void child.kill("SIGKILL"));
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  return (JSON.parse(line.toString()) as { url: string }).url;
}

test("a run of a plan is shown while it works: planned beside run, and logs that grow", async () => {
  const project = createProject({ "ship.ngraph": PLAN });
  const url = await serve(project, ["studio"]);
  const client = createClient({ url });
  expect(await client.planRuns()).toEqual([]);
  const child = project.start(["run", "ship.ngraph", "--thread", "release"]);
  onTestFinished(() => void child.kill("SIGKILL"));
  const exited = once(child, "exit");
  await expect.poll(() => client.planRuns(), { timeout: 90_000 }).toMatchObject([{ plan: "ship", running: true }]);
  const { page, problems } = await openPage(browser, `${url}/studio`);
  await page.getByRole("link", { name: "Plans" }).click();
  await page.getByRole("link", { name: "ship" }).click();
  await page.getByText("planned 3.5 s").first().waitFor();
  await page.locator("h2 .status", { hasText: "running" }).waitFor();
  await page.getByRole("button", { name: "wait" }).click();
  const log = page.getByLabel("Log of wait");
  await expect.poll(() => log.textContent()).toBe("begun\n");
  expect(await page.locator(".gantt rect.ran.is-running").count()).toBe(1);
  expect(await page.locator(".gantt rect.planned").count()).toBe(4);

  project.write("go", "");
  await expect.poll(() => log.textContent(), { timeout: 90_000 }).toBe("begun\nwent\n");
  await exited;
  await page.locator("h2 .status", { hasText: /partial|stuck/ }).waitFor();
  await page.locator(".gantt rect.ran.is-failed").waitFor();
  // Codes of colours are left out, and markup is text.
  await page.getByRole("button", { name: "prepare" }).click();
  await expect.poll(() => page.getByLabel("Log of prepare").textContent()).toBe("ready <b>now</b>\n");
  await page.getByRole("button", { name: "wrong" }).click();
  await expect.poll(() => page.getByLabel("Log of wrong").textContent()).toBe("no\n");
  const blocked = page.locator("tr", { hasText: "last" });
  await blocked.locator(".status", { hasText: "blocked" }).waitFor();
  await blocked.getByText("not run, because of a failure: wrong", { exact: true }).waitFor();
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    for (const width of [360, 768, 1280]) {
      await page.setViewportSize({ width, height: 900 });
      expect(await page.locator("html").evaluate((element) => element.scrollWidth)).toBe(width);
      if (SCREENSHOTS !== undefined)
        await page.screenshot({ path: join(SCREENSHOTS, `plan-${width}-${colorScheme}.png`), fullPage: true });
    }
  }
  expect(problems).toEqual([]);
});

test("a run of a plan is cancelled in the studio: first it starts no further task, then its tasks end", async () => {
  const project = createProject({ "ship.ngraph": PLAN });
  const url = await serve(project, ["studio"]);
  const client = createClient({ url });
  const child = project.start(["run", "ship.ngraph", "--thread", "release"]);
  onTestFinished(() => void child.kill("SIGKILL"));
  let printed = "";
  child.stderr.on("data", (data: Buffer) => (printed += data.toString()));
  const exited = once(child, "exit");
  await expect.poll(() => client.planRuns(), { timeout: 90_000 }).toMatchObject([{ plan: "ship", running: true }]);
  const { page, problems } = await openPage(browser, `${url}/studio`);
  await page.getByRole("link", { name: "Plans" }).click();
  await page.getByRole("link", { name: "ship" }).click();
  await page.locator("tr", { hasText: "wait" }).locator(".status", { hasText: "running" }).waitFor();
  await page.getByRole("button", { name: "Cancel the run" }).click();
  await page.getByText("No further task starts.").waitFor();
  if (SCREENSHOTS !== undefined) await page.screenshot({ path: join(SCREENSHOTS, "plan-cancel.png") });
  await expect.poll(() => printed, { timeout: 90_000 }).toContain("stopping: running attempts may end");
  await page.getByRole("button", { name: "End the running tasks now" }).click();
  const [code] = (await exited) as [number | null];
  expect(code).not.toBe(0);
  await page.locator("h2 .status", { hasText: "running" }).waitFor({ state: "detached" });
  expect(await page.getByRole("button", { name: "Cancel the run" }).count()).toBe(0);
  expect(problems).toEqual([]);
  const [{ id } = { id: "" }] = await client.planRuns();
  await expect(client.cancelPlanRun(id)).rejects.toMatchObject({ status: 409, problem: { code: "not-running" } });
  await expect(client.cancelPlanRun("another")).rejects.toMatchObject({ status: 404 });
}, 300_000);

test("runs of plans are read by name only, in parts, and not without the studio", async () => {
  const project = createProject({
    "ship.ngraph": 'plan ship {\n  task long = shell("seq 100000; printf ü")\n}\n',
    "hello.ngraph": 'graph hello {\n  output text: string\n  node a = "x" into text\n  start -> a -> end\n}\n',
  });
  expect(project.ngc(["run", "ship.ngraph"])).toMatchObject({ status: 0 });
  const client = createClient({ url: await serve(project, ["serve", "hello.ngraph", "--studio"]) });
  const [{ id } = { id: "" }] = await client.planRuns({ plan: "ship" });
  expect(await client.planRuns({ plan: "other" })).toEqual([]);
  const run = await client.planRun(id);
  expect(run).toMatchObject({
    plan: "ship",
    running: false,
    planned: { unit: "tasks", makespan: 1 },
    tasks: [{ id: "long", status: "done", attempts: 1, planned: { start: 0, end: 1 } }],
    logs: [{ task: "long", check: null, attempt: 1 }],
  });
  const { log, bytes } = run.logs[0]!;
  let text = "";
  for (let from = 0, over = false; !over;) {
    const part = await client.planLog(id, log, from);
    expect(part.next).toBeGreaterThan(from);
    text += part.text;
    from = part.next;
    over = part.next === bytes;
  }
  expect(text.startsWith("1\n2\n")).toBe(true);
  expect(text.trimEnd().endsWith("100000\nü")).toBe(true);
  for (const wrong of ["../x", "..", "x".repeat(100), "none"])
    await expect(client.planRun(wrong)).rejects.toMatchObject({ status: 404 });
  await expect(client.planLog(id, "../transitions.jsonl")).rejects.toMatchObject({ status: 404 });
  const without = createClient({ url: await serve(project, ["serve", "hello.ngraph"]) });
  expect(await without.planRuns()).toEqual([]);
  await expect(without.planRun(id)).rejects.toMatchObject({ status: 404 });
});
