/** Completion at `¦` of texts that are being written, in both spellings: the first items, or the fact that there is none. */
import { expect, test } from "vitest";
import { memoryHost } from "../../compiler/load/host.ts";
import { findCompletions } from "../../editor/complete.ts";
import { toOffset } from "../../editor/positions.ts";
import { Workspace } from "../../editor/workspace.ts";
import { TextDocument } from "vscode-languageserver-textdocument";

const LOCK = {
  version: 1,
  servers: {
    shop: {
      tools: {
        find: {
          description: "Finds orders.",
          inputSchema: {
            type: "object",
            properties: { id: { type: "integer", description: "Of the order." }, status: { enum: ["open", "closed"] } },
          },
        },
        cancel: { inputSchema: { type: "object" } },
      },
    },
    mail: { tools: {} },
  },
};
const FILES = {
  "/p/nodes.ts": "export function draft(text: string): string { return text; }\nexport type Kind = 'a';\n",
  "/p/b.ngraph":
    "graph inner {\n  input q: string\n  input depth: int = 1\n  output r: string\n  node a = q into r\n  start -> a\n}\n",
  "/p/ngraph.lock.json": JSON.stringify(LOCK),
};

const TEXT = `import { draft } from "./nodes.ts"
import { inner } from "./b.ngraph"
type Kind = "refund" | "question" | "other"
graph g {
  input q: string
  input first: Kind
  input order: { id: int, to: { name: string } }
  input orders: { id: int, kind: Kind }[]
  output r: string
  state kind: Kind = "other"
  node a = q into r
  node b = q into r
  LINE
  start -> a -> b -> end
}
`;
const YAML = `imports: { ./nodes.ts: [draft], ./b.ngraph: [inner] }
types:
  Kind: '"refund" | "question" | "other"'
---
graph: g
input: { q: string, first: Kind, order: "{ id: int, to: { name: string } }" }
output: { r: string }
state:
  kind: { type: Kind, default: other }
nodes:
  a: { expr: q, into: r }
  b: { expr: q, into: r }
`;

function openWorkspace(path: string, text: string): Workspace {
  const workspace = new Workspace(
    () => memoryHost(FILES),
    (uri) => uri,
  );
  workspace.open(path, "", 1, text);
  workspace.check(path);
  return workspace;
}

/** The labels and inserted texts at the mark. */
function completeIn(workspace: Workspace, path: string, marked: string): readonly string[] {
  const index = workspace.index();
  const [checked, file] = [workspace.recent(path), workspace.names(path, index)];
  if (checked === undefined || file === undefined) throw new Error("the document is not open");
  const place = TextDocument.create(path, "", 1, marked).positionAt(marked.indexOf("¦"));
  const items = findCompletions(checked, file, toOffset(file.source, place), { index, host: workspace.host() });
  return items
    .toSorted((a, b) => (a.sortText ?? a.label).localeCompare(b.sortText ?? b.label))
    .map(({ label, insertText }) => (insertText === undefined || insertText === label ? label : insertText));
}

/** The completions after a check of the text without the line, and before the next one. */
function complete(path: string, before: string, marked: string): readonly string[] {
  const workspace = openWorkspace(path, before);
  workspace.change(path, 2, [{ text: marked.replace("¦", "") }]);
  const found = completeIn(workspace, path, marked);
  // After the check the answer is that of a server that opens the text as it is.
  workspace.check(path);
  expect(completeIn(workspace, path, marked)).toEqual(completeOpened(path, marked));
  return found;
}

/** The completions in a text that has just been opened. */
function completeOpened(path: string, marked: string): readonly string[] {
  return completeIn(openWorkspace(path, marked.replace("¦", "")), path, marked);
}

const ALL = true;
const FIRST = false;
const NGRAPH: readonly (readonly [line: string, first: readonly string[], isAll: boolean])[] = [
  ['start -> match kind { "refund" -> a | ¦', ['"question"', '"other"', "else"], FIRST],
  ["node c = order.¦ into r", ["id", "to"], ALL],
  ["node c = order.to.¦ into r", ["name"], ALL],
  ["node c = `${order.¦}` into r", ["id", "to"], ALL],
  ["node c = draft(o.¦) for o in orders into r", ["id", "kind"], ALL],
  ["a -> b when kind == ¦", ['"other"', '"question"', '"refund"'], FIRST],
  ['a -> b when kind != "¦"', ["other", "question", "refund"], ALL],
  ["node c = shell(¦) into r", ["check: ", "command: ", "cwd: ", "env: ", "input: "], FIRST],
  ['node c = shell("x", cwd: q, ¦) into r', ["check: ", "env: ", "input: ", "draft"], FIRST],
  ["node c = inner(¦) into { r }", ["depth: ", "q: "], FIRST],
  ["node c = inner(q: q, ¦) into { r }", ["depth: "], FIRST],
  ["node c = tool(¦) into r", ['"mail"', '"shop"'], FIRST],
  ['node c = tool("¦") into r', ["mail", "shop"], ALL],
  ['node c = tool("shop", "¦") into r', ["cancel", "find"], ALL],
  ['node c = tool("shop", "find", arguments: { ¦ }) into r', ["id: ", "status: "], FIRST],
  ['node c = tool("shop", "find", arguments: { id: 1, ¦ }) into r', ["status: "], FIRST],
  ['node c = tool("shop", "find", arguments: { status: "¦" }) into r', ["closed", "open"], ALL],
  ["node c = llm(q, servers: [¦]) into r", ['"mail"', '"shop"'], FIRST],
  ['node c = print("hello ¦")', [], ALL],
  ["node c = `hello ¦` into r", [], ALL],
  ["node c = q into r // ¦", [], ALL],
  ['node c = inner(q: "read from ", depth: order.¦)', ["id", "to"], ALL],
  ['node c = print("not closed\n  node d = order.¦ into r', ["id", "to"], ALL],
  ["/* not closed\n  node c = order.¦ into r", [], ALL],
];

