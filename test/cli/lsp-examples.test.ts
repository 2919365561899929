/** Every request of the language server of the built program, on all examples, in both spellings. */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import {
  createProtocolConnection,
  StreamMessageReader,
  StreamMessageWriter,
  type CompletionItem,
  type DocumentSymbol,
  type Hover,
  type InlayHint,
  type Location,
  type Position,
  type ProtocolConnection,
  type PublishDiagnosticsParams,
  type WorkspaceEdit,
} from "vscode-languageserver-protocol/node";
import { afterAll, beforeAll, expect, test } from "vitest";
import { exampleFiles } from "../support/example-files.ts";
import { PROGRAM } from "./project.ts";

let client: ProtocolConnection;
let end: () => Promise<number | null>;
const published = new Map<string, PublishDiagnosticsParams>();

beforeAll(async () => {
  const server = spawn(process.execPath, [PROGRAM, "lsp", "--stdio"], { stdio: ["pipe", "pipe", "inherit"] });
  const exited = new Promise<number | null>((done) => server.once("exit", done));
  client = createProtocolConnection(new StreamMessageReader(server.stdout), new StreamMessageWriter(server.stdin));
  client.onNotification("textDocument/publishDiagnostics", (params: PublishDiagnosticsParams) => {
    published.set(params.uri, params);
  });
  client.listen();
  const rootUri = pathToFileURL(resolve("examples")).href;
  await client.sendRequest("initialize", { processId: null, rootUri, capabilities: {} });
  await client.sendNotification("initialized", {});
  end = async () => {
    await client.sendRequest("shutdown");
    await client.sendNotification("exit");
    return exited;
  };
});

afterAll(async () => {
  expect(await end()).toBe(0);
});

/** The YAML examples have the plain ending: the editor names their language. */
const FILES = [
  ...exampleFiles(".ngraph").map((file) => [file, "ngraph"] as const),
  ...exampleFiles(".yaml").map((file) => [file, "ngraph-yaml"] as const),
];

