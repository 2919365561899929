/** The tokens and the nodes of a text, as the tree-sitter grammar and as the parser read them: in one notation. */
import { SourceFile } from "../../diagnostics/source.ts";
import type { File } from "../../grammar/ast.ts";
import { readTokens } from "../../grammar/lexer/read-tokens.ts";
import { newReading } from "../../grammar/reading.ts";
import { visitNodes } from "../grammar/tree.ts";
import { allNodes, type TreeNode } from "./tree-printer.ts";

const COMMENTS = new Set(["doc_comment", "line_comment", "block_comment"]);

/** The tokens of a tree. A string is one token, and so is the text of a template between its expressions. */
export function tokensOfTree(root: TreeNode): string[] {
  const tokens: { readonly start: number; end: number; readonly isText: boolean }[] = [];
  const visit = (node: TreeNode): void => {
    if (COMMENTS.has(node.type)) return;
    if (node.children.length > 0 && node.type !== "string") {
      node.children.forEach(visit);
      return;
    }
    const isText = node.type === "template_text" || node.type === "escape_sequence";
    const last = tokens[tokens.length - 1];
    if (isText && last?.isText === true) last.end = node.end;
    else if (node.end > node.start) tokens.push({ start: node.start, end: node.end, isText });
  };
  visit(root);
  return tokens.map(({ start, end }) => `${start}..${end}`);
}

/** The tokens of the lexer. `>=` is two tokens where the tree has a `>`: behind an open `map<`. */
export function tokensOfText(text: string, root: TreeNode): string[] {
  const closing = new Set(allNodes(root).flatMap(({ type, start }) => (type === ">" ? [start] : [])));
  const { tokens } = readTokens(newReading(new SourceFile("input.ngraph", text), text));
  return tokens.flatMap(({ startOffset: start, image }) => {
    const end = start + image.length;
    return image === ">=" && closing.has(start)
      ? [`${start}..${start + 1}`, `${start + 1}..${end}`]
      : [`${start}..${end}`];
  });
}

/** Node types with another name than the kind of the syntax tree. */
const TYPE_OF: Readonly<Record<string, string>> = {
  Type: "type_declaration",
  DurationLiteral: "duration",
  Count: "number",
  MockFails: "mock",
  SettledOf: "all_of",
};

/** Kinds that are tokens, or that the tree shows by a field. */
const NO_TYPE = new Set(["Identifier", "Key", "NodeList", "TemplateText"]);

function typeOf(kind: string, value: unknown): string {
  if (kind === "Bool") return value === true ? "true" : "false";
  return TYPE_OF[kind] ?? kind.replace(/(?<!^)[A-Z]/g, "_$&").toLowerCase();
}

/** The nodes of the syntax tree: type and span. */
export function nodesOfFile(file: File): string[] {
  const nodes: string[] = [];
  visitNodes(file.items, (node) => {
    if (node.kind === undefined || NO_TYPE.has(node.kind)) return;
    const type = typeOf(node.kind, "value" in node ? node.value : undefined);
    nodes.push(`${type} ${node.span.start}..${node.span.end}`);
  });
  return nodes.sort();
}

/** Types of nodes that the syntax tree has no object for. */
const OF_TREE_ONLY = new Set([
  ...[
    "file",
    "identifier",
    "graph_body",
    "plan_body",
    "test_body",
    "policies",
    "undo_policies",
    "step",
    "matrix",
    "axis",
    "after",
  ],
  ...[
    "dependency",
    "parenthesized",
    "parenthesized_type",
    "interpolation",
    "template_text",
    "string_text",
    "escape_sequence",
  ],
  ...COMMENTS,
]);

/** Whether the syntax tree has the node as a property of its parent, or not at all. */
function isProperty(node: TreeNode, parent: TreeNode | undefined): boolean {
  if (node.type === "string") return parent?.type !== "signal" && (node.field === "name" || node.field === "field");
  if (node.type === "union_type")
    return node.children.filter((child) => child.isNamed && !COMMENTS.has(child.type)).length === 1;
  if (node.type === "any_of") return node.field === "source";
  if (node.type === "was") return parent?.type !== "policies";
  return node.type === "when" && parent?.type === "task";
}

/** The nodes of the tree that correspond to those of `nodesOfFile`. */
export function nodesOfTree(root: TreeNode): string[] {
  const nodes: string[] = [];
  const visit = (node: TreeNode, parent?: TreeNode): void => {
    const isNode = node.isNamed && !OF_TREE_ONLY.has(node.type) && !isProperty(node, parent);
    if (isNode) nodes.push(`${node.type} ${node.start}..${node.end}`);
    // A type that is a literal has no parts in the syntax tree.
    if (node.type !== "literal_type") for (const child of node.children) visit(child, node);
  };
  visit(root);
  return nodes.sort();
}
