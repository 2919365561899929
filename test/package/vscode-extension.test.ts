/** The built extension for Visual Studio Code: its package, its commands, and its page in a real browser. */
import { execFileSync, spawn } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import {
  createProtocolConnection,
  StreamMessageReader,
  StreamMessageWriter,
  type CodeLens,
  type DocumentSymbol,
  type ProtocolConnection,
} from "vscode-languageserver-protocol/node";
import { findSymbol } from "../../editors/vscode/source/find-symbol.ts";
import { readTestRun } from "../../editors/vscode/source/test-results.ts";
import { previewPage } from "../../editors/vscode/source/preview-page.ts";
import { createProject, PROGRAM } from "../cli/project.ts";
import { launchBrowser, newPage } from "../support/browser.ts";

const ROOT = join(import.meta.dirname, "../..");
const FOLDER = join(ROOT, "editors/vscode");
const TEXT = `graph trip {
  output o: string = ""
  node book = "<b>" into o
  node car = "x" into o
  start -> book -> car -> end
}
test "books" for trip {
  expect o == "x"
}
test "fails" for trip {
  expect o == "y"
}
`;

let directory = "";

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "ngraph-vscode-"));
  // A proxy that refuses: the package is made without network.
  execFileSync(process.execPath, ["scripts/build-vscode.mjs", join(directory, "ngraph.vsix")], {
    cwd: ROOT,
    env: { ...process.env, HTTP_PROXY: "http://127.0.0.1:1", HTTPS_PROXY: "http://127.0.0.1:1" },
    stdio: "pipe",
  });
}, 300_000);

afterAll(() => {
  rmSync(directory, { recursive: true, force: true });
});

test("vsce packs the extension, with the grammar of the language", async () => {
  const archive = readFileSync(join(directory, "ngraph.vsix"));
  expect(archive.subarray(0, 2).toString()).toBe("PK");
  // The bundle has the client; nothing else is large.
  expect(archive.length).toBeLessThan(400_000);
  const { listFiles, PackageManager } = await import("@vscode/vsce");
  const files = await listFiles({ cwd: FOLDER, packageManager: PackageManager.None });
  expect([...files].sort()).toEqual([
    "LICENSE",
    "README.md",
    "dist/extension.cjs",
    "dist/ngraph.tmLanguage.json",
    "language-configuration.json",
    "media/ngraph-yaml.tmLanguage.json",
    "media/preview.css",
    "media/preview.js",
    "package.json",
    "snippets/ngraph.json",
    "walkthrough/install.md",
    "walkthrough/picture.md",
    "walkthrough/test.md",
    "walkthrough/write.md",
  ]);
  const names = archive.toString("latin1").toLowerCase();
  for (const file of files) expect(names).toContain(`extension/${file.toLowerCase()}`);
  expect(readFileSync(join(FOLDER, "dist/ngraph.tmLanguage.json"))).toEqual(
    readFileSync(join(ROOT, "grammar/ngraph.tmLanguage.json")),
  );
  expect(readFileSync(join(FOLDER, "LICENSE"), "utf8")).toBe(readFileSync(join(ROOT, "LICENSE"), "utf8"));
});

