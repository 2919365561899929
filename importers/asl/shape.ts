/**
 * The type of the data of a state machine, inferred from the use of its fields: Amazon States Language declares none.
 */

/** `any` is the result of an imported function, which fits every type. */
export type Kind = "string" | "float" | "bool" | "json" | "any";
type Scalar = "string" | "float" | "bool";

const IDENTIFIER = /^[A-Za-z_]\w*$/;
/** Deeper fields stay untyped: a type nests at most 64 levels. */
const DEEPEST = 20;

export class Shape {
  readonly #fields = new Map<string, Shape>();
  #kind: Scalar | undefined;
  /** Fields of different types, or fields of a text: the value has no type. */
  #isMixed = false;

  /** Records that the value at a path is used as this kind. */
  note(path: readonly (string | number)[], kind: Kind): void {
    this.#note(path, kind, 0);
  }

  #note(path: readonly (string | number)[], kind: Kind, depth: number): void {
    const segment = path[depth];
    if (segment === undefined) return this.#noteKind(kind);
    if (typeof segment === "number" || !IDENTIFIER.test(segment) || depth >= DEEPEST) {
      // A list, or a field without a name of the language, is read by a function.
      this.#isMixed ||= depth > 0;
      return;
    }
    if (this.#kind !== undefined) this.#isMixed = true;
    const next = this.#fields.get(segment) ?? new Shape();
    this.#fields.set(segment, next);
    next.#note(path, kind, depth + 1);
  }

  #noteKind(kind: Kind): void {
    if (kind === "json" || kind === "any") return;
    if (this.#fields.size > 0 || (this.#kind !== undefined && this.#kind !== kind)) this.#isMixed = true;
    this.#kind ??= kind;
  }

  /** Records that the value at a path has values of several types. */
  noteMixed(path: readonly (string | number)[]): void {
    this.note(path, "json");
    const shape = this.find(path);
    if (shape !== undefined && path.length > 0) shape.#isMixed = true;
  }

  /** The shape at a path; `undefined` if the type does not know the path. */
  find(path: readonly (string | number)[]): Shape | undefined {
    const [segment, ...rest] = path;
    if (segment === undefined) return this;
    if (this.#isMixed || typeof segment === "number") return undefined;
    return this.#fields.get(segment)?.find(rest);
  }

  get isRecord(): boolean {
    return !this.#isMixed && this.#fields.size > 0;
  }

  get kind(): Kind {
    return this.#isMixed || this.#kind === undefined ? "json" : this.#kind;
  }

  /** The type, in the language. */
  get type(): string {
    if (!this.isRecord) return this.kind;
    const fields = [...this.#fields].map(([name, shape]) => `${name}?: ${shape.type}`);
    return `{ ${fields.join(", ")} }`;
  }
}
