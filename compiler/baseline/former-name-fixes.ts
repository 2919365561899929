/**
 * Fixes that declare (`was`, `drop`) which parts an edit has renamed or removed. The engine then converts threads when
 * it resumes them.
 */
import type { Fix } from "../../diagnostics/diagnostic.ts";
import type { SourceFile, Span } from "../../diagnostics/source.ts";
import type { BoundGraph } from "../bind/bound-graph.ts";

/** `graph support was helpdesk {` */
export function wasOfGraph({ file, declaration }: BoundGraph, former: string): Fix | undefined {
  const after = declaration.was?.at(-1)?.span ?? declaration.name.span;
  return insertion(file, after.end, declaration.was === undefined ? ` was ${former}` : `, ${former}`, `was ${former}`);
}

export function wasOfNode(graph: BoundGraph, name: string, former: string): Fix | undefined {
  const declaration = graph.nodes.find((node) => node.name === name)?.declaration;
  if (declaration === undefined) return undefined;
  const last = declaration.policies.at(-1);
  const [at, text] =
    last === undefined ? [declaration.span.end, ` { was ${former} }`] : [last.span.end, `  was ${former}`];
  return insertion(graph.file, at, text, `was ${former}`);
}

export function wasOfChannel(graph: BoundGraph, name: string, former: string): Fix | undefined {
  const declaration = graph.channels.find((channel) => channel.name === name)?.declaration;
  if (declaration === undefined) return undefined;
  const text = declaration.was === undefined ? ` was ${former}` : `, ${former}`;
  return insertion(graph.file, declaration.span.end, text, `was ${former}`);
}

/** A line `drop score` after the last channel. */
export function dropOf(graph: BoundGraph, name: string): Fix | undefined {
  const last = graph.channels.at(-1)?.declaration.span;
  if (last === undefined) return undefined;
  const indent = " ".repeat(graph.file.position(last.start).column - 1);
  return insertion(graph.file, last.end, `\n${indent}drop ${name}`, `drop ${name}`);
}

/** YAML has other places for these words: there the help alone names them. */
function insertion(file: SourceFile, at: number, text: string, what: string): Fix | undefined {
  if (/\.ya?ml$/i.test(file.path)) return undefined;
  const span: Span = { start: at, end: at };
  return { title: `add \`${what}\``, edits: [{ span, text }] };
}