test("each command of the manifest is registered, and a workspace without trust starts nothing", async () => {
  const folder = join(directory, "host");
  mkdirSync(join(folder, "node_modules/vscode"), { recursive: true });
  copyFileSync(join(FOLDER, "dist/extension.cjs"), join(folder, "extension.cjs"));
  // All names of the interface.
  const types = readFileSync(join(ROOT, "node_modules/@types/vscode/index.d.ts"), "utf8");
  const names = [...types.matchAll(/^\texport (?:class|enum|namespace) (\w+)/gm)].map(([, name]) => name);
  writeFileSync(
    join(folder, "node_modules/vscode/index.js"),
    `const NAMES = ${JSON.stringify(names)};\n${FAKE_EDITOR}`,
  );
  const require = createRequire(join(folder, "host.cjs"));
  const editor = require("vscode") as { readonly registered: string[]; readonly started: string[] };
  const extension = require(join(folder, "extension.cjs")) as {
    activate(context: unknown): Promise<void>;
    deactivate(): Promise<void>;
  };
  const subscriptions: unknown[] = [];
  await extension.activate({ subscriptions, extensionUri: {} });
  const manifest = JSON.parse(readFileSync(join(FOLDER, "package.json"), "utf8")) as {
    readonly contributes: { readonly commands: readonly { readonly command: string }[] };
  };
  expect([...editor.registered].sort()).toEqual(manifest.contributes.commands.map(({ command }) => command).sort());
  expect(editor.started).toEqual([]);
  expect(subscriptions.length).toBeGreaterThan(5);
  await extension.deactivate();
});

/** An editor of which everything exists and does nothing. */
const FAKE_EDITOR = `
const registered = [];
const started = [];
const anything = () => new Proxy(function () {}, {
  get: (target, key) =>
    key === "prototype" ? target.prototype : key === "then" ? undefined
      : key === Symbol.toPrimitive ? () => 0 : key === Symbol.iterator ? function* () {} : anything(),
  apply: () => anything(),
  construct: () => ({}),
});
const known = {
  ...Object.fromEntries(NAMES.map((name) => [name, anything()])),
  registered,
  started,
  commands: { registerCommand: (name) => (registered.push(name), { dispose() {} }) },
  tests: { createTestController: () => (started.push("tests"), anything()) },
  workspace: new Proxy({ isTrusted: false }, { get: (target, key) => (key in target ? target[key] : anything()) }),
};
module.exports = known;
`;

async function startServer(): Promise<{
  readonly client: ProtocolConnection;
  readonly uri: string;
  readonly path: string;
}> {
  const project = createProject({ "trip.ngraph": TEXT });
  const path = join(project.directory, "trip.ngraph");
  const server = spawn(process.execPath, [PROGRAM, "lsp", "--stdio"], { cwd: project.directory });
  const client = createProtocolConnection(
    new StreamMessageReader(server.stdout),
    new StreamMessageWriter(server.stdin),
  );
  client.listen();
  onTestFinished(() => {
    client.dispose();
    server.kill("SIGKILL");
  });
  await client.sendRequest("initialize", { processId: null, rootUri: null, capabilities: {} });
  await client.sendNotification("initialized", {});
  const uri = pathToFileURL(path).href;
  await client.sendNotification("textDocument/didOpen", {
    textDocument: { uri, languageId: "ngraph", version: 1, text: TEXT },
  });
  return { client, uri, path };
}

test("the server names the tests, the commands and the nodes as the extension reads them", async () => {
  const { client, uri, path } = await startServer();
  const lenses = await client.sendRequest<CodeLens[]>("textDocument/codeLens", { textDocument: { uri } });
  const commands = lenses.flatMap(({ command }) => (command === undefined ? [] : [command]));
  expect(commands.filter(({ command }) => command === "ngraph.test").map((each) => each.arguments)).toEqual([
    [uri, "books"],
    [uri, "fails"],
  ]);
  expect(commands).toContainEqual(expect.objectContaining({ command: "ngraph.run", arguments: [uri, "trip"] }));
  const symbols = await client.sendRequest<(DocumentSymbol & { readonly children: DocumentSymbol[] })[]>(
    "textDocument/documentSymbol",
    { textDocument: { uri } },
  );
  const found = findSymbol(symbols as never, "trip", "car") as DocumentSymbol | undefined;
  expect(found?.selectionRange.start).toEqual({ line: 3, character: 7 });
  const { stdout, status } = createProject({ "trip.ngraph": TEXT }).ngc(["test", "--json", "--", "trip.ngraph"]);
  expect(path).toContain("trip.ngraph");
  expect(status).toBe(1);
  expect(readTestRun(stdout, "")).toMatchObject({
    kind: "ran",
    tests: [
      { title: "books", graph: "trip", ok: true, steps: [["book"], ["car"]] },
      { title: "fails", ok: false, failures: [{ line: 11 }] },
    ],
  });
});

