/** The studio of the built program in a real browser. */
import { once } from "node:events";
import { gzipSync } from "node:zlib";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { createClient } from "../../service/client.ts";
import { launchBrowser, openPage } from "../support/browser.ts";
import { isDeep } from "../support/depth.ts";
import { createProject, PROGRAM, type Project } from "./project.ts";

const MARKUP = "<img src=x onerror=alert(1)>";

const FLOW = `import { double } from "./nodes.ts"

graph flow {
  input n: int
  input title: string = "${MARKUP}"
  output twice: int
  output verdict: "yes" | "no"
  output note: string
  node twofold = double(n) into twice
  node more = { twice: twice + 1 } into { twice }
  node sure = ask(\`Is \${twice} right for \${title}?\`, choices: ["yes", "no"], details: { twice }) into verdict
  node finish = \`\${title}: \${twice} \${verdict}\` into note
  start -> twofold -> more -> sure -> finish -> end
}
`;
const NODES = `export async function double(n: number): Promise<number> {
  return n * 2;
}
`;

let browser: Browser;

beforeAll(async () => {
  browser = await launchBrowser();
});

afterAll(() => browser.close());

async function serve(
  project: Project,
  port = "0",
): Promise<{ url: string; end: () => Promise<void>; kill: () => Promise<void> }> {
  const child = project.start(["serve", "flow.ngraph", "--studio", "--port", port, "--json"]);
  onTestFinished(() => void child.kill("SIGKILL"));
  const exited = once(child, "exit");
  const [line] = (await Promise.race([once(child.stdout, "data"), exited])) as [Buffer | number];
  if (!Buffer.isBuffer(line)) throw new Error(`it ended with ${line}`);
  const { url } = JSON.parse(line.toString()) as { url: string };
  return {
    url,
    end: async () => {
      child.kill("SIGTERM");
      await exited;
    },
    kill: async () => {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

const open = (url: string) => openPage(browser, url);

const status = (page: Page, text: string) => page.locator("h2 .status", { hasText: text }).waitFor();
const checkpoint = (page: Page, text: string) => page.locator(".timeline li button", { hasText: text });

async function startRun(page: Page, thread: string): Promise<void> {
  await page.getByText("Start a run").click();
  await page.getByLabel("n", { exact: true }).fill("4");
  await page.getByLabel("Name of the thread").fill(thread);
  await page.getByRole("button", { name: "Start flow" }).click();
}

test("a run starts in the page, is approved, and goes back; its state is edited, and both branches are shown", async () => {
  const { url } = await serve(createProject({ "flow.ngraph": FLOW, "nodes.ts": NODES }));
  const { page, problems } = await open(`${url}/studio`);
  await startRun(page, "t");
  await status(page, "paused");
  await page.locator(".picture g.node.is-waiting title", { hasText: "sure" }).waitFor({ state: "attached" });
  await page.getByRole("button", { name: "Answer" }).click();
  await page.getByText("Enter a value first.").waitFor();
  await page.getByLabel("yes").check();
  await page.getByRole("button", { name: "Answer" }).click();
  await status(page, "completed");
  await expect.poll(() => page.locator(".picture g.node.is-done").count()).toBe(4);

  // Back to the checkpoint before the question.
  await checkpoint(page, "finish").click();
  await page.getByRole("button", { name: "Compare others with this" }).click();
  await checkpoint(page, "more").click();
  await page.getByText("Differences from step 3 of t").waitFor();
  await page.getByRole("button", { name: "Go back to this checkpoint" }).click();
  await page.getByRole("button", { name: "Resume" }).waitFor();
  await page.getByLabel("Edit twice").click();
  await page.getByLabel("twice", { exact: true }).fill("70");
  await page.getByRole("button", { name: "Save twice" }).click();
  await page.locator(".checkpoint dd code", { hasText: "70" }).first().waitFor();
  await page.getByRole("button", { name: "Resume" }).click();
  await page.getByText("Is 70 right").waitFor();
  await page.getByLabel("no", { exact: true }).check();
  await page.getByRole("button", { name: "Answer" }).click();
  await status(page, "completed");
  await checkpoint(page, "other branch").first().waitFor();
  await page.locator("ins", { hasText: `${MARKUP}: 70 no` }).waitFor();
  await page.locator("del", { hasText: `${MARKUP}: 9 yes` }).waitFor();

  // Both branches side by side, with the steps of each.
  const steps = page.locator("table.compare tr", { hasText: "Steps since they parted" }).locator("td");
  await expect
    .poll(() => steps.nth(0).locator("li").allTextContents())
    .toEqual(["2 · interrupted", "2 · sure", "3 · finish"]);
  expect(await steps.nth(1).locator("li").allTextContents()).toEqual([
    "1 · forked",
    "1 · edited",
    "2 · interrupted",
    "2 · sure",
    "3 · finish",
  ]);
  expect(await page.locator("table.compare thead th").allTextContents()).toEqual([
    "Step 3 of t, other branch",
    "Step 3 of t",
  ]);
  // Forks and edits repeat the step before them: nothing has run twice on the present branch.
  expect(await page.locator(".picture .mark").allTextContents()).toEqual(["✓", "✓", "✓", "✓"]);
  const shot = process.env["NGRAPH_SCREENSHOTS"];
  if (shot !== undefined) await page.screenshot({ path: join(shot, "compare.png"), fullPage: true });

  // A thread of its own.
  await checkpoint(page, "twofold").first().click();
  await page.getByLabel("New thread from here").fill("copy");
  await page.getByRole("button", { name: "Fork", exact: true }).click();
  await page.getByRole("heading", { name: "copy" }).waitFor();
  await page.getByRole("button", { name: "Resume" }).click();
  await page.getByText("Is 9 right").waitFor();
  const state = await createClient({ url }).thread("t").state();
  expect(state).toMatchObject({ status: "completed", output: { twice: 70, verdict: "no" } });
  expect(problems).toEqual([]);
});

test("markup in names and values is text", async () => {
  const { url } = await serve(createProject({ "flow.ngraph": FLOW, "nodes.ts": NODES }));
  const name = `<b>x</b>${MARKUP}`;
  await createClient({ url })
    .graph("flow")
    .run({ n: 1, title: `</script>${MARKUP}` }, { thread: name });
  await createClient({ url }).thread(name).label(MARKUP);
  const { page, problems } = await open(`${url}/studio`);
  await page.getByText(name, { exact: true }).click();
  await page.locator(".question", { hasText: `right for </script>${MARKUP}` }).waitFor();
  expect(JSON.parse((await page.locator(".question + pre").textContent()) ?? "")).toEqual({ twice: 3 });
  await page.locator(".picture svg").waitFor();
  expect(await page.locator("main b, main img, main script").count()).toBe(0);
  // Characters that reorder the text around them are shown.
  await createClient({ url }).graph("flow").run({ n: 1, title: "\u202epay\u0007\nnow" }, { thread: "turned" });
  await page.goto(`${url}/studio#/threads/turned`);
  await page.locator(".question", { hasText: "right for \\u{202e}pay\\u{0007}" }).waitFor();
  expect(await page.locator("main").textContent()).not.toContain("\u202e");
  expect(problems).toEqual([]);
});

test("a second tab that answers first, and a server that restarts", async () => {
  const project = createProject({ "flow.ngraph": FLOW, "nodes.ts": NODES });
  const first = await serve(project);
  const port = new URL(first.url).port;
  const { page, problems } = await open(`${first.url}/studio`);
  await startRun(page, "t");
  await status(page, "paused");
  await first.end();
  await page.getByText("The service does not answer").or(page.getByText("sure asks")).first().waitFor();
  const { url } = await serve(project, port);
  const other = await open(`${url}/studio#/threads/t`);
  await other.page.getByLabel("no", { exact: true }).check();
  await other.page.getByRole("button", { name: "Answer" }).click();
  await status(other.page, "completed");
  // The page that was open all the time shows it without a reload.
  await status(page, "completed");
  expect(await page.getByRole("button", { name: "Answer" }).count()).toBe(0);
  expect([...problems, ...other.problems]).toEqual([]);
});

test("items are counted with their total; the causes of an error are shown; a server that restarts in mid-step resumes", async () => {
  const project = createProject({
    "flow.ngraph": `import { wait, refuse } from "./nodes.ts"
graph flow {
  output done: int[]
  node every = wait(n) for n in [1, 2, 3, 4, 5, 6] into done
  node last = refuse()
  start -> every -> last -> end
}
`,
    "nodes.ts": `import { existsSync } from "node:fs";
export async function wait(n: number): Promise<number> {
  while (n > 2 && !existsSync("go")) await new Promise((resolve) => setTimeout(resolve, 20));
  return n;
}
export async function refuse(): Promise<null> {
  throw new Error("no ink", { cause: new Error("the tray is empty", { cause: "a strike" }) });
}
`,
  });
  const first = await serve(project);
  await createClient({ url: first.url }).graph("flow").start({}, { thread: "t" });
  const { page, problems } = await open(`${first.url}/studio#/threads/t`);
  const mark = page.locator(".picture .mark", { hasText: "2 of 6" });
  await mark.waitFor();
  await first.kill();
  await page.getByText("The service does not answer").waitFor();
  project.write("go", "");
  await serve(project, new URL(first.url).port);
  await status(page, "failed");
  await page.getByText("no ink").first().waitFor();
  expect(await page.locator(".cause").allTextContents()).toEqual([
    "caused by: the tray is empty",
    "caused by: it threw a strike",
  ]);
  expect(problems).toEqual([]);
});

test("a service with tokens asks for one; a phone shows the page without scrolling sideways", async () => {
  const project = createProject({ "flow.ngraph": FLOW, "nodes.ts": NODES });
  project.write("tokens.json", '{ "ada": "0123456789abcdef0123" }');
  const child = project.start(["serve", "flow.ngraph", "--studio", "--port", "0", "--json", "--tokens", "tokens.json"]);
  onTestFinished(() => void child.kill("SIGKILL"));
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  const { url } = JSON.parse(line.toString()) as { url: string };
  const { page, problems } = await open(`${url}/studio`);
  await page.setViewportSize({ width: 360, height: 700 });
  for (const token of ["0123456789abcdef0124", "0123456789abcdef0123"]) {
    await page.getByLabel("Token of the service").fill(token);
    await page.getByRole("button", { name: "Sign in" }).click();
    if (token.endsWith("4")) await page.getByText("The service does not know the token.").waitFor();
  }
  await startRun(page, "t");
  await status(page, "paused");
  expect(await page.locator("html").evaluate((element) => element.scrollWidth)).toBe(360);
  expect(problems).toEqual([]);
});

/** Findings of axe that are serious or critical. */
async function seriousFindings(page: Page): Promise<readonly string[]> {
  await page.evaluate(readFileSync(new URL("../../node_modules/axe-core/axe.min.js", import.meta.url), "utf8"));
  const { violations } = await page.evaluate<{
    violations: { id: string; impact: string; nodes: { html: string }[] }[];
  }>("axe.run()");
  return violations.flatMap(({ id, impact, nodes }) =>
    impact === "serious" || impact === "critical" ? [`${id}: ${nodes[0]?.html}`] : [],
  );
}

test("no serious finding of axe in both themes and at three widths; findings, lines of errors and the test are shown", async () => {
  const wrong = FLOW.replace("n: int", "n: int\n  state never: int = 0").replace(
    "= { twice: twice + 1 } into { twice }",
    "= { twice: twice / (n - 5) + 1, never: 1 } into { twice, never }",
  );
  const { url } = await serve(
    createProject({ "flow.ngraph": wrong.replaceAll(/\bint\b/g, "float"), "nodes.ts": NODES }),
  );
  const client = createClient({ url });
  await client.graph("flow").run({ n: 4 }, { thread: "asks" });
  await client.graph("flow").run({ n: 5 }, { thread: "failed" });
  for (const colorScheme of ["light", "dark"] as const) {
    const { page, problems } = await open(`${url}/studio`);
    await page.emulateMedia({ colorScheme });
    for (const width of [360, 768, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      for (const hash of ["#", "#/threads/asks", "#/threads/failed"]) {
        await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
        await page.locator(hash === "#" ? "table.threads" : ".picture svg").waitFor();
        if (hash !== "#") await page.locator(".checkpoint dl").first().waitFor();
        expect([hash, width, await page.locator("html").evaluate((element) => element.scrollWidth)]).toEqual([
          hash,
          width,
          width,
        ]);
        if (width !== 768) expect([hash, await seriousFindings(page)]).toEqual([hash, []]);
        const directory = process.env["NGRAPH_SCREENSHOTS"];
        const name = `${hash.split("/").at(-1)!.replace("#", "threads")}-${width}-${colorScheme}.png`;
        if (directory !== undefined) await page.screenshot({ path: join(directory, name) });
      }
    }
    await page.locator(".problem", { hasText: "at more (line " }).waitFor();
    expect(await page.locator(".picture").textContent()).toContain("⚠ NG405");
    await page.getByText("Make a test of this thread").click();
    await page.getByText("ngc test --record=failed").waitFor();
    await page.getByRole("button", { name: "Make the test" }).click();
    await page.locator("pre", { hasText: 'test "thread failed" for flow {' }).waitFor();
    const download = await page.getByRole("link", { name: "Download the test" }).getAttribute("href");
    expect(decodeURIComponent(download!)).toContain("expect status failed");
    expect(problems).toEqual([]);
    await page.close();
  }
}, 240_000);

test("thousands of threads and of steps are a bounded number of elements", async () => {
  const steps = isDeep ? 10_000 : 1_500;
  const threads = isDeep ? 5_000 : 250;
  const project = createProject({
    "flow.ngraph": `graph flow {\n  input most: int = 0\n  output n: int = 0\n  node add = n + 1 into n\n  limit steps 20000\n  start -> add\n  add -> add when n < most\n  add -> end otherwise\n}\n`,
  });
  const { url } = await serve(project);
  const client = createClient({ url });
  await client.graph("flow").run({ most: steps }, { thread: "long" });
  for (let at = 0; at < threads; at += 50)
    await Promise.all(Array.from({ length: 50 }, async () => client.graph("flow").run({})));
  const { page, problems } = await open(`${url}/studio`);
  const elements = () => page.locator("body *").count();
  await page.locator("table.threads tbody tr").nth(99).waitFor();
  expect(await elements()).toBeLessThan(1_000);
  for (let at = 100; at < Math.min(threads, 400); at += 100) {
    await page.getByRole("button", { name: "Older threads" }).click();
    await page.getByRole("button", { name: "Newer threads" }).waitFor();
  }
  expect(await elements()).toBeLessThan(1_000);
  // A filter is typed: it needs no key to be taken.
  await page.getByLabel("Label").pressSequentially("kept");
  await page.getByText("No thread fits.").waitFor();
  await client.thread("long").label("kept");
  await page.locator("table.threads tbody tr").waitFor();
  expect(await page.locator("table.threads tbody a").allTextContents()).toEqual(["long"]);
  await page.evaluate("location.hash = '#/threads/long'");
  await page.locator(".rows .row").first().waitFor();
  const size = () => page.locator(".rows .row").first().getAttribute("aria-setsize");
  const earlier = page.getByRole("button", { name: "Earlier checkpoints" });
  for (let before = await size(); (await earlier.count()) > 0; before = await size()) {
    await earlier.click();
    await expect.poll(size, { timeout: 60_000 }).not.toBe(before);
  }
  expect(Number(await size())).toBeGreaterThanOrEqual(steps);
  await page.locator(".rows").evaluate((list) => list.scrollTo(0, list.scrollHeight));
  const last = page.locator(`.rows .row[aria-posinset="${await size()}"] button`);
  await last.click();
  await page.getByRole("heading", { name: "Step -1, input" }).waitFor();
  expect(await elements()).toBeLessThan(1_000);
  expect(problems).toEqual([]);
}, 900_000);

test("a large picture is readable, and is scrolled to where the run waits; the checkpoints stay near", async () => {
  const names = Array.from({ length: 60 }, (_, at) => `collect_documents_${at}`);
  const project = createProject({
    "flow.ngraph": `graph flow {
  output all: string[] = [] reduce append
  output verdict: string
${names.map((name) => `  node ${name} = "x" into all\n`).join("")}
  node sure = ask("Is that right?") into verdict
  start -> ${names.join(", ")}
  all(${names.join(", ")}) -> sure -> end
}
`,
  });
  const { url } = await serve(project);
  await createClient({ url }).graph("flow").run({}, { thread: "t" });
  const { page, problems } = await open(`${url}/studio#/threads/t`);
  await page.locator(".picture g.node.is-waiting").waitFor({ state: "attached" });
  for (const width of [1280, 360]) {
    await page.setViewportSize({ width, height: 800 });
    await page.reload();
    const place = page.getByRole("group", { name: "Picture of flow" });
    const waiting = page.locator(".picture g.node.is-waiting");
    await waiting.waitFor({ state: "attached" });
    const boxOf = async (of: typeof place) => (await of.boundingBox())!;
    await expect
      .poll(async () => {
        const [node, frame] = [await boxOf(waiting), await boxOf(place)];
        return (
          node.x >= frame.x - 1 &&
          node.y >= frame.y - 1 &&
          node.x + node.width <= frame.x + frame.width + 1 &&
          node.y + node.height <= frame.y + frame.height + 1
        );
      })
      .toBe(true);
    expect((await boxOf(place)).height).toBeLessThanOrEqual(720);
    // The text of a node is at least 9 pixels high.
    expect((await boxOf(page.locator(".picture g.node text").first())).height).toBeGreaterThanOrEqual(9);
    expect(await page.locator("html").evaluate((element) => element.scrollWidth)).toBe(width);
    expect(await seriousFindings(page)).toEqual([]);
  }
  expect(problems).toEqual([]);
}, 300_000);

test("the page is small, and is served with `--studio` only", async () => {
  const files = ["index.html", "studio.js", "studio.css"].map((file) =>
    readFileSync(join(PROGRAM, "..", "studio", file)),
  );
  expect(files.reduce((sum, file) => sum + gzipSync(file).length, 0)).toBeLessThan(50_000);
  const project = createProject({ "flow.ngraph": FLOW, "nodes.ts": NODES });
  const { url } = await serve(project);
  const response = await fetch(`${url}/studio`);
  expect(response.headers.get("content-security-policy")).toContain("default-src 'none'");
  const child = project.start(["serve", "flow.ngraph", "--port", "0", "--json"]);
  onTestFinished(() => void child.kill("SIGKILL"));
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  const without = JSON.parse(line.toString()) as { url: string };
  expect((await fetch(`${without.url}/studio`)).status).toBe(404);
});
