/** The operations that expressions of generated modules call, under the names that `compiler/emit/` writes. */
import type { Json } from "../value/json.ts";

export { callFunction } from "./call-function.ts";
export { library } from "./library.ts";
export {
  add,
  comprehension,
  concat,
  divide,
  equal,
  failWith,
  fuel,
  greater,
  greaterOrEqual,
  has,
  index,
  int,
  joinLists,
  less,
  lessOrEqual,
  list,
  listOf,
  local,
  member,
  multiply,
  negate,
  notEqual,
  notNull,
  record,
  remainder,
  secret,
  subtract,
  text,
  truth,
  unknownOperation,
} from "./operations.ts";

/** A list or record of a generated module, frozen like every other value of an expression. */
export function constant<T extends Json>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    for (const part of Object.values(value) as Json[]) constant(part);
    Object.freeze(value);
  }
  return value;
}
