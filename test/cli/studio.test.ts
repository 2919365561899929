/** The studio of the built program in a real browser. */
import { once } from "node:events";
import { gzipSync } from "node:zlib";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { createClient } from "../../service/client.ts";
import { launchBrowser, openPage } from "../support/browser.ts";
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
  node sure = ask(\`Is \${twice} right for \${title}?\`, choices: ["yes", "no"]) into verdict
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

async function serve(project: Project, port = "0"): Promise<{ url: string; end: () => Promise<void> }> {
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
  await page.getByLabel("twice, as JSON").fill("70");
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

  // A thread of its own.
  await checkpoint(page, "twofold").first().click();
  await page.getByLabel("New thread from here").fill("copy");
  await page.getByRole("button", { name: "Fork" }).click();
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
  await page.locator(".picture svg").waitFor();
  expect(await page.locator("main b, main img, main script").count()).toBe(0);
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

test("a service with tokens asks for one; a phone shows the page without scrolling sideways", async () => {
  const project = createProject({ "flow.ngraph": FLOW, "nodes.ts": NODES });
  project.write("tokens.json", '{ "ada": "0123456789abcdef0123" }');
  const child = project.start(["serve", "flow.ngraph", "--studio", "--port", "0", "--json", "--tokens", "tokens.json"]);
  onTestFinished(() => void child.kill("SIGKILL"));
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  const { url } = JSON.parse(line.toString()) as { url: string };
  const { page, problems } = await open(`${url}/studio`);
  await page.setViewportSize({ width: 360, height: 700 });
  await page.getByLabel("Token of the service").fill("0123456789abcdef0123");
  await page.getByRole("button", { name: "Sign in" }).click();
  await startRun(page, "t");
  await status(page, "paused");
  expect(await page.locator("html").evaluate((element) => element.scrollWidth)).toBe(360);
  expect(problems).toEqual([]);
});

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
