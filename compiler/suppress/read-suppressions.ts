import {
  suppressionOfUnknownCode,
  suppressionWithoutCode,
  suppressionWithoutReason,
} from "../../diagnostics/catalog/suppressions.ts";
import { DIAGNOSTIC_CODES, type DiagnosticCode } from "../../diagnostics/codes.ts";
import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import { findSimilar } from "../../diagnostics/similar.ts";
import type { Span } from "../../diagnostics/source.ts";
import type * as Ast from "../../grammar/ast.ts";
import { yamlComments } from "../../grammar/yaml/yaml-comments.ts";
import { createReach } from "./suppressed-range.ts";

/** A comment `ngraph-ignore NG405: reason`. */
export interface Suppression {
  readonly codes: readonly { readonly code: DiagnosticCode; readonly span: Span }[];
  readonly reason: string;
  readonly comment: Ast.Comment;
  /** The range of suppressed findings: a finding is suppressed if it begins in this range. */
  readonly range: Span;
}

const SUPPRESSION_WORD = "ngraph-ignore";

export interface Suppressions {
  readonly suppressions: readonly Suppression[];
  /** Errors of suppressions that cannot be read (NG118). */
  readonly diagnostics: readonly Diagnostic[];
}

export function readSuppressions(file: Ast.File): Suppressions {
  const { source } = file;
  // Fast path: most files have no suppressions.
  if (!source.text.includes(SUPPRESSION_WORD)) return { suppressions: [], diagnostics: [] };
  const comments = file.spelling === "yaml" ? yamlComments(source.text) : file.comments;
  const rangeOf = createReach(file, comments);
  const suppressions: Suppression[] = [];
  const diagnostics: Diagnostic[] = [];
  for (const comment of comments) {
    const read = readComment(comment, file, (problem) => void diagnostics.push(problem));
    if (read !== undefined) suppressions.push({ ...read, comment, range: rangeOf(comment) });
  }
  return { suppressions, diagnostics };
}

function readComment(
  comment: Ast.Comment,
  { source }: Ast.File,
  report: (problem: Diagnostic) => void,
): Pick<Suppression, "codes" | "reason"> | undefined {
  const body = comment.text.replace(/\*\/$/, "");
  const word = /^(?:#+|\/\/+|\/\*+)\s*ngraph-ignore(?![A-Za-z0-9_])/.exec(body)?.[0];
  if (word === undefined) return undefined;
  const rest = body.slice(word.length);
  const list = /^[^:]*/.exec(rest)?.[0] ?? "";
  const place = (from: number, to: number): { file: typeof source; span: Span } => ({
    file: source,
    span: { start: comment.span.start + from, end: comment.span.start + to },
  });
  const named = [...list.matchAll(/[^\s,]+/g)];
  if (named.length === 0 || !/^\s/.test(rest) || named.some(([name]) => !/^[A-Za-z]{2}\d+$/.test(name))) {
    report(suppressionWithoutCode(place(0, body.trimEnd().length), { found: list.trim() }));
    return undefined;
  }
  const codes: { code: DiagnosticCode; span: Span }[] = [];
  for (const { 0: name, index } of named) {
    const at = place(word.length + index, word.length + index + name.length);
    if (isCode(name)) codes.push({ code: name, span: at.span });
    else
      report(suppressionOfUnknownCode(at, { code: name, similar: findSimilar(name, Object.keys(DIAGNOSTIC_CODES)) }));
  }
  if (codes.length < named.length) return undefined;
  const reason = rest
    .slice(list.length + 1)
    .replace(/\s+/g, " ")
    .trim();
  if (!/[\p{L}\p{N}]/u.test(reason)) {
    report(suppressionWithoutReason(place(0, body.trimEnd().length)));
    return undefined;
  }
  return { codes, reason };
}

function isCode(name: string): name is DiagnosticCode {
  return Object.hasOwn(DIAGNOSTIC_CODES, name);
}
