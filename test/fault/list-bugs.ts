/** Mistakes about edited lists that an engine could make. `list-simulation.ts` finds each of them. */
import { mutation } from "../support/mutate.ts";
import type { PlantedBug } from "./planted-bugs.ts";

const NUMBERS = "step/item-numbers.ts";

export const LIST_BUGS: readonly PlantedBug[] = [
  {
    name: "an update forgets the items that a crash has cut off",
    edits: [mutation(NUMBERS, "edited-number", "void now;")],
  },
  {
    name: "a cancellation forgets the items that it has cut off",
    edits: [mutation(NUMBERS, "cut-off-item", "failure !== undefined", "test")],
  },
  {
    name: "a number behind the list is not stored",
    edits: [mutation(NUMBERS, "kept-number", "return undefined;")],
  },
  {
    name: "a failure forgets the items that asked",
    edits: [mutation(NUMBERS, "asking-item", "false", "test")],
  },
];
