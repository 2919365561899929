/** What an editor draws over a text: colours by meaning, hints, lenses and links. */
import type { CodeLens, DocumentLink, InlayHint } from "vscode-languageserver-protocol";
import { typeToText } from "../compiler/types/type-text.ts";
import type { SourceFile, Span } from "../diagnostics/source.ts";
import type * as Ast from "../grammar/ast.ts";
import type { CheckedDocument } from "./document.ts";
import type { FileNames, NameIndex } from "./name-index.ts";
import type { NameKind, NameUse } from "./names.ts";
import { toPosition, toRange, toSpan } from "./positions.ts";
import type { Range } from "vscode-languageserver-protocol";

/** The kinds of names that semantic tokens distinguish, as the protocol names them. */
export const TOKEN_TYPES = ["function", "class", "type", "variable", "parameter", "method", "namespace"] as const;
export const TOKEN_MODIFIERS = ["declaration", "readonly", "defaultLibrary", "modification"] as const;

const TOKEN: Readonly<Record<NameKind, { readonly type: (typeof TOKEN_TYPES)[number]; readonly modifiers: number }>> = {
  function: { type: "function", modifiers: 0 },
  graph: { type: "class", modifiers: 0 },
  plan: { type: "class", modifiers: 0 },
  type: { type: "type", modifiers: 0 },
  constant: { type: "variable", modifiers: 2 },
  secret: { type: "variable", modifiers: 2 },
  channel: { type: "variable", modifiers: 0 },
  derived: { type: "variable", modifiers: 2 },
  node: { type: "method", modifiers: 0 },
  task: { type: "method", modifiers: 0 },
  pool: { type: "namespace", modifiers: 0 },
  variable: { type: "parameter", modifiers: 0 },
  builtin: { type: "function", modifiers: 4 },
  library: { type: "function", modifiers: 4 },
};

/** The semantic tokens of a text, or of a part of it, in the relative form of the protocol. */
export function findTokens({ uses, source }: FileNames, range?: Range): number[] {
  const wanted = range === undefined ? undefined : toSpan(source, range);
  const data: number[] = [];
  let line = 0;
  let character = 0;
  let end = -1;
  for (const { span, kind, role } of uses) {
    // In `{ reply }` two names share one place.
    if (span.start < end || span.end <= span.start) continue;
    if (wanted !== undefined && (span.end < wanted.start || span.start > wanted.end)) continue;
    const at = toPosition(source, span.start);
    const { type, modifiers } = TOKEN[kind];
    const own = (role === "declaration" ? 1 : 0) | (role === "write" ? 8 : 0);
    const column = at.line === line ? at.character - character : at.character;
    data.push(at.line - line, column, span.end - span.start, TOKEN_TYPES.indexOf(type), modifiers | own);
    ({ line, character } = at);
    end = span.end;
  }
  return data;
}

/** Types of items and derived names, barriers of targets, and bounds that are proven. */
export function findHints({ result, source }: CheckedDocument, range: Range): InlayHint[] {
  const asked = toSpan(source, range);
  const isAsked = (span: Span): boolean => asked.start <= span.end && span.start <= asked.end;
  const hints: InlayHint[] = [];
  const add = (span: Span, label: string, tooltip: string, kind?: 1): void => {
    if (!isAsked(span)) return;
    hints.push({
      position: toPosition(source, span.end),
      label,
      tooltip,
      ...(kind === undefined ? { paddingLeft: true } : { kind }),
    });
  };
  for (const { bound, proofs } of result.graphs) {
    for (const [{ name }, type] of bound.derivedTypes?.() ?? [])
      add(name.span, `: ${typeToText(type)}`, "the type of the derived name", 1);
    const joins = joinsOf(bound.declaration);
    for (const { declaration, each, name } of bound.nodes) {
      const type = each === undefined ? undefined : itemType(each.list.type);
      if (type !== undefined && declaration.each !== undefined)
        add(declaration.each.item.span, `: ${type}`, "the type of an item", 1);
      const join = joins.get(name);
      if (join !== undefined) add(declaration.name.span, join, "the barrier that starts this node");
      const bounded = proofs.find(({ code, span }) => code === "NG207" && span.start === declaration.name.span.start);
      const count = bounded === undefined ? undefined : /at most (\S+) times?/.exec(bounded.message)?.[1];
      if (bounded !== undefined && count !== undefined) add(declaration.name.span, `≤ ${count}`, bounded.message);
    }
  }
  for (const { bound } of result.plans) {
    const counts = new Map<Ast.TaskDecl, number>();
    for (const { declaration } of bound.tasks) counts.set(declaration, (counts.get(declaration) ?? 0) + 1);
    for (const [{ name, each }, count] of counts) {
      if (each !== undefined && count > 1) add(name.span, `× ${count}`, `${count} tasks`);
    }
  }
  return hints.sort((a, b) => a.position.line - b.position.line || a.position.character - b.position.character);
}

