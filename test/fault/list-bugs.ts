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
    name: "a failure forgets the items that asked",
    edits: [mutation(NUMBERS, "asking-item", "false", "test")],
  },
];
