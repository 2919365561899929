/**
 * Findings about names that need no types: no start edge (NG103), duplicate edges (NG108), names that look alike (NG110),
 * unused imports and secrets (NG111).
 */
import { confusableNames, duplicateEdge, noStartEdge, unusedDeclaration } from "../../diagnostics/catalog/names.ts";
import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import type { Span } from "../../diagnostics/source.ts";
import { sourceNames } from "../../grammar/edge-syntax.ts";
import type * as Ast from "../../grammar/ast.ts";
import { deleteImport, deleteStatement } from "../bind/delete-unused.ts";
import type { BoundProject } from "../bind/bind-project.ts";
import { START, type BoundEdge, type BoundGraph } from "../bind/bound-graph.ts";
import type { BoundPlan } from "../bind/plan/bound-plan.ts";
import { targetsOf } from "../bind/edge-parts.ts";
import { FEATURES } from "../bind/features.ts";
import type { CheckContext } from "./check-context.ts";

/** Reports NG103. Returns whether the bound part of the graph has an edge from `start`. */
export function checkStart({ graph, isComplete, report, graphPlace }: CheckContext): boolean {
  const hasStart = graph.declaration.statements.some(
    (statement) => statement.kind === "Edge" && sourceNames(statement).some(({ name }) => name === START),
  );
  // An edge that could not be read may be the one from `start`.
  if (hasStart || !isComplete) return hasStart;
  const entered = new Set(graph.edges.flatMap((edge) => targetsOf(edge).map(({ name }) => name)));
  const first = graph.nodes.find(({ name }) => !entered.has(name)) ?? graph.nodes[0];
  report(noStartEdge(graphPlace(), { graph: graph.name, first: first?.name }));
  return false;
}

/** Pairs of source and target in one statement; a statement with more is not searched for duplicates. */
const MAX_PAIRS = 10_000;

/** Reports NG108: two edges between the same nodes, without conditions or with the same one. */
export function checkDuplicateEdges({ graph, report, place, edgesFrom }: CheckContext): void {
  const seen = new Map<string, Span>();
  for (const edge of graph.edges) {
    const { to, onError } = edge;
    if (to.kind === "match" || to.kind === "cases") continue;
    const condition = to.kind === "when" ? textOf(to.condition.span, graph) : "";
    if (isOnlyEdge(edge, edgesFrom)) continue;
    const sources = sourcesOf(edge);
    if (sources.length * to.targets.length > MAX_PAIRS) continue;
    for (const { key, text } of sources) {
      for (const target of to.targets) {
        const pair = `${key}>${target.name}>${to.kind}>${onError}>${condition}`;
        const first = seen.get(pair);
        if (first === undefined) seen.set(pair, target.span);
        else report(duplicateEdge(place(target.span), { from: text, to: target.name, first: place(first) }));
      }
    }
  }
}

/** Whether an edge with one target is the only one of its source: in a large graph, this holds for most edges. */
function isOnlyEdge({ to, source }: BoundEdge, edgesFrom: CheckContext["edgesFrom"]): boolean {
  if (source.kind !== "nodes" || source.nodes.length !== 1 || !("targets" in to) || to.targets.length > 1) return false;
  return edgesFrom.get(source.nodes[0]?.name ?? "")?.length === 1;
}

function textOf({ start, end }: Span, { file }: BoundGraph): string {
  return file.text.slice(start, end).replace(/\s+/g, " ");
}

/** The sources of an edge: `key` is equal for barriers that differ only in order. */
function sourcesOf({ source }: BoundEdge): readonly { readonly key: string; readonly text: string }[] {
  if (source.kind === "nodes") return source.nodes.map(({ name }) => ({ key: name, text: name }));
  const members = source.members.map((group) => group.map(({ name }) => name));
  const text = `${source.kind}(${members.map((names) => names.join(" or ")).join(", ")})`;
  const key = members.map((names) => [...names].sort().join("|")).sort();
  return [{ key: `${source.kind} ${key.join("&")}`, text }];
}

/**
 * Reports NG110: names of one graph or plan that differ only in case, underscores, or characters that look alike (`l1I`, `O0`).
 */