test.each(FILES)("%s", { timeout: 300_000 }, async (file, languageId) => {
  const uri = pathToFileURL(resolve(file)).href;
  const text = readFileSync(file, "utf8");
  await client.sendNotification("textDocument/didOpen", { textDocument: { uri, languageId, version: 1, text } });
  const ask = <Answer>(method: string, position?: Position, more: object = {}): Promise<Answer> =>
    client.sendRequest<Answer>(`textDocument/${method}`, {
      textDocument: { uri },
      ...(position === undefined ? {} : { position }),
      ...more,
    });
  const lines = text.split("\n");
  const last = { line: lines.length - 1, character: 0 };
  const range = { start: { line: 0, character: 0 }, end: last };

  // Findings.
  await expect.poll(() => published.get(uri)?.version, { timeout: 90_000 }).toBe(1);
  expect(published.get(uri)?.diagnostics.filter(({ severity }) => severity === 1)).toEqual([]);

  // The outline has a graph or plan with its nodes or tasks.
  const symbols = await ask<DocumentSymbol[]>("documentSymbol");
  const units = symbols.filter(({ children = [] }) => children.length > 1);
  expect(units.length).toBeGreaterThan(0);
  expect((await ask<unknown[]>("foldingRange")).length).toBeGreaterThan(0);
  expect((await ask<{ data: number[] }>("semanticTokens/full")).data.length % 5).toBe(0);
  const hints = await ask<InlayHint[]>("inlayHint", undefined, { range });
  expect(hints.every(({ label }) => String(label) !== "")).toBe(true);

  // Each declaration: hover, definition, references, highlights, and a rename with its preparation.
  for (const { name, selectionRange } of units.flatMap((unit) => [unit, ...(unit.children ?? [])])) {
    const at = selectionRange.start;
    // Derived and quoted names of the outline do not begin at the name.
    if (
      !lines[at.line]
        ?.slice(at.character)
        .replace(/^["'`]/, "")
        .startsWith(name)
    )
      continue;
    const inside = { line: at.line, character: at.character + 1 };
    const hover = await ask<Hover | null>("hover", inside);
    expect(JSON.stringify(hover?.contents ?? ""), `hover of ${name}`).toContain(name);
    const definition = await ask<Location[]>("definition", inside);
    expect(
      definition.map((each) => each.range.start.line),
      `definition of ${name}`,
    ).toContain(at.line);
    const references = await ask<Location[]>("references", inside, { context: { includeDeclaration: true } });
    const here = references.filter((each) => each.uri === uri);
    expect(
      here.map((each) => each.range.start.line),
      `references of ${name}`,
    ).toContain(at.line);
    const highlights = await ask<unknown[]>("documentHighlight", inside);
    expect(highlights.length, `highlights of ${name}`).toBe(here.length);
    const prepared = await ask<object | null>("prepareRename", inside).catch(() => null);
    if (prepared === null) continue;
    const edit = await ask<WorkspaceEdit>("rename", inside, { newName: "renamed_by_test" });
    expect(edit.changes?.[uri]?.length, `rename of ${name}`).toBeGreaterThan(0);
  }

  // Completion, signatures and linked editing at many places: an answer, and no error.
  const places = lines.flatMap((line, index) => (index % 4 === 0 ? [{ line: index, character: line.length }] : []));
  const completions = await Promise.all(places.map((at) => ask<CompletionItem[]>("completion", at)));
  expect(completions.some((items) => items.length > 0)).toBe(true);
  await Promise.all(places.flatMap((at) => [ask("signatureHelp", at), ask("linkedEditingRange", at)]));

  // Lenses run and draw each graph or plan; the pictures are there.
  const lenses = await ask<{ command: { title: string; arguments: [string, string] } }[]>("codeLens");
  const drawn = lenses.filter(({ command }) => command.title === "Picture");
  expect(drawn.length).toBeGreaterThan(0);
  for (const { command } of drawn) {
    const [of, name] = command.arguments;
    const preview = await client.sendRequest<{ svg?: string }>("ngraph/preview", { uri: of, name });
    expect(preview.svg).toContain("</svg>");
  }
  const tests =
    languageId === "ngraph" ? (text.match(/^test "/gm) ?? []).length : (text.match(/^test: /gm) ?? []).length;
  expect(lenses.filter(({ command }) => command.title === "Run test").length).toBe(tests);
  expect(lenses.some(({ command }) => command.title === "Run")).toBe(true);

  // Links of imports, fixes of all, formatting, calls and symbols.
  const links = await ask<{ target?: string }[]>("documentLink");
  expect(links.every(({ target }) => target?.startsWith("file:") === true)).toBe(true);
  if (text.includes("./nodes.ts")) expect(links.length).toBeGreaterThan(0);
  const fixAll = { range, context: { diagnostics: [], only: ["source.fixAll"] } };
  expect(await ask<unknown[]>("codeAction", undefined, fixAll)).toEqual(expect.any(Array));
  expect(await ask("formatting", undefined, { options: { tabSize: 2, insertSpaces: true } })).toEqual([]);
  const [first] = units;
  expect(await client.sendRequest("workspace/symbol", { query: first?.name ?? "" })).toEqual(
    expect.arrayContaining([expect.objectContaining({ name: first?.name })]),
  );
  const [item] =
    (await ask<object[] | null>("prepareCallHierarchy", first?.selectionRange.start)) ?? ([] as readonly object[]);
  expect(item).toMatchObject({ name: first?.name });
  expect(await client.sendRequest("callHierarchy/incomingCalls", { item })).toEqual(expect.any(Array));
  expect(await client.sendRequest("callHierarchy/outgoingCalls", { item })).toEqual(expect.any(Array));
  await client.sendNotification("textDocument/didClose", { textDocument: { uri } });
});
