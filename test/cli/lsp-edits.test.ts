/** Random edits of an open project through the real program: its answers after them are those of a server that opens the texts as they are. */
import { spawn } from "node:child_process";
import { pathToFileURL } from "node:url";
import { join } from "node:path";
import { readFileSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import {
  createProtocolConnection,
  StreamMessageReader,
  StreamMessageWriter,
  type PublishDiagnosticsParams,
} from "vscode-languageserver-protocol/node";
import { randomFrom } from "../grammar/random-file.ts";
import { createProject, PROGRAM } from "./project.ts";

const SEED = readFileSync("examples/parcel-desk/desk.ngraph", "utf8").replace(/\ntest [^]*/, "\n");
const FILES: Readonly<Record<string, string>> = {
  "inner.ngraph": 'graph inner {\n  input q: string\n  output r: string\n  node n = q + "!" into r\n  start -> n\n}\n',
  "outer.ngraph":
    'import { inner } from "./inner.ngraph"\nimport { f } from "./nodes.ts"\ngraph outer {\n  output r: string\n  node a = inner(q: f("x")) into { r }\n  start -> a\n}\n',
  "outer.ngraph.yaml":
    "imports: { ./inner.ngraph: [inner] }\n---\ngraph: y\noutput: { r: string }\nnodes:\n  b: { call: inner, with: { q: x }, into: { r } }\nedges: [start -> b]\n",
  "desk.ngraph": SEED,
};
const MODULE = "export function f(text: string): string { return text; }\n";
const INSERTED = [
  "",
  "",
  "",
  "{",
  "}",
  '"',
  "`",
  "\n",
  "\r\n",
  " -> ",
  "n",
  "q",
  "/*",
  "- ",
  "start",
  "string",
  "😀",
  "${",
  ": ",
];

interface Server {
  open(name: string, version: number, text: string): Promise<void>;
  change(name: string, version: number, start: number, end: number, inserted: string, before: string): Promise<void>;
  /** All answers about a text: its findings, and those of requests. */
  answers(name: string, version: number, offset: number, text: string): Promise<unknown>;
  end(): void;
}

function positionOf(text: string, offset: number): { line: number; character: number } {
  const lines = text.slice(0, offset).split(/\r\n|\r|\n/);
  return { line: lines.length - 1, character: lines.at(-1)?.length ?? 0 };
}

async function startServer(directory: string): Promise<Server> {
  const server = spawn(process.execPath, [PROGRAM, "lsp", "--stdio"], { cwd: directory });
  const client = createProtocolConnection(
    new StreamMessageReader(server.stdout),
    new StreamMessageWriter(server.stdin),
  );
  const published = new Map<string, PublishDiagnosticsParams>();
  let wake = (): void => {};
  client.onNotification("textDocument/publishDiagnostics", (params: PublishDiagnosticsParams) => {
    published.set(params.uri, params);
    wake();
  });
  client.listen();
  const end = (): void => {
    client.dispose();
    server.kill("SIGKILL");
  };
  onTestFinished(end);
  const { href: rootUri } = pathToFileURL(directory);
  await client.sendRequest("initialize", { processId: null, rootUri, capabilities: {} });
  await client.sendNotification("initialized", {});
  const uriOf = (name: string): string => pathToFileURL(join(directory, name)).href;
  const languageId = (name: string): string => (name.endsWith("yaml") ? "ngraph-yaml" : "ngraph");
  return {
    open: (name, version, text) =>
      client.sendNotification("textDocument/didOpen", {
        textDocument: { uri: uriOf(name), languageId: languageId(name), version, text },
      }),
    change: (name, version, start, end, inserted, before) =>
      client.sendNotification("textDocument/didChange", {
        textDocument: { uri: uriOf(name), version },
        contentChanges: [{ range: { start: positionOf(before, start), end: positionOf(before, end) }, text: inserted }],
      }),
    answers: async (name, version, offset, text) => {
      const uri = uriOf(name);
      const textDocument = { uri };
      const position = positionOf(text, offset);
      const whole = { start: { line: 0, character: 0 }, end: positionOf(text, text.length) };
      // A request for code actions checks the text, so completion and hover have the findings of this version.
      const codeActions = await client.sendRequest("textDocument/codeAction", {
        textDocument,
        range: whole,
        context: { diagnostics: [] },
      });
      const ask = (method: string, rest: object = {}): Promise<unknown> =>
        client.sendRequest(`textDocument/${method}`, { textDocument, ...rest });
      const found = {
        codeActions,
        completion: await ask("completion", { position }),
        hover: await ask("hover", { position }),
        references: await ask("references", { position, context: { includeDeclaration: true } }),
        symbols: await ask("documentSymbol"),
        folding: await ask("foldingRange"),
        tokens: await ask("semanticTokens/full"),
        hints: await ask("inlayHint", { range: whole }),
        lenses: await ask("codeLens"),
      };
      await new Promise<void>((resolve) => {
        wake = () => {
          if (published.get(uri)?.version === version) resolve();
        };
        wake();
      });
      return { ...found, diagnostics: published.get(uri)?.diagnostics };
    },
    end,
  };
}

test("random edits lead to the answers of a new server", { timeout: 900_000 }, async () => {
  const { directory } = createProject({ ...FILES, "nodes.ts": MODULE });
  const random = randomFrom(20_261);
  const texts = new Map(Object.entries(FILES));
  const versions = new Map([...texts.keys()].map((name) => [name, 1]));
  const edited = await startServer(directory);
  for (const [name, text] of texts) await edited.open(name, 1, text);
  const rounds = 2;
  for (let round = 0; round < rounds; round++) {
    for (let edit = 0; edit < 250; edit++) {
      const names = [...texts.keys()];
      const name = names[Math.floor(random() * names.length)] ?? "";
      const before = texts.get(name) ?? "";
      // A text that has grown too strange begins again, as one edit.
      const isReset = random() < 0.05;
      const from = isReset ? 0 : Math.floor(random() * (before.length + 1));
      const to = isReset ? before.length : Math.min(before.length, from + Math.floor(random() * 6));
      const isInside = (at: number): boolean =>
        /\r\n|[\ud800-\udbff][\udc00-\udfff]/.test(before.slice(at - 1, at + 1));
      if (isInside(from) || isInside(to)) continue;
      const inserted = isReset ? (FILES[name] ?? "") : (INSERTED[Math.floor(random() * INSERTED.length)] ?? "");
      const version = (versions.get(name) ?? 1) + 1;
      versions.set(name, version);
      await edited.change(name, version, from, to, inserted, before);
      texts.set(name, before.slice(0, from) + inserted + before.slice(to));
    }
    const fresh = await startServer(directory);
    for (const [name, text] of texts) await fresh.open(name, versions.get(name) ?? 1, text);
    for (const [name, text] of texts) {
      const offset = Math.floor(random() * text.length);
      const version = versions.get(name) ?? 1;
      const [one, other] = [
        await edited.answers(name, version, offset, text),
        await fresh.answers(name, version, offset, text),
      ];
      expect({ name, text, answers: one }).toEqual({ name, text, answers: other });
    }
    fresh.end();
  }
});
