/** A project in three languages, with names at every kind of place. */
export const PROJECT: ReadonlyMap<string, string> = new Map([
  [
    "/project/nodes.ts",
    `export interface Ticket { id: string; text: string }
export type Kind = "bug" | "question";
/** Reads a ticket. */
export async function classify(ticket: Ticket): Promise<Kind> { return ticket.text.includes("?") ? "question" : "bug"; }
export const answer = (ticket: Ticket, notes: string[]): { reply: string; note?: string } => ({ reply: [ticket.id, ...notes].join() });
export function shorten(text: string): string { return text.slice(0, 10); }
export function longest(old: string, next: string): string { return next.length > old.length ? next : old; }
export function undo(text: string): void { shorten(text); }
export const all = { classify, shorten, quick: [answer] };
`,
  ],
  [
    "/project/index.ts",
    `export * from "./nodes.ts";
export { shorten as cut } from "./nodes.ts";
`,
  ],
  [
    "/project/use.ts",
    `import { all, answer as write, shorten, type Ticket } from "./index.ts";
import * as nodes from "./nodes.ts";
function inner(shorten: string): string { return shorten; }
export const used = [inner(shorten("a")), nodes.classify({ id: "1", text: "" }), write, all] as const;
export function lengthOf(ticket: Ticket): number { const { text } = ticket; return nodes.shorten(text).length; }
`,
  ],
  ["/project/graphs.d.ts", 'declare module "*.ngraph";\ndeclare module "*.yaml";\n'],
  [
    "/project/app.ts",
    `import { support, outer as run } from "./lib.ngraph";
import { desk } from "./main.ngraph.yaml";
export const flows: readonly unknown[] = [{ support, desk }, run, [support]];
export { find } from "./lib.ngraph";
`,
  ],
  [
    "/project/lib.ngraph",
    `import { classify, answer, shorten, undo, longest, type Ticket, type Kind } from "./index.ts"

secret API_KEY

const LIMIT = 3
const MOST = LIMIT + 1

type Note = { text: string, rank: int }

/// Answers a ticket.
graph support was helpdesk {
  input ticket: Ticket
  config depth: int = 2
  output reply: string = "none" reduce longest was text
  output notes: Note[] reduce append
  state kind: Kind | null
  state parts: string[] = []
  state rounds: int = LIMIT reduce sum
  memory seen: string[] reduce append

  derive isLong = len(parts) > depth

  node read = classify(ticket) into kind { tries 2 }
  node split = [shorten(word) for word in [ticket.text, API_KEY] if len(word) > LIMIT] into parts
  node work = shorten(\`\${part} \${at} \${kind ?? "none"}\`) for part, at in parts if at < MOST into seen { undo undo(part) }
  node draft = answer(ticket, parts) into { reply, note?: seen }
  node note = [{ text: reply, rank: rounds }] into notes
  node again = { rounds: 1, parts } into { rounds, parts }
  node failed = print(error?.message)
  node ended = print(outcome.status)

  start -> read
  read -> match kind { "bug" -> split, draft  else -> draft }
  read -> failed on error
  split -> work when isLong
  split -> end otherwise
  any(work, draft) -> note
  note -> again when rounds < MOST
  note -> end otherwise
  finally -> ended

  assert read before draft
}

graph outer {
  input ticket: Ticket
  output reply: string
  output kind: string = ""

  node call = support(ticket: ticket) into { reply }
  node other = llm(reply, tools: [find, shorten]) into kind

  start -> call -> other
}

/// Finds a text.
graph find {
  input query: string
  output found: string
  node look = query into found
  start -> look
}

test "a bug" for support {
  given ticket = { id: "1", text: "broken" }
  mock read = "bug"
  mock draft = { reply: "done" }
  expect reply == "done"
  expect ran [read]
}
`,
  ],
  [
    "/project/main.ngraph.yaml",
    `imports: { ./lib.ngraph: [support as help, find, type Note, MOST], ./nodes.ts: [shorten as cut, type Ticket] }
constants: { LEAST: MOST - 1 }
---
graph: desk
input: { ticket: Ticket, tickets: "Ticket[]" }
output:
  reply: { type: string, default: '""' }
  all: { type: "Note[]", default: [], reduce: append }
state: { text: { type: string, default: '""' }, round: { type: int, default: 0 }, texts: { type: "string[]", default: [], reduce: append } }
derive: { isOver: round > LEAST }
nodes:
  ask: { call: help, args: { ticket: ticket }, into: { reply: reply, notes: all } }
  look: { call: find, args: { query: item.text }, for: item in tickets, into: "{ found: texts }" }
  short: { call: cut, args: ["\`\${reply} ✓ \${text} \${len(texts)}\`"], into: text }
  count: { expr: round + 1, into: round }
edges:
  - start -> look -> ask -> short -> count
  - { from: count, to: ask, when: "!isOver" }
  - count -> end otherwise
`,
  ],
  [
    "/project/build.ngraph",
    `const FOLDERS = ["a", "b"]

plan build {
  input ticket: json
  output text: string
  state branch: string = "main"

  pool gpu 2

  task fetch = shell("git fetch") into { stdout: branch }
  task compile = shell("make", env: { BRANCH: branch }) for folder in FOLDERS after fetch { cwd folder  pool gpu 1 }
  task pack = pack(path: "dist") after any compile, fetch when branch == "main" into { archive: text }
  task report = print(branch) after done compile, pack when status(pack) == "done" && status(compile) == "done"
}

plan pack {
  input path: string
  output archive: string
  task zip = shell("zip") into { stdout: archive } { cwd path }
}
`,
  ],
]);
