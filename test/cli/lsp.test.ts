import { spawn } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import {
  createProtocolConnection,
  StreamMessageReader,
  StreamMessageWriter,
  type CodeAction,
  type InitializeResult,
  type ProtocolConnection,
  type PublishDiagnosticsParams,
  type TextEdit,
} from "vscode-languageserver-protocol/node";
import { createProject, PROGRAM } from "./project.ts";

interface Session {
  readonly client: ProtocolConnection;
  readonly uri: (name: string) => string;
  /** The next findings of a document that are about this version. */
  findings(uri: string, version: number): Promise<PublishDiagnosticsParams>;
  readonly exited: Promise<{ readonly code: number | null; readonly stderr: string }>;
  /** Writes bytes that are no message. */
  write(text: string): void;
  closeInput(): void;
  writeFile(name: string, text: string): void;
  closeOutput(): void;
}

const MISSPELT = `graph g {\n  state draft: string = ""\n  node write = print(draf)\n  start -> write -> end\n}\n`;

function start(files: Readonly<Record<string, string>> = {}): Session {
  const { directory } = createProject(files);
  const server = spawn(process.execPath, [PROGRAM, "lsp", "--stdio"], { cwd: directory });
  let stderr = "";
  server.stderr.on("data", (data) => (stderr += String(data)));
  server.stdin.on("error", () => {});
  const exited = new Promise<{ code: number | null; stderr: string }>((resolve) =>
    server.on("exit", (code) => resolve({ code, stderr })),
  );
  const client = createProtocolConnection(
    new StreamMessageReader(server.stdout),
    new StreamMessageWriter(server.stdin),
  );
  const published: PublishDiagnosticsParams[] = [];
  const waiting = new Set<() => void>();
  client.onNotification("textDocument/publishDiagnostics", (params: PublishDiagnosticsParams) => {
    published.push(params);
    for (const wake of waiting) wake();
  });
  client.onError(() => {});
  client.listen();
  onTestFinished(() => {
    client.dispose();
    server.kill("SIGKILL");
  });
  return {
    client,
    uri: (name) => pathToFileURL(join(directory, name)).href,
    findings: (uri, version) =>
      new Promise((resolve) => {
        const look = (): void => {
          const found = published.find((each) => each.uri === uri && each.version === version);
          if (found === undefined) return;
          waiting.delete(look);
          resolve(found);
        };
        waiting.add(look);
        look();
      }),
    exited,
    write: (text) => void server.stdin.write(text),
    writeFile: (name, text) => writeFileSync(join(directory, name), text),
    closeInput: () => void server.stdin.end(),
    closeOutput: () => void server.stdout.destroy(),
  };
}

async function initialized(files: Readonly<Record<string, string>> = {}): Promise<Session> {
  const session = start(files);
  await session.client.sendRequest("initialize", { processId: null, rootUri: null, capabilities: {} });
  await session.client.sendNotification("initialized", {});
  return session;
}

function open({ client }: Session, uri: string, text: string): Promise<void> {
  return client.sendNotification("textDocument/didOpen", {
    textDocument: { uri, languageId: "ngraph", version: 1, text },
  });
}

test("checks, fixes and formats a text while it is edited, and ends after exit", { timeout: 300_000 }, async () => {
  const session = await initialized();
  const { client } = session;
  const uri = session.uri("a.ngraph");
  await open(session, uri, MISSPELT);
  const first = await session.findings(uri, 1);
  const range = first.diagnostics.find(({ severity }) => severity === 1)?.range;
  expect(range?.start).toEqual({ line: 2, character: 21 });

  const textDocument = { uri };
  const actions: CodeAction[] = await client.sendRequest("textDocument/codeAction", {
    textDocument,
    range,
    context: { diagnostics: [] },
  });
  const [edit] = actions[0]?.edit?.changes?.[uri] ?? [];
  await client.sendNotification("textDocument/didChange", {
    textDocument: { uri, version: 2 },
    contentChanges: [
      { range: edit?.range, text: edit?.newText },
      { range: { start: { line: 0, character: 5 }, end: { line: 0, character: 5 } }, text: "   " },
    ],
  });
  expect((await session.findings(uri, 2)).diagnostics.filter(({ severity }) => severity === 1)).toEqual([]);

  const edits: TextEdit[] = await client.sendRequest("textDocument/formatting", {
    textDocument,
    options: { tabSize: 2, insertSpaces: true },
  });
  expect(edits).toEqual([
    { range: { start: { line: 0, character: 0 }, end: { line: 1, character: 0 } }, newText: "graph g {\n" },
  ]);

  const outline: { readonly name: string }[] = await client.sendRequest("textDocument/documentSymbol", {
    textDocument,
  });
  expect(outline.map(({ name }) => name)).toEqual(["g"]);
  expect(await client.sendRequest("textDocument/foldingRange", { textDocument })).toHaveLength(1);

  await client.sendRequest("shutdown");
  await client.sendNotification("exit");
  expect(await session.exited).toEqual({ code: 0, stderr: "" });
});

