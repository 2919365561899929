/** The playground of the built program in a real browser. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { toFragment } from "../../playground/share.ts";
import { TOUR } from "../../playground/tour.ts";
import { launchBrowser, openPage } from "../support/browser.ts";
import { createProject, PROGRAM } from "./project.ts";

const MARKUP = "<img src=x onerror=alert(1)>";

let browser: Browser;
let url: string;
let end: () => Promise<number>;

beforeAll(async () => {
  browser = await launchBrowser();
  const child = spawn(process.execPath, [PROGRAM, "playground", "--json"], { stdio: ["ignore", "pipe", "ignore"] });
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  ({ url } = JSON.parse(line.toString()) as { url: string });
  end = async () => {
    const exited = once(child, "exit");
    child.kill("SIGTERM");
    const [code] = (await exited) as [number];
    return code;
  };
});

afterAll(async () => {
  await browser.close();
  expect(await end()).toBe(0);
});

const open = async (fragment = "", options = {}) => {
  const opened = await openPage(browser, `${url}/${fragment}`, options);
  await opened.page.locator(".views").waitFor();
  return opened;
};
const share = (source: string, more: Readonly<Record<string, string>> = {}) =>
  toFragment({ main: "graph.ngraph", files: { "graph.ngraph": source, ...more } });
const text = (page: Page, name: string): Promise<string> =>
  page.getByLabel(name, { exact: true }).evaluate((element) => (element as unknown as { innerText: string }).innerText);
const write = (page: Page, name: string, value: string) => page.getByLabel(name, { exact: true }).fill(value);
const tab = (page: Page, name: RegExp) => page.locator(".views .tabs button").filter({ hasText: name }).click();

test("the tour shows what each step says, and ends after ten", async () => {
  const { page, problems } = await open();
  await page.locator(".picture g.node title", { hasText: "greet" }).waitFor({ state: "attached" });
  for (const [index, { title, shows }] of TOUR.entries()) {
    await page.getByRole("heading", { name: `${index + 1} of 10: ${title}` }).waitFor();
    await page.locator(".picture svg").waitFor();
    if (shows !== undefined) {
      await tab(page, /^Findings/);
      await page.locator(".finding.is-error", { hasText: shows }).waitFor();
      await tab(page, /^Tour/);
    }
    if (index + 1 < TOUR.length) await page.getByRole("button", { name: /^Next: / }).click();
  }
  expect(await page.getByRole("button", { name: /^Next: / }).count()).toBe(0);
  expect(problems).toEqual([]);
});

test("both spellings follow each other, and a text with syntax errors leaves the other one", async () => {
  const { page, problems } = await open();
  await expect.poll(() => text(page, "graph.ngraph.yaml")).toContain("graph: hello");
  await write(page, "graph.ngraph", "graph one { output a: int\n node n = 1 into a\n start -> n }");
  await expect.poll(() => text(page, "graph.ngraph.yaml")).toContain("graph: one");
  await write(page, "graph.ngraph", "graph one {");
  await page.getByText("this one is older").waitFor();
  await write(
    page,
    "graph.ngraph.yaml",
    "graph: two\noutput: { a: int }\nnodes: { m: { expr: 2, into: a } }\nedges: [start -> m]\n",
  );
  await expect.poll(() => text(page, "graph.ngraph")).toContain("node m = 2 into a");
  await page.locator(".picture g.node title", { hasText: "m" }).waitFor({ state: "attached" });
  await expect.poll(() => page.getByText("this one is older").count()).toBe(0);
  expect(problems).toEqual([]);
});

test("a finding has its place and its fix, and its run plays on the picture", async () => {
  const [choice, join] = [TOUR.find(({ shows }) => shows === "NG501"), TOUR.find(({ shows }) => shows === "NG302")];
  const { page, problems } = await open(await share(choice?.source ?? ""));
  await page.locator(".finding.is-error").first().click();
  await page
    .getByRole("button", { name: /^Fix: / })
    .first()
    .click();
  await expect.poll(() => text(page, "graph.ngraph")).toContain('"other" -> end');
  await page.locator(".verdicts li.good").first().waitFor();
  await expect.poll(() => page.locator(".finding.is-error").count()).toBe(0);

  await write(page, "graph.ngraph", join?.source ?? "");
  await page.getByRole("button", { name: "Play the run that shows it" }).click();
  await page.locator(".picture g.node.is-done title", { hasText: "ready" }).waitFor({ state: "attached" });
  await page.getByText("step 2 of 2").waitFor();
  await page.getByRole("button", { name: "Previous step" }).click();
  await page.locator(".picture g.node.is-running title", { hasText: "ready" }).waitFor({ state: "attached" });
  expect(problems).toEqual([]);
});

test("on a narrow page, the picture and the steps of a run come into view", async () => {
  const join = TOUR.find(({ shows }) => shows === "NG302");
  const { page } = await open(await share(join?.source ?? ""), { viewport: { width: 390, height: 844 } });
  await page.getByRole("button", { name: "Play the run that shows it" }).click();
  await page.getByText("step 2 of 2").waitFor();
  const boxes = await Promise.all([".picture", ".player"].map((part) => page.locator(part).boundingBox()));
  expect(boxes.map((box) => box !== null && box.y >= -1 && box.y < 844)).toEqual([true, true]);
});

test("a large picture is scrolled, and follows the step that plays", async () => {
  const names = Array.from({ length: 110 }, (_, index) => `n${index}`);
  const nodes = names.map((name) => `  node ${name} = n + 1 into n\n`).join("");
  const { page, problems } = await open(
    await share(`graph long {\n  output n: int = 0\n${nodes}  start -> ${names.join(" -> ")} -> end\n}\n`),
  );
  const boxOf = async (name: string) => {
    const [node, frame] = await Promise.all([
      page
        .locator("g.node")
        .filter({ has: page.locator("title", { hasText: new RegExp(`^${name}$`) }) })
        .boundingBox(),
      page.locator(".picture > div").boundingBox(),
    ]);
    return { node: node!, frame: frame! };
  };
  await page.locator(".picture svg").waitFor();
  const { node: first, frame } = await boxOf("n0");
  // Text of 11 pixels, and a line above it.
  expect(first.height).toBeGreaterThan(22);
  expect(first.y).toBeLessThan(frame.y + frame.height);
  await page.getByRole("button", { name: "Play the run that shows it" }).click();
  const step = page.locator(".steps button").nth(80);
  await step.click();
  await expect
    .poll(async () => {
      const { node, frame: shown } = await boxOf("n80");
      return node.y > shown.y && node.y + node.height < shown.y + shown.height;
    })
    .toBe(true);
  await page.getByRole("button", { name: "First step" }).click();
  await expect
    .poll(async () => {
      const [row, list] = await Promise.all(
        [".steps li:first-child", ".steps"].map((part) => page.locator(part).boundingBox()),
      );
      return row!.y >= list!.y - 1;
    })
    .toBe(true);
  expect(problems).toEqual([]);
});

test("a project that is opened while the page draws has an editor with all that it can do", async () => {
  const { page, problems } = await open();
  await page.locator(".picture svg").waitFor();
  // The page draws once more, before the browser has painted the new editors.
  await page.evaluate(`for (const pane of document.querySelectorAll(".pane"))
    new MutationObserver(() => {
      for (const tab of document.querySelectorAll(".views .tabs button")) if (tab.textContent === "Run") tab.click();
    }).observe(pane, { childList: true });`);
  await page.getByRole("button", { name: /^Next: / }).click();
  await expect.poll(() => text(page, "graph.ngraph")).toContain("graph shout");
  await expect.poll(() => text(page, "graph.ngraph.yaml")).toContain("graph: shout");
  await page.locator(".cm-line", { hasText: "node raise" }).first().getByText("upper").hover();
  await page.locator(".cm-tooltip", { hasText: "upper" }).waitFor();
  expect(problems).toEqual([]);
});

test("the editor completes and explains what it contains", async () => {
  const { page, problems } = await open(
    await share('graph g {\n  input mood: "good" | "bad"\n  node n = print(mood)\n  start -> n\n}\n'),
  );
  await page.locator(".cm-line", { hasText: "node n" }).first().getByText("print").hover();
  await page.locator(".cm-tooltip", { hasText: "print" }).waitFor();
  await page.getByLabel("graph.ngraph", { exact: true }).click();
  await page.keyboard.press("Control+End");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("Home");
  await page.keyboard.type("  node m = pri");
  await page.locator(".cm-tooltip-autocomplete li", { hasText: "print" }).first().waitFor();
  expect(problems).toEqual([]);
});

test("a graph runs with given results, pauses, and is answered", async () => {
  const source = `import { search } from "./nodes.ts"

graph desk {
  input question: string
  output answer: string
  state found: string[]
  state verdict: "yes" | "no"
  node look = search(question) into found
  node sure = ask(\`Send \${len(found)} hits?\`) into verdict
  node rest = sleep(2h) { pause before }
  node send = \`\${question}: \${found[0] ?? "none"}\` into answer
  start -> look -> sure
  sure -> match verdict { "yes" -> rest  "no" -> end }
  rest -> send
}
`;
  const nodes = "export async function search(question: string): Promise<string[]> { return [question]; }\n";
  const { page, problems } = await open(await share(source, { "nodes.ts": nodes }));
  await page.getByRole("tab", { name: "nodes.ts" }).waitFor();
  await tab(page, /^Run/);
  await page.getByLabel("question").fill("lamp");
  await page.getByRole("button", { name: "Run desk" }).click();
  await page.getByText("question: lamp is not valid JSON").waitFor();
  await page.getByLabel("question").fill(JSON.stringify(MARKUP));
  await page.getByLabel("look").fill('["a hit", "another"]');
  await page.getByRole("button", { name: "Run desk" }).click();
  await page.getByText("Send 2 hits?").waitFor();
  await page.locator(".picture g.node.is-waiting title", { hasText: "sure" }).waitFor({ state: "attached" });
  await page.getByRole("button", { name: "yes", exact: true }).click();
  await page.getByText("rest waits").waitFor();
  for (const kind of ["before", "timer"]) {
    await page.getByText(`waits (${kind})`).waitFor();
    await page.getByRole("button", { name: "Continue" }).click();
  }
  await page.locator("h3 .status", { hasText: "completed" }).waitFor();
  await page.locator("pre", { hasText: `"answer": "${MARKUP}: a hit"` }).waitFor();
  // CodeMirror puts images without a source beside its widgets.
  expect(await page.locator("main img[src]").count()).toBe(0);
  expect(problems).toEqual([]);
});

test("a second click sends no second signal", async () => {
  const source = `graph gate {
  output first: string
  output second: string
  node a = receive("go") into first
  node b = receive("go") into second
  start -> a -> b -> end
}
`;
  const { page, problems } = await open(await share(source));
  await tab(page, /^Run/);
  await page.getByRole("button", { name: "Run gate" }).click();
  await page.locator(".question", { hasText: "a waits" }).waitFor();
  await page.locator(".waits textarea").fill('"come"');
  await page.evaluate(`const send = document.querySelector(".waits button.primary"); send.click(); send.click();`);
  await page.locator(".question", { hasText: "b waits" }).waitFor();
  await expect.poll(() => page.locator("h3 .status").innerText()).toBe("paused");
  expect(problems).toEqual([]);
});

test("the deadline of a question passes by a button", async () => {
  const source = `graph late {
  output said: string
  node sure = ask("Really?", choices: ["yes"]) into said { within 3d }
  node gone = "nobody answered" into said
  start -> sure -> end
  sure -> gone on error when error?.code == "NG_NODE_TIMEOUT"
}
`;
  const { page, problems } = await open(await share(source));
  await tab(page, /^Run/);
  await page.getByRole("button", { name: "Run late" }).click();
  await page.locator(".question", { hasText: "Really?" }).waitFor();
  await page.getByRole("button", { name: "Let the deadline pass" }).click();
  await page.locator("h3 .status", { hasText: "completed" }).waitFor();
  await page.locator("pre", { hasText: '"said": "nobody answered"' }).waitFor();
  await expect.poll(() => page.getByRole("button", { name: "Let the deadline pass" }).count()).toBe(0);
  expect(problems).toEqual([]);
});

test("a graph is shared by its address; damaged and hostile addresses are refused with a message", async () => {
  const { page, problems } = await open();
  await write(page, "graph.ngraph", "graph shared { output a: int\n node n = 1 into a\n start -> n }");
  await page.getByRole("button", { name: "Share" }).click();
  await page.getByText(/The address of this/).waitFor();
  const address = page.url();
  const second = await openPage(browser, address);
  await expect.poll(() => text(second.page, "graph.ngraph")).toContain("graph shared");

  const cut = await open(new URL(address).hash.slice(0, -9));
  await cut.page.getByRole("alert").filter({ hasText: "cannot be opened: it is damaged" }).waitFor();
  // The page works all the same.
  await cut.page.locator(".picture svg").waitFor();
  const hostile = await share(
    `/// ${MARKUP} [x](javascript:alert(1))\ngraph g { node ${"n"} = print("${MARKUP}") start -> n }`,
  );
  const third = await open(hostile);
  await third.page.locator(".picture svg").waitFor();
  await third.page.locator(".cm-line", { hasText: "graph g" }).getByText("g", { exact: true }).first().hover();
  await third.page.waitForTimeout(600);
  expect(await third.page.locator("main img[src], main a, main script").count()).toBe(0);
  expect([...problems, ...second.problems, ...cut.problems, ...third.problems]).toEqual([]);
});

test("a reload keeps the edits of the tab, under the address where they were made", async () => {
  const { page, problems } = await open();
  const source = "graph kept { output a: int\n node n = 1 into a\n start -> n }";
  await write(page, "graph.ngraph", source);
  await page.reload();
  await page.getByText("Your edits in this tab are back.", { exact: false }).waitFor();
  await expect.poll(() => text(page, "graph.ngraph")).toBe(source);
  // A step of the tour replaces them, for the next reload, too.
  await tab(page, /^Tour/);
  await page.getByRole("button", { name: /^Next: / }).click();
  await expect.poll(() => text(page, "graph.ngraph")).not.toContain("graph kept");
  await page.reload();
  await page.getByRole("heading", { name: /^1 of 10/ }).waitFor();
  expect(await text(page, "graph.ngraph")).not.toContain("graph kept");
  // Another address opens its own graph.
  await write(page, "graph.ngraph", source);
  await page.goto(`${url}/${await share("graph other { output a: int\n node n = 1 into a\n start -> n }")}`);
  await page.getByText("Your edits of the other graph are kept", { exact: false }).waitFor();
  await expect.poll(() => text(page, "graph.ngraph")).toContain("graph other");
  await page.reload();
  await expect.poll(() => text(page, "graph.ngraph")).toContain("graph other");
  await page.goBack();
  await page.getByText("Your edits in this tab are back.", { exact: false }).waitFor();
  await expect.poll(() => text(page, "graph.ngraph")).toBe(source);
  expect(problems).toEqual([]);
});

test("an editor that the keyboard reaches has a visible ring", async () => {
  const { page } = await open();
  const ring = (): Promise<unknown> =>
    page.evaluate(`(() => {
      const { content, borderTopWidth } = getComputedStyle(document.querySelector(".cm-editor"), "::after");
      return content === "none" ? "none" : borderTopWidth;
    })()`);
  expect(await ring()).toBe("none");
  // The editor takes its class some milliseconds after the focus: only the focused element tells where Tab has come to.
  await page.locator(".cm-editor .cm-content").waitFor();
  const reached = (): Promise<unknown> => page.evaluate(`document.activeElement?.closest(".cm-editor") != null`);
  for (let press = 0; press < 30 && !(await reached()); press++) await page.keyboard.press("Tab");
  expect(await reached()).toBe(true);
  await expect.poll(ring).toBe("2px");
});

test("every example opens without errors", async () => {
  const { page, problems } = await open();
  await page.locator("header option").nth(3).waitFor({ state: "attached" });
  const names = await page
    .locator("header option")
    .evaluateAll((all) => all.map((each) => (each as unknown as { value: string }).value));
  expect(names.length).toBeGreaterThan(15);
  for (const name of names.filter((each) => each !== "")) {
    await page.getByLabel("Example").selectOption(name);
    await page.getByText("Findings (0)").waitFor();
    await page.locator(".picture svg").waitFor();
  }
  expect(problems).toEqual([]);
});

test("a phone shows the page without scrolling sideways", async () => {
  const { page } = await open("", { viewport: { width: 360, height: 700 } });
  await page.locator(".picture svg").waitFor();
  expect(await page.locator("html").evaluate((element) => element.scrollWidth)).toBe(360);
});

test("`-o` writes files that load nothing from elsewhere, and refuses what it cannot write", () => {
  const project = createProject({ file: "" });
  expect(project.ngc(["playground", "-o", "out"]).status).toBe(0);
  // A page of the playground is replaced, other files of the same names are not.
  project.write("out/playground.css", "an older version");
  expect(project.ngc(["playground", "-o", "out"]).status).toBe(0);
  expect(project.read("out/playground.css")).not.toContain("older");
  project.write("site/index.html", "<title>mine</title>");
  expect(project.ngc(["playground", "-o", "site"])).toMatchObject({
    status: 64,
    stderr: expect.stringContaining("index.html exists and does not belong to a page of the playground"),
  });
  expect([project.read("site/index.html"), readdirSync(join(project.directory, "site"))]).toEqual([
    "<title>mine</title>",
    ["index.html"],
  ]);
  project.write("linked/keep", "");
  symlinkSync(join(project.directory, "site/index.html"), join(project.directory, "linked/index.html"));
  expect(project.ngc(["playground", "-o", "linked"])).toMatchObject({
    status: 64,
    stderr: expect.stringContaining("it is a symbolic link"),
  });
  expect(project.read("site/index.html")).toBe("<title>mine</title>");
  const names = readdirSync(join(project.directory, "out"));
  expect(names).toEqual(expect.arrayContaining(["index.html", "playground.css", "playground.js", "worker.js"]));
  const bytes = (name: string): number => gzipSync(readFileSync(join(project.directory, "out", name))).length;
  // What the first paint waits for is in the page itself and its styles.
  expect(bytes("index.html") + bytes("playground.css")).toBeLessThan(10_000);
  expect(bytes("playground.js")).toBeLessThan(260_000);
  expect(bytes("worker.js")).toBeLessThan(650_000);
  const refused = project.ngc(["playground", "-o", "file"]);
  expect(refused.status).toBe(64);
  expect(refused.stderr).toContain("cannot write to file");
  expect(project.ngc(["playground", "--port", "70000"]).stderr).toContain("a number from 0 to 65535");
  expect(existsSync(join(PROGRAM, "..", "playground", "index.html"))).toBe(true);
});

test("the server sends its files and nothing else", async () => {
  const page = await fetch(url);
  expect(page.headers.get("x-frame-options")).toBe("DENY");
  expect(await page.text()).toContain("Content-Security-Policy");
  for (const path of ["/../package.json", "/%2e%2e/package.json", "/nothing.js", "/__proto__"]) {
    expect((await fetch(`${url}${path}`)).status).toBe(404);
  }
  expect((await fetch(url, { method: "POST" })).status).toBe(405);
});