function itemType(type: Parameters<typeof typeToText>[0]): string | undefined {
  return type.kind === "list" ? typeToText(type.item) : undefined;
}

/** By node, the barrier that leads to it: `all(a, b)`. */
function joinsOf({ statements }: Ast.GraphDecl): ReadonlyMap<string, string> {
  const joins = new Map<string, string>();
  for (const statement of statements) {
    if (statement.kind !== "Edge" || statement.source.kind === "NodeList") continue;
    const members = statement.source.members.map((member) =>
      member.kind === "Identifier" ? member.name : `any(${member.nodes.map(({ name }) => name).join(", ")})`,
    );
    const text = `${statement.source.kind === "AllOf" ? "all" : "settled"}(${members.join(", ")})`;
    const [next] = statement.chain;
    const targets = next !== undefined ? [next] : statement.to.kind === "Targets" ? statement.to.nodes : [];
    for (const { name } of targets) joins.set(name, text);
  }
  return joins;
}

/** Above each graph and plan: run it, and how often it is called; above each test: run it. */
export function findLenses(
  { source, file, uses }: FileNames,
  uri: string,
  countOf: (use: NameUse) => number,
): CodeLens[] {
  return file.items.flatMap((item): CodeLens[] => {
    if (item.kind === "Test") {
      const args = [uri, item.title.value];
      return [
        {
          range: toRange(source, item.title.span),
          command: { title: "Run test", command: "ngraph.test", arguments: args },
        },
      ];
    }
    if (item.kind !== "Graph" && item.kind !== "Plan") return [];
    const range = toRange(source, item.name.span);
    const args = [uri, item.name.name];
    const own = uses.find(({ span, role }) => role === "declaration" && span.start === item.name.span.start);
    const count = own === undefined ? 0 : countOf(own);
    return [
      { range, command: { title: "Run", command: "ngraph.run", arguments: args } },
      { range, command: { title: "Picture", command: "ngraph.preview", arguments: args } },
      ...(count === 0
        ? []
        : [
            {
              range,
              command: {
                title: `${count} ${count === 1 ? "use" : "uses"}`,
                command: "ngraph.references",
                arguments: args,
              },
            },
          ]),
    ];
  });
}

/** The files that imports name. */
export function findLinks(
  { file, source, path }: FileNames,
  index: NameIndex,
  uriOf: (path: string) => string,
): DocumentLink[] {
  return file.items.flatMap((item) => {
    const found = item.kind === "Import" ? index.resolve(path, item.from.value) : undefined;
    if (item.kind !== "Import" || found === undefined) return [];
    return [{ range: innerRange(source, item.from.span), target: uriOf(found.path) }];
  });
}

/** A string without its quotes, which a key of a YAML map may lack. */
function innerRange(source: SourceFile, { start, end }: Span): Range {
  const text = source.text.slice(start, end);
  const isQuoted = /^(["']).*\1$/s.test(text);
  return toRange(source, isQuoted ? { start: start + 1, end: end - 1 } : { start, end });
}
