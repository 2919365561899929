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
    let shape: Shape | undefined = this;
    for (const [index, segment] of path.entries()) {
      if (typeof segment === "number" || !IDENTIFIER.test(segment) || index >= DEEPEST) {
        // A list, or a field without a name of the language, is read by a function.
        shape.#isMixed ||= index > 0;
        return;
      }
      if (shape.#kind !== undefined) shape.#isMixed = true;
      const next: Shape = shape.#fields.get(segment) ?? new Shape();
      shape.#fields.set(segment, next);
      shape = next;
    }
    if (kind === "json" || kind === "any") return;
    if (shape.#fields.size > 0 || (shape.#kind !== undefined && shape.#kind !== kind)) shape.#isMixed = true;
    shape.#kind ??= kind;
  }

  /** Records that the value at a path has values of several types. */
  noteMixed(path: readonly (string | number)[]): void {
    this.note(path, "json");
    const shape = this.find(path);
    if (shape !== undefined && path.length > 0) shape.#isMixed = true;
  }

  /** The shape at a path; `undefined` if the type does not know the path. */
  find(path: readonly (string | number)[]): Shape | undefined {
    let shape: Shape = this;
    for (const segment of path) {
      const next = shape.#isMixed || typeof segment === "number" ? undefined : shape.#fields.get(segment);
      if (next === undefined) return undefined;
      shape = next;
    }
    return shape;
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
