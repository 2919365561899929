/** What the language of another system cannot say: a refusal, or a loss that the user reads. */
import type { SourceFile, Span } from "../../diagnostics/source.ts";

/** A change of meaning, with its place and a way out. */
export interface Loss {
  readonly file: SourceFile;
  readonly span: Span;
  readonly message: string;
  readonly help: string;
}

/** The text of an export, and what it does not say. */
export interface Exported {
  readonly text: string;
  readonly losses: readonly Loss[];
}

/** The graph has a part that the target has no form for, and without which it would be another graph. */
export class ExportError extends Error {
  readonly file: SourceFile;
  readonly span: Span;
  /** The remedy. */
  readonly help: string;

  constructor({ file, span, message, help }: Loss) {
    super(message);
    this.name = "ExportError";
    this.file = file;
    this.span = span;
    this.help = help;
  }
}

/** Collects the losses of an export in the order of their places. */
export class Losses {
  readonly #all: Loss[] = [];

  add(loss: Loss): void {
    this.#all.push(loss);
  }

  /** Each once: a called graph is written for each of its callers. */
  get list(): readonly Loss[] {
    const known = new Map<string, Loss>();
    for (const loss of this.#all) {
      const key = JSON.stringify([loss.file.path, loss.span.start, loss.span.end, loss.message]);
      if (!known.has(key)) known.set(key, loss);
    }
    return [...known.values()].sort(
      (a, b) => (a.file.path < b.file.path ? -1 : a.file.path > b.file.path ? 1 : 0) || a.span.start - b.span.start,
    );
  }
}

/** `line:column` of the start of a loss. */
export function placeOf({ file, span }: Pick<Loss, "file" | "span">): string {
  const { start } = file.range(span);
  return `${start.line}:${start.column}`;
}
