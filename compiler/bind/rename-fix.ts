/** The fix for a reserved name: renames a declared name and all its uses in the graph. */
import type { Fix } from "../../diagnostics/diagnostic.ts";
import type { Span } from "../../diagnostics/source.ts";
import type * as Ast from "../../grammar/ast.ts";

/** Names that are also built in. A use of such a name can mean the built-in name, so a fix cannot rename the uses. */
const AMBIGUOUS: ReadonlySet<string> = new Set(["start", "end", "error"]);

/** @param what the kind of the declared thing, with its article: `a node` */
export function renameFix(graph: Ast.GraphDecl, name: string, what: string): Fix | undefined {
  if (AMBIGUOUS.has(name)) return undefined;
  const kind = what.split(" ").at(-1) ?? "";
  const used = new Set<string>();
  const uses: { readonly span: Span; readonly isField: boolean }[] = [];
  const stack: unknown[] = [...graph.statements];
  while (stack.length > 0) {
    const node = stack.pop();
    if (Array.isArray(node)) stack.push(...node);
    if (typeof node !== "object" || node === null || !("kind" in node)) continue;
    const { kind: sort, name: own, span } = node as { kind: string; name?: unknown; span: Span };
    if ((sort === "Identifier" || sort === "Name") && typeof own === "string") {
      used.add(own);
      if (own === name) uses.push({ span, isField: false });
      continue;
    }
    if (sort === "Argument") {
      stack.push((node as Ast.Argument).value);
      continue;
    }
    // A field in its short form, `{ set }`, keeps its name.
    const short = shortField(node as Ast.RecordField | Ast.OutputField);
    if (short !== undefined) {
      if (short.name === name) uses.push({ span: short.span, isField: true });
      continue;
    }
    for (const [key, value] of Object.entries(node)) if (!NO_USES.has(key)) stack.push(value);
  }
  let use = `${name}_${kind}`;
  while (used.has(use)) use += "_";
  const edits: Fix["edits"][number][] = [];
  const seen = new Set<number>();
  for (const { span, isField } of uses.toSorted((a, b) => a.span.start - b.span.start)) {
    if (seen.has(span.start)) continue;
    seen.add(span.start);
    edits.push({ span, text: isField ? `${name}: ${use}` : use });
  }
  return edits.length === 0 ? undefined : { title: `rename to \`${use}\``, edits };
}

/** Properties of syntax that hold names of fields, functions and arguments. */
const NO_USES: ReadonlySet<string> = new Set(["property", "callee", "was", "span", "type", "reducer"]);

function shortField(node: Ast.RecordField | Ast.OutputField) {
  if (node.kind === "RecordField" && node.value.kind === "Name" && node.value.span.start === node.name.span.start) {
    return { name: node.value.name, span: node.value.span };
  }
  if (node.kind === "OutputField" && node.channel.span.start === node.field.span.start) {
    return { name: node.channel.name, span: node.channel.span };
  }
  return undefined;
}
