/**
 * Makes the pictures of docs/images from the built program (`npm run build` first): the studio with the example of expenses, in both themes
 * and at three widths, and the page of `ngc graph`. An argument names another directory, to look at the pictures first.
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import chromium from "@sparticuz/chromium";
import { chromium as playwright } from "playwright-core";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const output = resolve(process.argv[2] ?? join(root, "docs/images"));
const program = join(root, "dist/cli/ngc.js");
const directory = mkdtempSync(join(tmpdir(), "ngraph-screenshots-"));
cpSync(join(root, "examples/expense-approval"), directory, { recursive: true });
rmSync(join(directory, "expense-approval.yaml"));
/** A plan whose run is shown beside its schedule. */
writeFileSync(
  join(directory, "release.ngraph"),
  `plan release {
  max parallel 2
  task build = shell("sleep 1; echo built") { estimate 1s }
  task test = shell("echo 512 passed; sleep 2") after build { estimate 1500ms }
  task docs = shell("sleep 0.5; echo no such page: stores.md >&2; exit 1") after build { estimate 1s }
  task publish = shell("echo published") after test, docs { estimate 500ms }
}
`,
);
spawnSync(process.execPath, [program, "run", "release.ngraph"], { cwd: directory });

const server = spawn(process.execPath, [program, "studio", "--port", "0", "--json"], {
  cwd: directory,
  stdio: ["ignore", "pipe", "ignore"],
});
const browser = await playwright.launch({ executablePath: await chromium.executablePath(), args: ["--no-sandbox"] });
try {
  const [line] = await once(server.stdout, "data");
  const { url } = JSON.parse(line.toString());
  await makeThreads(url);
  const studio = (hash) => `${url}/studio#${hash}`;
  await shoot("studio-threads", studio(""), { width: 1280, height: 560, ready: "table.threads tbody tr" });
  await shoot("studio-phone", studio("/threads/expense-311"), { width: 360, height: 760, ready: ".picture .mark" });
  await shoot("studio-dark", studio("/threads/expense-312"), {
    width: 1280,
    height: 1500,
    colorScheme: "dark",
    ready: ".picture .mark",
    prepare: compareBranches,
  });
  await shoot("studio-plan", studio("/plans"), {
    width: 768,
    height: 900,
    ready: "table.threads tbody a",
    prepare: async (page) => {
      await page.locator("table.threads tbody a").first().click();
      await page.getByRole("button", { name: "docs" }).click();
      await page.getByLabel("Log of docs").filter({ hasText: "no such page" }).waitFor();
    },
  });
  const graph = ["graph", "expense-approval.ngraph", "--findings", "-o", "expense.html"];
  spawnSync(process.execPath, [program, ...graph], { cwd: directory });
  await shoot("picture", pathToFileURL(join(directory, "expense.html")).href, {
    width: 1280,
    height: 800,
    ready: "#view svg",
    prepare: async (page) => {
      await page.locator('svg:not([hidden]) g.node[data-node="transfer"]').focus();
      await page.keyboard.press("Enter");
    },
  });
} finally {
  server.kill();
  await browser.close();
  rmSync(directory, { recursive: true, force: true });
}

/** Expenses that are paid, wait, and have been decided twice. */
async function makeThreads(url) {
  const post = async (path, body) => {
    const answer = await fetch(`${url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
    return answer.json();
  };
  const start = (thread, employee, amount, purpose) =>
    post("/graphs/expense_approval/runs", { input: { expense: { employee, amount, purpose } }, thread });
  const answer = async ({ thread, pauses }, value) =>
    post(`/threads/${thread}/resume`, { answers: { [pauses[0].id]: value } });
  await start("expense-309", "Bob", 9.5, "a lunch");
  await answer(await start("expense-310", "Ada", 900, "a conference"), "approve");
  await start("expense-311", "Grace", 420, "a train to the conference");
  const asked = await start("expense-312", "Ada", 260, "a second monitor");
  await answer(asked, "reject");
  const before = asked.checkpoint;
  await post("/threads/expense-312/fork", { from: before });
  const again = await (await fetch(`${url}/threads/expense-312`)).json();
  await answer(again, "approve");
}

/** The two decisions of a thread, side by side. */
async function compareBranches(page) {
  const checkpoint = (text) => page.locator(".timeline li button", { hasText: text }).first();
  await checkpoint("rejected").click();
  await page.getByRole("button", { name: "Compare others with this" }).click();
  await checkpoint("transfer").click();
  await page.getByText("Steps since they parted").waitFor();
}

async function shoot(name, url, { width, height, colorScheme = "light", ready, prepare }) {
  const page = await browser.newPage({ viewport: { width, height }, colorScheme, locale: "en-GB" });
  await page.goto(url);
  await page.locator(ready).first().waitFor();
  await prepare?.(page);
  // Fonts, and the marks of the picture.
  await page.waitForTimeout(500);
  await page.screenshot({ path: join(output, `${name}.png`) });
  await page.close();
  console.log(`${name}.png`);
}