test.each(NGRAPH)("%s", (line, first, isAll) => {
  const found = complete("/p/a.ngraph", TEXT.replace("  LINE\n", ""), TEXT.replace("LINE", line));
  expect(isAll ? found : found.slice(0, first.length)).toEqual(first);
});

test("outside of graphs a line begins with a word", () => {
  const text = TEXT.replace("  LINE\n", "");
  const found = complete("/p/a.ngraph", text, `${text}¦`);
  expect(found).toContain("graph");
  expect(found.filter((each) => ["a", "start", "end", "rollback"].includes(each))).toEqual([]);
});

test.each([
  ["given ¦", ["first", "order", "orders", "q"]],
  ['given first = "¦"', ["other", "question", "refund"]],
  ["mock ¦", ["a", "b"]],
  ["expect ran ¦", ["a", "b"]],
])("in a test: %s", (line, expected) => {
  const text = TEXT.replace("  LINE\n", "");
  const found = complete("/p/a.ngraph", text, `${text}test "t" for g {\n  ${line}\n}\n`);
  expect(found.slice(0, expected.length)).toEqual(expected);
});

test("in a comment at the end of the text that is not closed", () => {
  const text = TEXT.replace("  LINE\n", "");
  expect(complete("/p/a.ngraph", text, `${text}/* order.¦`)).toEqual([]);
});

const SPELT: readonly (readonly [text: string, first: readonly string[], isAll: boolean])[] = [
  ["edges:\n  - start -> ¦\n", ["a", "b", "end", "finally"], FIRST],
  ["edges:\n  - { from: start, match: kind, arms: [{ is: ¦ }] }\n", ["other", "question", "refund"], ALL],
  ["edges:\n  - from: start\n    match: kind\n    arms:\n      - { is: ¦\n", ["other", "question", "refund"], ALL],
  ["edges:\n  - { from: a, to: b, when: 'kind == \"¦' }\n", ["other", "question", "refund"], ALL],
  ["  c: { expr: order.¦, into: r }\n", ["id", "to"], ALL],
  ["  c:\n    call: shell\n    with:\n      ¦\n", ["check: ", "command: ", "cwd: ", "env: ", "input: "], FIRST],
  ["  c: { call: inner, with: { q: x, ¦ } }\n", ["depth: "], ALL],
  ["  c:\n    call: tool\n    args: ['\"¦\"']\n", ["mail", "shop"], ALL],
  ["  c:\n    call: tool\n    args: ['\"shop\"', '\"¦\"']\n", ["cancel", "find"], ALL],
  ["  c:\n    call: tool\n    args: ['\"shop\"', '\"find\"', { arguments: '{ ¦ }' }]\n", ["id: ", "status: "], FIRST],
  ["  c: { call: llm, args: [q], with: { servers: [¦] } }\n", ["mail", "shop"], ALL],
  ["---\ntest: x\nfor: g\ngiven: { ¦ }\n", ["first", "order", "q"], ALL],
  ["---\ntest: x\nfor: g\nmock:\n  ¦\n", ["a", "b"], ALL],
  ["---\ntest: x\nfor: g\nexpect:\n  - ran a, ¦\n", ["a", "b"], ALL],
  ["edges:\n  - { ¦ }\n", ["all: ", "any: ", "arms: "], FIRST],
  ["edges:\n  - { from: a, ¦ }\n", ["all: ", "any: ", "arms: "], FIRST],
  ["  c:\n    call: print\n    max ¦\n", [], ALL],
  ["# ngraph-ignore ¦\n", ["NG001", "NG002"], FIRST],
];

test.each(SPELT)("YAML: %s", (more, first, isAll) => {
  for (const found of [
    complete("/p/a.ngraph.yaml", YAML, YAML + more),
    completeOpened("/p/a.ngraph.yaml", YAML + more),
  ])
    expect(isAll ? found : found.slice(0, first.length)).toEqual(first);
});

test.each([
  ["an entry that is not closed", "edges:\n  - { from: start, to: ¦\n", ["a", "b", "end"]],
  ["a key that begins", "  dr\nedges:\n  - start -> ¦\n", ["a", "b", "end"]],
  ["a line of a node", "  c:\n    call: print\n    args: [`\nedges:\n  - start -> ¦\n", ["a", "b", "c", "end"]],
  ["quotes that are not closed", "  c: { call: print, args: ['\"] }\nedges:\n  - start -> ¦\n", ["a", "b", "end"]],
  ["another document", '---\ntest: "\nfor: g\nmock:\n  ¦\n', ["a", "b"]],
])("YAML that cannot be read, when it is opened: %s", (_, more, first) => {
  expect(completeOpened("/p/a.ngraph.yaml", YAML + more).slice(0, first.length)).toEqual(first);
});

test("YAML: exports and paths of imports", () => {
  expect(complete("/p/a.ngraph.yaml", YAML, YAML.replace("[draft]", "[¦]"))).toEqual(["draft", "Kind"]);
  expect(complete("/p/a.ngraph.yaml", YAML, YAML.replace("./nodes.ts: [draft]", "./¦: [draft]"))).toEqual([
    "b.ngraph",
    "nodes.ts",
  ]);
});
