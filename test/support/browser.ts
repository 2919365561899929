/** A real browser for tests of pages. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium as playwright, type Browser, type BrowserContextOptions, type Page } from "playwright-core";
import { onTestFinished } from "vitest";

/** How long a busy machine may take for what a page does. */
const PATIENCE_MS = 90_000;

export async function launchBrowser(): Promise<Browser> {
  return playwright.launch({
    executablePath: unpackedBrowser(),
    args: ["--no-sandbox", "--disable-gpu"],
    timeout: PATIENCE_MS,
  });
}

/** A page without limits that a busy machine exceeds. */
export async function newPage(browser: Browser, options: BrowserContextOptions = {}): Promise<Page> {
  const page = await browser.newPage(options);
  page.setDefaultTimeout(PATIENCE_MS);
  return page;
}

/** A page that notes errors, also those that an editor has caught, dialogs and what its policy refuses. */
export async function openPage(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<{ page: Page; problems: string[] }> {
  const page = await newPage(browser, options);
  onTestFinished(() => page.close());
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("dialog", (dialog) => {
    problems.push(dialog.message());
    void dialog.dismiss();
  });
  page.on("console", (message) => {
    if (/Content Security Policy|plugin crashed/.test(message.text())) problems.push(message.text());
  });
  await page.goto(url);
  return { page, problems };
}

/**
 * The program of the browser, which its package unpacks into the directory for temporary files: here into one of its own, whose name it gets when
 * it is whole. Otherwise a second process would start a program that the first is still writing.
 */
function unpackedBrowser(): string {
  const entry = createRequire(import.meta.url).resolve("@sparticuz/chromium");
  const { version } = createRequire(entry)("../../package.json") as { readonly version: string };
  const place = join(tmpdir(), `ngraph-chromium-${version}-${process.getuid?.() ?? ""}`);
  if (!existsSync(place)) {
    const own = mkdtempSync(join(tmpdir(), "ngraph-chromium-"));
    const unpack = `import(${JSON.stringify(pathToFileURL(entry).href)}).then((m) => m.default.executablePath())`;
    execFileSync(process.execPath, ["-e", unpack], { env: { ...process.env, NODE_OPTIONS: "", TMPDIR: own } });
    try {
      renameSync(own, place);
    } catch (error) {
      // Another process has made it in the meantime.
      if (!existsSync(place)) throw error;
      rmSync(own, { recursive: true, force: true });
    }
  }
  return join(place, "chromium");
}