test("the page shows the picture of the server, reports clicks, marks the nodes of a run, offers to answer, and runs no other script", async () => {
  const { client, uri } = await startServer();
  const { svg } = await client.sendRequest<{ readonly svg: string }>("ngraph/preview", { uri, name: "trip" });
  const browser = await launchBrowser();
  onTestFinished(() => browser.close());
  const page = await newPage(browser);
  await page.addInitScript(() => {
    const sent: unknown[] = [];
    Object.assign(globalThis, {
      sent,
      acquireVsCodeApi: () => ({ postMessage: (value: unknown) => sent.push(value) }),
    });
  });
  const origin = "http://extension.test";
  await page.route(`${origin}/**`, async (route) => {
    const name = new URL(route.request().url()).pathname.slice(1);
    await (name === ""
      ? route.fulfill({
          contentType: "text/html",
          body: previewPage("trip", origin, `${origin}/preview.js`, `${origin}/preview.css`),
        })
      : route.fulfill({ path: join(FOLDER, "media", name) }));
  });
  await page.goto(`${origin}/`);
  const sent = (): Promise<unknown> => page.evaluate("globalThis.sent");
  const post = (message: object): Promise<unknown> =>
    page.evaluate(`dispatchEvent(new MessageEvent("message", { data: ${JSON.stringify(message)} }))`);
  expect(await sent()).toEqual([{ kind: "ready" }]);

  await post({ kind: "picture", svg });
  await page.locator("g.node", { hasText: "car" }).click();
  expect(await sent()).toEqual([{ kind: "ready" }, { kind: "jump", node: "car" }]);
  await page.locator("g.node", { hasText: "book" }).press("Enter");
  expect(await sent()).toContainEqual({ kind: "jump", node: "book" });
  const states = (): Promise<unknown> =>
    page.locator("g.node[data-state]").evaluateAll((nodes) => nodes.map((node) => node.getAttribute("aria-label")));
  const nodes = [
    { name: "book", state: "done", count: 3 },
    { name: "car", state: "waits", count: 1 },
  ];
  await post({ kind: "run", text: "thread t: paused", nodes, asks: true });
  expect(await states()).toEqual(["book: ran 3×", "car: waits"]);
  expect(await page.locator("g.node > .sign").allTextContents()).toEqual(["✓ 3×", "‖"]);
  expect(await page.locator("#run [role=status]").textContent()).toBe("thread t: paused");
  await page.getByRole("button", { name: "Answer…" }).click();
  expect(await sent()).toContainEqual({ kind: "answer" });
  // The marks stay on a picture that is drawn again, and go with the run.
  await post({ kind: "picture", svg });
  expect(await states()).toEqual(["book: ran 3×", "car: waits"]);
  await post({ kind: "run", text: "", nodes: [], asks: false });
  expect([await states(), await page.locator("g.node > .sign").count()]).toEqual([[], 0]);
  expect(await page.locator("#run").isVisible()).toBe(false);

  await post({ kind: "message", message: "the file has errors" });
  expect(await page.locator("#message").textContent()).toBe("the file has errors");
  // The last picture stays.
  expect(await page.locator("#picture.old g.node").count()).toBe(4);
  await post({
    kind: "picture",
    svg: '<svg xmlns="http://www.w3.org/2000/svg" onload="sent.push(1)"><script>sent.push(2)</script></svg>',
  });
  await post({ kind: "picture", svg: "<html><script>sent.push(3)</script>" });
  expect(((await sent()) as unknown[]).filter((each) => typeof each === "number")).toEqual([]);
  expect(await page.locator("#picture svg").count()).toBe(1);
});
