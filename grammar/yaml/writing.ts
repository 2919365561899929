import type { CommentsOf } from "../attach-comments.ts";
import type { Broken, DocComment } from "../ast.ts";
import type { SourceView } from "../format/source-view.ts";
import type { YamlValue } from "./emit-yaml.ts";

/** The state of writing one file. */
export interface Writing {
  readonly source: SourceView;
  readonly commentsOf: CommentsOf;
  /** Reports a part that YAML cannot represent, once for each loss. */
  lose(what: string, span: { readonly start: number }): void;
}

export type Entry = readonly [key: string, value: YamlValue];

export function docEntry(doc: DocComment | undefined): Entry[] {
  return doc === undefined ? [] : [["doc", doc.text]];
}

export function loseBroken(broken: Broken, writing: Writing): void {
  writing.lose("what could not be read", broken.span);
}

/** The value of a statement with the statement's comments. */
export function withComments(value: YamlValue, statement: object, { commentsOf }: Writing): YamlValue {
  const comments = commentsOf(statement);
  if (comments === undefined || (comments.before.length === 0 && comments.behind === undefined)) return value;
  return { kind: "commented", value, before: comments.before, behind: comments.behind };
}

/** The first entry of a document carries the comments of its first line. */
export function headEntry(key: string, name: string, item: object, writing: Writing): Entry {
  return [key, withComments(name, item, writing)];
}
