import { duplicateName, reservedName } from "../../diagnostics/catalog/names.ts";
import type { Diagnostic, Fix } from "../../diagnostics/diagnostic.ts";
import type { SourceFile, Span } from "../../diagnostics/source.ts";
import type * as Ast from "../../grammar/ast.ts";

/**
 * The names that one graph or plan declares. Each may be declared once; reserved names and names of secrets may not be
 * declared.
 */
export class DeclaredNames {
  /** Names about which no further findings are reported. */
  readonly poisoned = new Set<string>();
  /** A statement with unknown names could not be parsed. */
  hasUnknownNames = false;
  /** Statements could not be parsed or were refused: declarations may be missing. */
  hasBroken = false;
  readonly #seen: Map<string, { readonly span: Span; readonly what: string }>;
  readonly #file: SourceFile;
  readonly #report: (diagnostic: Diagnostic) => void;

  readonly #renameFix: ((name: string, what: string) => Fix | undefined) | undefined;

  /** @param renameFix a fix that gives a declared name and its uses another name */
  constructor(
    file: SourceFile,
    secrets: ReadonlyMap<string, Span>,
    report: (diagnostic: Diagnostic) => void,
    renameFix?: (name: string, what: string) => Fix | undefined,
  ) {
    this.#renameFix = renameFix;
    this.#file = file;
    this.#report = report;
    this.#seen = new Map([...secrets].map(([name, span]) => [name, { span, what: "a secret" }]));
  }

  /**
   * Declares a name. Reports a reserved or repeated name and returns `false`.
   *
   * @param what the kind of thing that is declared, with its article: `a node`
   * @param reserved names that cannot be declared, with what they mean
   */
  declare({ name, span }: Ast.Identifier, what: string, reserved?: ReadonlyMap<string, string>): boolean {
    const file = this.#file;
    const meaning = reserved?.get(name);
    const first = this.#seen.get(name);
    if (meaning === undefined && first === undefined) {
      this.#seen.set(name, { span, what });
      return true;
    }
    if (meaning !== undefined) {
      const fix = this.#renameFix?.(name, what);
      this.#report(reservedName({ file, span }, { name, meaning, fix }));
    } else if (first !== undefined) {
      const facts = { name, what: first.what, first: { file, span: first.span } };
      this.#report(duplicateName({ file, span }, facts));
    }
    this.poisoned.add(name);
    this.hasBroken = true;
    return false;
  }

  /** Registers a statement that could not be parsed. */
  addBroken(statement: Ast.Broken): void {
    this.hasBroken = true;
    for (const name of statement.names) this.poisoned.add(name);
    if (statement.names.length === 0) this.hasUnknownNames = true;
  }
}