test("checks a file again when an imported text changes in the editor", { timeout: 300_000 }, async () => {
  const called = `graph g {\n  node write = print("x")\n  start -> write -> end\n}\n`;
  const caller = `import { g } from "./b.ngraph"\n\ngraph h {\n  node a = g()\n  start -> a -> end\n}\n`;
  const session = await initialized({ "b.ngraph": called });
  const [a, b] = [session.uri("a.ngraph"), session.uri("b.ngraph")];
  await open(session, a, caller);
  expect((await session.findings(a, 1)).diagnostics.filter(({ severity }) => severity === 1)).toEqual([]);
  const changed = new Promise<PublishDiagnosticsParams>((resolve) =>
    session.client.onNotification("textDocument/publishDiagnostics", (params: PublishDiagnosticsParams) => {
      if (params.uri === a) resolve(params);
    }),
  );
  await open(session, b, called.replace("graph g", "graph other"));
  expect((await changed).diagnostics.filter(({ severity }) => severity === 1)).not.toEqual([]);
});

test("checks again what has read a changed module or lock file, and nothing else", { timeout: 300_000 }, async () => {
  const caller =
    'import { f } from "./nodes.ts"\ngraph g {\n  output r: string\n  node n = f() into r\n  start -> n\n}\n';
  const module = "export function f(): string { return ''; }\n";
  const session = await initialized({ "nodes.ts": module });
  const { client } = session;
  const published: PublishDiagnosticsParams[] = [];
  client.onNotification("textDocument/publishDiagnostics", (params: PublishDiagnosticsParams) => {
    published.push(params);
  });
  const [a, other] = [session.uri("a.ngraph"), session.uri("other.ngraph")];
  await open(session, a, caller);
  await open(session, other, MISSPELT);
  await expect.poll(() => published.map(({ uri }) => uri), { timeout: 90_000 }).toEqual([a, other]);
  const next = async (act: () => Promise<void>): Promise<readonly [string, readonly unknown[]]> => {
    published.length = 0;
    await act();
    await expect.poll(() => published.length, { timeout: 90_000 }).toBe(1);
    const [{ uri, diagnostics } = { uri: "", diagnostics: [] }] = published;
    return [uri, diagnostics.filter(({ severity }) => severity === 1)];
  };

  // The module is changed in the editor.
  const textDocument = { uri: session.uri("nodes.ts"), languageId: "typescript", version: 1, text: "export {};\n" };
  const renamed = await next(() => client.sendNotification("textDocument/didOpen", { textDocument }));
  expect(renamed).toMatchObject([a, [{ message: expect.stringContaining("`f`") }]]);
  const closed = await next(() => client.sendNotification("textDocument/didClose", { textDocument }));
  expect(closed).toEqual([a, []]);

  // It is changed on the disk.
  session.writeFile("nodes.ts", "export {};\n");
  const changes = [{ uri: session.uri("nodes.ts"), type: 2 }];
  expect(await next(() => client.sendNotification("workspace/didChangeWatchedFiles", { changes }))).toEqual(renamed);

  // The lock file of the tools is written.
  const tools =
    'graph g {\n  state ref: string = ""\n  node find = tool("shop", "find", arguments: { ref })\n  start -> find\n}\n';
  await next(() =>
    client.sendNotification("textDocument/didChange", {
      textDocument: { uri: a, version: 2 },
      contentChanges: [{ text: tools }],
    }),
  );
  const inputSchema = { type: "object", properties: { ref: { type: "number" } }, required: ["ref"] };
  session.writeFile(
    "ngraph.lock.json",
    JSON.stringify({ version: 1, servers: { shop: { tools: { find: { inputSchema } } } } }),
  );
  const [uri, found] = await next(() => client.sendNotification("textDocument/didSave", { textDocument: { uri: a } }));
  expect([uri, found]).toMatchObject([a, [{ source: "ngraph" }]]);
});

