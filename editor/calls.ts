/** Which graphs and plans call which: the call hierarchy, and symbols of the whole workspace. */
import type { CallHierarchyItem, SymbolInformation } from "vscode-languageserver-protocol";
import { coverSpans, type Span } from "../diagnostics/source.ts";
import type * as Ast from "../grammar/ast.ts";
import type { FileNames } from "./name-index.ts";
import { toRange } from "./positions.ts";

/** `SymbolKind` of the protocol. */
const SYMBOL = { Graph: 5, Plan: 5, Type: 11, Const: 14, Secret: 14, Node: 6, Task: 6 } as const;

/** Maximum number of symbols in one answer. */
const MOST = 500;

/** A graph or plan in a call hierarchy. `data` is its identity. */
export function hierarchyItem(
  file: FileNames,
  unit: Ast.GraphDecl | Ast.PlanDecl,
  uri: string,
  target: string,
): CallHierarchyItem {
  const whole = coverSpans(unit.span, unit.name.span);
  return {
    name: unit.name.name,
    kind: SYMBOL[unit.kind],
    detail: unit.kind.toLowerCase(),
    uri,
    range: toRange(file.source, whole),
    selectionRange: toRange(file.source, unit.name.span),
    data: target,
  };
}

/** The graph or plan that declares a target, with its file. */
export function unitOf(
  target: string,
  files: Iterable<FileNames>,
): { readonly file: FileNames; readonly unit: Ast.GraphDecl | Ast.PlanDecl } | undefined {
  for (const file of files) {
    for (const unit of unitsOf(file)) {
      if (
        file.uses.some(
          (use) => use.role === "declaration" && use.target === target && use.span.start === unit.name.span.start,
        )
      )
        return { file, unit };
    }
  }
  return undefined;
}

export interface Call {
  readonly file: FileNames;
  /** The caller or the called one. */
  readonly unit: Ast.GraphDecl | Ast.PlanDecl;
  readonly target: string;
  /** Places of the calls, in the caller's file. */
  readonly spans: readonly Span[];
  readonly caller: FileNames;
}

/** The graphs and plans that call a target. */
export function callersOf(target: string, files: readonly FileNames[]): readonly Call[] {
  return files.flatMap((file) =>
    unitsOf(file).flatMap((unit) => {
      const spans = file.uses.flatMap((use) =>
        use.target === target && use.role === "call" && isIn(use.span, unit.span) ? [use.span] : [],
      );
      const own = file.uses.find((use) => use.role === "declaration" && use.span.start === unit.name.span.start);
      return spans.length === 0 || own === undefined ? [] : [{ file, unit, target: own.target, spans, caller: file }];
    }),
  );
}

/** The graphs and plans that a target calls. */
export function calledBy(target: string, files: readonly FileNames[]): readonly Call[] {
  const own = unitOf(target, files);
  if (own === undefined) return [];
  const spans = new Map<string, Span[]>();
  for (const use of own.file.uses) {
    if (use.role !== "call" || (use.kind !== "graph" && use.kind !== "plan" && use.kind !== "function")) continue;
    if (!isIn(use.span, own.unit.span)) continue;
    spans.set(use.target, [...(spans.get(use.target) ?? []), use.span]);
  }
  return [...spans].flatMap(([called, places]) => {
    const found = unitOf(called, files);
    return found === undefined ? [] : [{ ...found, target: called, spans: places, caller: own.file }];
  });
}

function unitsOf({ file }: FileNames): readonly (Ast.GraphDecl | Ast.PlanDecl)[] {
  return file.items.filter((item) => item.kind === "Graph" || item.kind === "Plan");
}

function isIn(inner: Span, outer: Span): boolean {
  return outer.start <= inner.start && inner.end <= outer.end;
}

/** Declarations whose name contains the letters of a query in their order. */
export function findSymbols(
  query: string,
  files: Iterable<FileNames>,
  uriOf: (path: string) => string,
): SymbolInformation[] {
  const letters = [...query.toLowerCase()].map((letter) => letter.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  const pattern = new RegExp(letters.join(".*"), "s");
  const found: SymbolInformation[] = [];
  for (const file of files) {
    for (const item of file.file.items) {
      const inner: readonly (Ast.Statement | Ast.PlanStatement)[] =
        item.kind === "Graph" || item.kind === "Plan" ? item.statements : [];
      for (const each of [item, ...inner]) {
        const kind = SYMBOL[each.kind as keyof typeof SYMBOL] as number | undefined;
        const { name } = each as { readonly name?: Ast.Identifier };
        if (kind === undefined || name === undefined || !pattern.test(name.name.toLowerCase())) continue;
        if (found.length === MOST) return found;
        found.push({
          name: name.name,
          kind: kind as SymbolInformation["kind"],
          location: { uri: uriOf(file.path), range: toRange(file.source, name.span) },
          ...(each === item || !("name" in item) ? {} : { containerName: item.name.name }),
        });
      }
    }
  }
  return found;
}
