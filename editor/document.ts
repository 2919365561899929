import type { CompileResult } from "../compiler/compile.ts";
import { finish, type Steps } from "../compiler/algorithms/steps.ts";
import { compileInSteps } from "../compiler/compile.ts";
import type { CompilerHost } from "../compiler/load/host.ts";
import type { Spelling } from "../compiler/load/read-syntax.ts";
import { SourceFile } from "../diagnostics/source.ts";

/** A text that is open in the editor. */
export interface OpenDocument {
  readonly uri: string;
  /** The file of the URI; the URI itself for a text that is not saved. */
  readonly path: string;
  readonly spelling: Spelling;
  readonly version: number;
  readonly text: string;
}

/** A document and its findings. All functions of this folder read it; none changes it. */
export interface CheckedDocument {
  readonly document: OpenDocument;
  readonly source: SourceFile;
  readonly result: CompileResult;
}

/** Checks a document. Never throws for any text. */
export function checkDocument(document: OpenDocument, host: CompilerHost): CheckedDocument {
  return finish(checkInSteps(document, host));
}

/** Checks a document in steps. Never throws for any text. */
export function* checkInSteps(document: OpenDocument, host: CompilerHost): Steps<CheckedDocument> {
  const { path, spelling, text } = document;
  const result = yield* compileInSteps(text, { path, spelling, host });
  return { document, source: new SourceFile(path, text), result };
}

/**
 * The spelling of a document; `undefined` for a document that is not a graph. A YAML file is one if its name ends in
 * `.ngraph.yaml` or `.ngraph.yml`, or if the editor names its language `ngraph-yaml`.
 */
export function spellingOf(path: string, languageId: string): Spelling | undefined {
  if (/\.ngraph\.ya?ml$/i.test(path) || languageId === "ngraph-yaml") return "yaml";
  if (/\.ngraph$/i.test(path) || languageId === "ngraph") return "ngraph";
  return undefined;
}