test("refuses requests before initialize, and ignores documents that are not open", { timeout: 300_000 }, async () => {
  const session = start();
  const { client } = session;
  await expect(client.sendRequest("textDocument/hover", {})).rejects.toMatchObject({ code: -32002 });
  await expect(client.sendRequest("shutdown")).rejects.toMatchObject({ code: -32002 });
  const result: InitializeResult = await client.sendRequest("initialize", { capabilities: {} });
  expect(result.serverInfo?.name).toBe("ngraph");
  const textDocument = { uri: session.uri("none.ngraph") };
  await client.sendNotification("textDocument/didChange", {
    textDocument: { ...textDocument, version: 2 },
    contentChanges: [],
  });
  expect(await client.sendRequest("textDocument/formatting", { textDocument, options: {} })).toEqual([]);
  await expect(client.sendRequest("no/method", {})).rejects.toMatchObject({ code: -32601 });
  await client.sendNotification("exit");
  expect(await session.exited).toEqual({ code: 1, stderr: "" });
});

test("ends with an error if the input is not the protocol", { timeout: 300_000 }, async () => {
  const session = start();
  session.write("Content-Length: 5\r\n\r\nxxxxx");
  const { code, stderr } = await session.exited;
  expect(code).toBe(64);
  expect(stderr).toContain("error: standard input is not the language server protocol");
  expect(stderr).not.toMatch(/^\s+at /m);
});

test("ends with code 1 when the editor closes the input", { timeout: 300_000 }, async () => {
  const session = await initialized();
  session.closeInput();
  expect(await session.exited).toEqual({ code: 1, stderr: "" });
});

test("ends with code 1 when the editor closes the output", { timeout: 300_000 }, async () => {
  const session = await initialized();
  session.closeOutput();
  await open(session, session.uri("a.ngraph"), MISSPELT);
  expect(await session.exited).toEqual({ code: 1, stderr: "" });
});