export function checkConfusableNames(
  {
    declaration,
    file,
    poisoned,
  }: Pick<BoundGraph | BoundPlan, "file" | "poisoned"> & {
    readonly declaration: { readonly statements: readonly (Ast.Statement | Ast.PlanStatement)[] };
  },
  report: (diagnostic: Diagnostic) => void,
): void {
  const declared: Ast.Identifier[] = [];
  for (const statement of declaration.statements) {
    const { kind } = statement;
    if (kind !== "Channel" && kind !== "Derive" && kind !== "Node" && kind !== "Task") continue;
    if (!poisoned.has(statement.name.name)) declared.push(statement.name);
  }
  for (const key of [foldCase, foldGlyphs]) {
    const names = new Map<string, Span>();
    for (const { name, span } of withEqualHash(declared, key === foldCase ? likeCase : likeGlyphs))
      if (!names.has(name)) names.set(name, span);
    const seen = new Map<string, string>();
    for (const [name, span] of names) {
      const folded = key(name);
      const other = seen.get(folded);
      if (other === undefined) {
        seen.set(folded, name);
        continue;
      }
      if (key === foldGlyphs && foldCase(name) === foldCase(other)) continue;
      const first = names.get(other) ?? span;
      report(confusableNames({ file, span }, { name, other, first: { file, span: first } }));
    }
  }
}

/**
 * The names whose hash another name has: few, so that only these are compared as texts.
 *
 * @param like replaces a character code, so that names that look alike have one hash; -1 leaves it out
 */
function withEqualHash(names: readonly Ast.Identifier[], like: (code: number) => number): readonly Ast.Identifier[] {
  const hashes = Int32Array.from(names, ({ name }) => {
    let hash = 0;
    for (let at = 0; at < name.length; at++) {
      const code = like(name.charCodeAt(at));
      if (code !== -1) hash = (Math.imul(hash, 31) + code) | 0;
    }
    return hash;
  });
  const sorted = hashes.toSorted();
  const repeated = new Set(sorted.filter((hash, at) => hash === sorted[at + 1]));
  return repeated.size === 0 ? [] : names.filter((_, at) => repeated.has(hashes[at]!));
}

/** As `foldCase`, but without all underscores: a hash may have more names. */
function likeCase(code: number): number {
  if (code === UNDERSCORE) return -1;
  return code >= 65 && code <= 90 ? code + 32 : code;
}

const UNDERSCORE = 95;

/** As `foldGlyphs`: `I` and `1` are `l`, and `O` and `0` are `o`. */
function likeGlyphs(code: number): number {
  return code === 73 || code === 49 ? 108 : code === 79 || code === 48 ? 111 : code;
}

/** Keeps underscores between digits: `row_1_11` and `row_11_1` are different names. */
function foldCase(name: string): string {
  return /[A-Z_]/.test(name) ? name.replace(/(?<!\d)_|_(?!\d)/g, "").toLowerCase() : name;
}

function foldGlyphs(name: string): string {
  return /[I1O0]/.test(name) ? name.replace(/[I1]/g, "l").replace(/[O0]/g, "o") : name;
}

/**
 * Reports NG111 for imports and secrets of the entry file. Types, graphs and plans may be declared for other files;
 * graphs and plans are also what a file is run by.
 */
export function checkUnusedNames({ scope, entry }: BoundProject, report: (diagnostic: Diagnostic) => void): void {
  const { names, used } = scope;
  // A statement that was not read or is not supported may use a name.
  const isPartial =
    entry.errors.length > 0 ||
    entry.syntax.items.some(({ kind }) => kind === "Test" || (kind === "Plan" && !FEATURES.has("plan")));
  if (isPartial) return;
  const imported = new Map(
    entry.imports.flatMap(({ declaration }) => declaration.names.map((name) => [name.local, { declaration, name }])),
  );
  const secrets = new Map(entry.syntax.items.flatMap((item) => (item.kind === "Secret" ? [[item.name, item]] : [])));
  for (const [name, { kind, identifier }] of names) {
    if (used.has(name) || kind === "broken") continue;
    const file = entry.source;
    const place = { file, span: identifier.span };
    const found = imported.get(identifier);
    if (found !== undefined) {
      report(unusedDeclaration(place, { name, what: "import", fixes: deleteImport(file, found) }));
      continue;
    }
    const secret = secrets.get(identifier);
    // An imported function may read the variable; the declaration redacts its value.
    if (kind !== "secret" || imported.size > 0) continue;
    const fixes = secret === undefined ? [] : [deleteStatement(file, secret, "secrets")];
    report(unusedDeclaration(place, { name, what: "secret", fixes }));
  }
}
