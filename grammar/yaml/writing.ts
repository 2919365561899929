import type { Broken, DocComment } from "../ast.ts";
import type { SourceView } from "../format/source-view.ts";
import type { YamlValue } from "./emit-yaml.ts";

/** What the writing of one file carries along. */
export interface Writing {
  readonly source: SourceView;
  /** Says what has no place in YAML, once for each loss. */
  lose(what: string, span: { readonly start: number }): void;
}

export type Entry = readonly [key: string, value: YamlValue];

export function docEntry(doc: DocComment | undefined): Entry[] {
  return doc === undefined ? [] : [["doc", doc.text]];
}

export function loseBroken(broken: Broken, writing: Writing): void {
  writing.lose("what could not be read", broken.span);
}