test("names: definition, references, hover, rename, completion and the rest, over files and spellings", async () => {
  const A = `import { f } from "./nodes.ts"
import { inner } from "./b.ngraph"
graph main {
  input text: string
  output reply: string
  node draft = f(text) into reply
  node asked = inner(q: reply) for x in [1, 2]
  start -> draft -> asked
}
test "drafts" for main {
  given text = "a"
  mock draft = "b"
  mock asked = {}
  expect reply == "b"
}
`;
  const Y =
    "imports: { ./b.ngraph: [inner] }\n---\ngraph: other\nnodes:\n  b: { call: inner, with: { q: x } }\nedges: [start -> b]\n";
  const files = {
    "a.ngraph": A,
    "b.ngraph": "graph inner {\n  input q: string\n  node a = print(q)\n  start -> a\n}\n",
    "c.ngraph.yaml": Y,
    "nodes.ts": "export function f(text: string): string { return text; }\n",
  };
  const { client, uri } = start(files);
  const root = uri("a.ngraph").replace(/\/a\.ngraph$/, "");
  const { capabilities } = await client.sendRequest<InitializeResult>("initialize", {
    processId: null,
    rootUri: root,
    capabilities: {},
  });
  expect(Object.keys(capabilities)).toEqual(
    expect.arrayContaining(["renameProvider", "completionProvider", "semanticTokensProvider", "callHierarchyProvider"]),
  );
  await client.sendNotification("textDocument/didOpen", {
    textDocument: { uri: uri("a.ngraph"), languageId: "ngraph", version: 1, text: A },
  });
  const at = (needle: string): { line: number; character: number } => {
    const before = A.slice(0, A.indexOf(needle)).split("\n");
    return { line: before.length - 1, character: before.at(-1)?.length ?? 0 };
  };
  const ask = <Answer>(method: string, needle?: string, rest: object = {}): Promise<Answer> =>
    client.sendRequest<Answer>(method, {
      textDocument: { uri: uri("a.ngraph") },
      ...(needle === undefined ? {} : { position: at(needle) }),
      ...rest,
    });
  type Places = readonly { readonly uri: string; readonly range: unknown }[];
  expect((await ask<Places>("textDocument/definition", "f(text)")).map((each) => each.uri)).toEqual([uri("nodes.ts")]);
  const references = await ask<Places>("textDocument/references", "inner(q", { context: { includeDeclaration: true } });
  expect(new Set(references.map((each) => each.uri))).toEqual(
    new Set([uri("a.ngraph"), uri("b.ngraph"), uri("c.ngraph.yaml")]),
  );
  const renamed = await ask<{ changes: Record<string, TextEdit[]> }>("textDocument/rename", "inner(q", {
    newName: "core",
  });
  expect(Object.fromEntries(Object.entries(renamed.changes).map(([of, edits]) => [of, edits.length]))).toEqual({
    [uri("a.ngraph")]: 2,
    [uri("b.ngraph")]: 1,
    [uri("c.ngraph.yaml")]: 2,
  });
  await expect(ask("textDocument/rename", "draft =", { newName: "asked" })).rejects.toThrow(
    "`asked` is the name of a node already",
  );
  const hover = await ask<{ contents: { value: string } }>("textDocument/hover", "draft =");
  expect(hover.contents.value).toContain("Reads `text`. Writes `reply`.");
  const items = await ask<readonly { label: string }[]>("textDocument/completion", "draft -> asked");
  expect(items.map(({ label }) => label)).toEqual(expect.arrayContaining(["draft", "asked", "end"]));
  const whole = { start: { line: 0, character: 0 }, end: { line: 99, character: 0 } };
  expect((await ask<{ data: number[] }>("textDocument/semanticTokens/full")).data.length).toBeGreaterThan(50);
  expect(await ask("textDocument/inlayHint", undefined, { range: whole })).toMatchObject([{ label: ": 1 | 2" }]);
  const lenses = await ask<readonly { command: { title: string } }[]>("textDocument/codeLens");
  expect(lenses.map(({ command }) => command.title)).toEqual(["Run", "Picture", "Run test"]);
  expect((await ask<readonly unknown[]>("textDocument/documentLink")).length).toBe(2);
  expect(await ask("textDocument/linkedEditingRange", "x in [1")).toMatchObject({ ranges: [{ start: { line: 6 } }] });
  expect(await client.sendRequest("workspace/symbol", { query: "inn" })).toMatchObject([{ name: "inner" }]);
  const [item] = await ask<readonly object[]>("textDocument/prepareCallHierarchy", "inner(q");
  const incoming = await client.sendRequest<readonly { from: { name: string } }[]>("callHierarchy/incomingCalls", {
    item,
  });
  expect(incoming.map(({ from }) => from.name).sort()).toEqual(["main", "other"]);
  const [main] = await ask<readonly object[]>("textDocument/prepareCallHierarchy", "main {");
  expect(await client.sendRequest("callHierarchy/outgoingCalls", { item: main })).toMatchObject([
    { to: { name: "inner" } },
  ]);
  const preview = await client.sendRequest<{ svg?: string }>("ngraph/preview", { uri: uri("a.ngraph"), name: "main" });
  expect(preview.svg).toContain("<svg");
  await expect(client.sendRequest("ngraph/preview", { uri: "file:///none" })).rejects.toThrow("names no open graph");
});

