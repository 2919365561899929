/** The types of `error` and `outcome`, and their names. */
import type { ValueType } from "../../runtime/table/value-type.ts";
import { INT, listOf, literal, NULL, nullable, recordOf, STRING, unionOf } from "./construct.ts";

const FIELDS = [
  { name: "code", type: STRING },
  { name: "name", type: STRING },
  { name: "status", type: unionOf([STRING, INT, NULL]) },
  { name: "message", type: STRING },
  { name: "attempts", type: INT },
];
const ITEMS = listOf(recordOf([{ name: "index", type: INT }, { name: "key", type: STRING }, ...FIELDS]));

/** `error`: the last failure that an `on error` edge took. */
export const ERROR_TYPE: ValueType = recordOf([
  ...FIELDS,
  { name: "node", type: STRING },
  { name: "items", type: ITEMS, optional: true },
]);

/** `Failure`: why a run has ended. Unlike `error`, it need not come from a node. */
const FAILURE_TYPE: ValueType = recordOf([
  ...FIELDS,
  { name: "node", type: nullable(STRING) },
  { name: "items", type: ITEMS, optional: true },
]);

/** `failure` in a task of a plan: why the previous attempt of the task has failed. */
export const ATTEMPT_FAILURE_TYPE: ValueType = recordOf([
  { name: "attempt", type: INT },
  { name: "message", type: STRING },
  {
    name: "checks",
    type: listOf(
      recordOf([
        { name: "command", type: STRING },
        { name: "code", type: INT },
        { name: "output", type: STRING },
      ]),
    ),
  },
]);

const STATUSES = ["completed", "incomplete", "failed", "limit", "cancelled", "rolled_back"];

/** `Outcome`: how a run has ended. */
export const OUTCOME_TYPE: ValueType = recordOf([
  { name: "status", type: unionOf(STATUSES.map((status) => literal(status))) },
  { name: "error", type: nullable(FAILURE_TYPE) },
]);

/** Types that a file can name without declaring them. A declaration of the file hides them. */
export const NAMED_TYPES: ReadonlyMap<string, ValueType> = new Map([
  ["Failure", FAILURE_TYPE],
  ["Outcome", OUTCOME_TYPE],
]);
