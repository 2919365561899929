import type { Effect } from "../runtime/table/table.ts";
import type { ValueType } from "../runtime/table/value-type.ts";

/** A parameter of a built-in node or library function. */
export interface Parameter {
  readonly name: string;
  readonly type: ValueType;
  readonly optional?: true;
}

/** What the compiler knows of a built-in node: enough to check its calls. No code. */
export interface NodeSignature {
  readonly name: string;
  /** One line, for hover texts and error messages. */
  readonly summary: string;
  /** In positional order: `shell("npm test")` binds the first. */
  readonly parameters: readonly Parameter[];
  /** `infer`: the type of the channel or record it is stored into (`ask`, `llm`). */
  readonly result: ValueType | "infer";
  readonly effects: readonly Effect[];
  /** It waits for a person, so its graph needs a store. */
  readonly pauses?: true;
}
