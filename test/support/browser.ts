/** A real browser for tests of pages. */
import chromium from "@sparticuz/chromium";
import { chromium as playwright, type Browser, type Page } from "playwright-core";
import { onTestFinished } from "vitest";

export async function launchBrowser(): Promise<Browser> {
  return playwright.launch({
    executablePath: await chromium.executablePath(),
    args: ["--no-sandbox", "--disable-gpu"],
  });
}

/** A page that notes errors, also those that an editor has caught, dialogs and what its policy refuses. */
export async function openPage(
  browser: Browser,
  url: string,
  options: Parameters<Browser["newPage"]>[0] = {},
): Promise<{ page: Page; problems: string[] }> {
  const page = await browser.newPage(options);
  onTestFinished(() => page.close());
  page.setDefaultTimeout(20_000);
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
