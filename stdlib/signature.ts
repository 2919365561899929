import type { Effect } from "../runtime/table/table.ts";
import type { ValueType } from "../runtime/table/value-type.ts";

/** A parameter of a built-in node or library function. */
export interface Parameter {
  readonly name: string;
  readonly type: ValueType;
  readonly optional?: true;
  /** A command: values in its template are quoted for the shell. */
  readonly isCommand?: true;
  /** A time in milliseconds, written as a duration. */
  readonly isDuration?: true;
  /** A list of imported functions, by name: tools of a model, or those of its tools that need approval. */
  readonly isTools?: true;
}

/** One form of a call, such as `file(write: path, text: text)`. */
export interface CallForm {
  /** Further parameters that the form needs. */
  readonly needs?: readonly string[];
  /** Further parameters that the form accepts. Those of other forms are errors. */
  readonly takes?: readonly string[];
  readonly result: ValueType | "infer";
}

/** The signature of a built-in node, with which the compiler checks calls. It contains no code. */
export interface NodeSignature {
  readonly name: string;
  /** One line, for hover texts and error messages. */
  readonly summary: string;
  /** In positional order: `shell("npm test")` binds the first. */
  readonly parameters: readonly Parameter[];
  /** A call has at least one of these optional parameters. */
  readonly needs?: readonly string[];
  /** The forms of a call, by the parameter that selects a form. A call has exactly one of these parameters. */
  readonly forms?: Readonly<Record<string, CallForm>>;
  /** `infer`: the result has the type of the channel or record that stores it (`ask`, `llm`). */
  readonly result: ValueType | "infer";
  readonly effects: readonly Effect[];
  /** The node waits for a person, so its graph needs a store. */
  readonly pauses?: true;
}