test(
  "renames an export of a TypeScript module in all files, from the module and from a graph",
  { timeout: 300_000 },
  async () => {
    const A =
      'import { f } from "./nodes.ts"\ngraph g {\n  output r: string\n  node n = f("x") into r\n  start -> n\n}\n';
    const session = start({
      "a.ngraph": A,
      "nodes.ts": "export function f(text: string): string { return text; }\n",
      "use.ts": 'import { f } from "./nodes.ts";\nf("y");\n',
    });
    const { client, uri } = session;
    const registered: { method: string; registerOptions?: { documentSelector: unknown[] } }[] = [];
    client.onRequest("client/registerCapability", ({ registrations }: { registrations: typeof registered }) => {
      registered.push(...registrations);
    });
    const dynamic = { dynamicRegistration: true };
    await client.sendRequest("initialize", {
      processId: null,
      rootUri: uri("a.ngraph").replace(/\/a\.ngraph$/, ""),
      capabilities: {
        textDocument: { rename: dynamic, references: dynamic, synchronization: dynamic },
        workspace: { didChangeWatchedFiles: dynamic },
      },
    });
    await client.sendNotification("initialized", {});
    // The module is changed in the editor, and not saved.
    const text = "// Functions.\nexport function f(text: string): string { return text; }\n";
    await client.sendNotification("textDocument/didOpen", {
      textDocument: { uri: uri("nodes.ts"), languageId: "typescript", version: 1, text },
    });
    const inModule = { textDocument: { uri: uri("nodes.ts") }, position: { line: 1, character: 16 } };
    expect(await client.sendRequest("textDocument/prepareRename", inModule)).toMatchObject({ placeholder: "f" });
    const edited = await client.sendRequest<{ changes: Record<string, TextEdit[]> }>("textDocument/rename", {
      ...inModule,
      newName: "draft",
    });
    const edit = (line: number, character: number) => ({
      range: { start: { line, character }, end: { line, character: character + 1 } },
      newText: "draft",
    });
    expect(edited.changes).toEqual({
      [uri("a.ngraph")]: [edit(0, 9), edit(3, 11)],
      [uri("nodes.ts")]: [edit(1, 16)],
      [uri("use.ts")]: [edit(0, 9), edit(1, 0)],
    });
    const references = await client.sendRequest<readonly { uri: string }[]>("textDocument/references", {
      ...inModule,
      context: { includeDeclaration: true },
    });
    expect(references.map((each) => each.uri)).toEqual([uri("a.ngraph"), uri("a.ngraph")]);
    // The parameter is no export: the language server of TypeScript renames it.
    const parameter = { ...inModule, position: { line: 1, character: 19 } };
    expect(await client.sendRequest("textDocument/prepareRename", parameter)).toBeNull();
    expect(registered.map(({ method }) => method)).toEqual([
      "textDocument/didOpen",
      "textDocument/didChange",
      "textDocument/didClose",
      "textDocument/rename",
      "textDocument/references",
      "workspace/didChangeWatchedFiles",
    ]);
    await open(session, uri("a.ngraph"), A);
    const fromGraph = await client.sendRequest("textDocument/rename", {
      textDocument: { uri: uri("a.ngraph") },
      position: { line: 3, character: 11 },
      newName: "draft",
    });
    expect(fromGraph).toEqual(edited);
    await expect(client.sendRequest("textDocument/rename", { ...inModule, newName: "class" })).rejects.toThrow(
      "`class` is a word of TypeScript",
    );
  },
);

test("a text that is not saved is imported in a workspace that is reached by a symbolic link", async () => {
  const session = await initialized();
  const { client, uri } = session;
  mkdirSync(new URL(uri("real")));
  symlinkSync("real", new URL(uri("linked")), "dir");
  // Only the editor has the files.
  const inner = (type: string): string =>
    `graph inner {\n  output r: ${type}\n  node n = ${type === "int" ? "1" : '"x"'} into r\n  start -> n\n}\n`;
  await open(session, uri("linked/inner.ngraph"), inner("int"));
  const outer = uri("linked/outer.ngraph");
  await open(
    session,
    outer,
    'import { inner } from "./inner.ngraph"\ngraph outer {\n  output s: string\n  node a = inner() into { r: s }\n  start -> a -> end\n}\n',
  );
  expect((await session.findings(outer, 1)).diagnostics.map(({ code }) => code)).toEqual(["NG408"]);
  const published = new Promise<PublishDiagnosticsParams>((resolve) => {
    client.onNotification("textDocument/publishDiagnostics", (params: PublishDiagnosticsParams) => {
      if (params.uri === outer) resolve(params);
    });
  });
  await client.sendNotification("textDocument/didChange", {
    textDocument: { uri: uri("linked/inner.ngraph"), version: 2 },
    contentChanges: [{ text: inner("string") }],
  });
  expect((await published).diagnostics.filter(({ severity }) => severity === 1)).toEqual([]);
  const definition = await client.sendRequest<readonly { uri: string }[]>("textDocument/definition", {
    textDocument: { uri: outer },
    position: { line: 0, character: 10 },
  });
  expect(definition.map((each) => each.uri)).toEqual([uri("linked/inner.ngraph")]);
});

test("refuses requests with missing parts, and goes on", async () => {
  const session = await initialized();
  const { client, uri } = session;
  await open(session, uri("a.ngraph"), MISSPELT);
  const textDocument = { uri: uri("a.ngraph") };
  const position = { line: 0, character: 0 };
  for (const [method, params] of [
    ["codeAction", { textDocument, context: {} }],
    ["codeAction", { textDocument: null, context: {} }],
    ["references", { textDocument, position }],
    ["hover", { textDocument }],
    ["formatting", {}],
    ["documentSymbol", { textDocument: {} }],
    ["foldingRange", { textDocument: { uri: 7 } }],
    ["completion", { textDocument, position: { line: "1", character: 0 } }],
  ] as const)
    await expect(client.sendRequest(`textDocument/${method}`, params), method).rejects.toThrow(
      "the parameters are incomplete",
    );
  expect(await client.sendRequest("textDocument/foldingRange", { textDocument })).toHaveLength(1);
});
