/** The built site in a browser: no dead link, no request to elsewhere, both themes, narrow pages, and the search. */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { launchBrowser, newPage } from "../support/browser.ts";

const HTML = "dist-site/html";
const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
};

let server: Server;
let browser: Browser;
let address = "";
const problems: string[] = [];

beforeAll(async () => {
  execFileSync(process.execPath, ["node_modules/vitepress/bin/vitepress.js", "build", "site"], { stdio: "pipe" });
  server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? "", "http://localhost").pathname);
    const file = join(HTML, path.endsWith("/") ? `${path}index.html` : path);
    if (!existsSync(file)) return void response.writeHead(404).end();
    response.setHeader("content-type", TYPES[extname(file)] ?? "application/octet-stream");
    response.end(readFileSync(file));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  browser = await launchBrowser();
}, 480_000);

afterAll(async () => {
  await browser?.close();
  server?.close();
});

async function open(path: string, width: number, colorScheme: "light" | "dark"): Promise<Page> {
  const page = await newPage(browser, { viewport: { width, height: 900 }, colorScheme });
  page.on("request", (request) => {
    if (!request.url().startsWith(address) && !request.url().startsWith("data:")) problems.push(request.url());
  });
  page.on(
    "response",
    (response) => response.status() >= 400 && problems.push(`${response.status()} ${response.url()}`),
  );
  page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
  page.on("pageerror", (error) => problems.push(error.message));
  await page.goto(address + path);
  return page;
}

test("every link of every page leads to a page of the site, and to a place in it", () => {
  const pages = new Map(
    readdirSync(HTML, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".html"))
      .map((name) => [`/${name.replaceAll("\\", "/")}`, readFileSync(join(HTML, name), "utf8")]),
  );
  expect(pages.size).toBeGreaterThan(150);
  const ids = new Map(
    [...pages].map(([path, html]) => [path, new Set([...html.matchAll(/\sid="([^"]*)"/g)].map(([, id]) => id))]),
  );
  const broken = new Set<string>();
  for (const [path, html] of pages) {
    for (const [, target = ""] of html.matchAll(/\shref="([^"]*)"/g)) {
      const { origin, pathname, hash } = new URL(target, `http://site${path}`);
      if (origin !== "http://site") continue;
      const file = decodeURIComponent(pathname.endsWith("/") ? `${pathname}index.html` : pathname);
      const anchor = decodeURIComponent(hash.slice(1));
      const isThere = pages.has(file) ? anchor === "" || ids.get(file)?.has(anchor) : existsSync(join(HTML, file));
      if (isThere !== true) broken.add(`${path}: ${target}`);
    }
  }
  expect([...broken]).toEqual([]);
});

test.each(["light", "dark"] as const)("the landing page has the theme %s, and its graph in colours", async (scheme) => {
  const page = await open("/", 1280, scheme);
  await page.waitForSelector(".picture svg");
  expect(await page.evaluate("document.documentElement.classList.contains('dark')")).toBe(scheme === "dark");
  // Light text on a dark ground, or the reverse.
  const lightness = `(element, key) => Number(getComputedStyle(element)[key].match(/\\d+/)[0])`;
  const [text, ground] = (await page.evaluate(
    `[(${lightness})(document.querySelector(".picture text"), "fill"), (${lightness})(document.body, "backgroundColor")]`,
  )) as [number, number];
  expect(scheme === "dark" ? text - ground : ground - text).toBeGreaterThan(120);
  const colours = await page.evaluate(
    `new Set([...document.querySelectorAll(".language-ngraph code span span")].map((e) => getComputedStyle(e).color)).size`,
  );
  expect(colours).toBeGreaterThan(3);
  await page.close();
});

test.each(["/", "/comparison.html", "/grammar.html", "/diagnostics/NG301.html", "/examples/trip.html"])(
  "%s fits on a narrow screen",
  async (path) => {
    const page = await open(path, 375, "light");
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(375);
    await page.close();
  },
);

/** A page with its search open. */
async function openSearch(): Promise<{ page: Page; input: Locator }> {
  const page = await open("/guide.html", 1280, "light");
  const input = page.locator("input.search-input");
  // A page that is not active yet takes no key.
  await vi.waitUntil(
    async () => {
      if ((await input.count()) > 0) return true;
      await page.keyboard.press("Control+k");
      return input.waitFor({ timeout: 2_000 }).then(
        () => true,
        () => false,
      );
    },
    { timeout: 240_000 },
  );
  return { page, input };
}

test("the search finds a diagnostic without a network, and leads to it", async () => {
  const { page, input } = await openSearch();
  await input.fill("barrier can never complete");
  await page.locator(".VPLocalSearchBox .result").first().click();
  await page.waitForURL(/NG301/);
  await page.locator("h1", { hasText: "NG301" }).waitFor();
  await page.close();
});

test.each([
  ["streaming", /stream/i],
  ["versioning", /version/i],
  ["deploying", /deploy/i],
])("the search for %s finds what is said in other forms of the word", async (word, found) => {
  const { page, input } = await openSearch();
  await input.fill(word);
  await page.locator(".VPLocalSearchBox .result", { hasText: found }).first().waitFor();
  await page.close();
});

test("no page had an error, or a request to another host", () => expect(problems).toEqual([]));
