import type { Expression } from "../expression.ts";
import { fail } from "../expression-error.ts";
import type { Json } from "../../value/json.ts";

/** A function of the library: total, pure; `at` names the call in errors. */
export type LibraryFunction = (args: readonly Json[], at?: Expression) => Json;

/** The argument at a position. The compiler checks the number of arguments, but a table may come from another program. */
export function argument(args: readonly Json[], position: number, at: Expression | undefined): Json {
  const value = args[position];
  return value === undefined ? fail("wrong_type", `argument ${position + 1} is missing`, at) : value;
}
