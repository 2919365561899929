import type { Linker } from "../program/linker.ts";
import { loadThreads } from "./loaded-threads.ts";

function missing(): never {
  throw new TypeError("the generated module belongs to another version of ngraph: compile its graph again");
}

/** The linker of graphs that use none of its parts. */
export const BARE_LINKER: Linker = {
  interpret: missing,
  callGraph: missing,
  graphTool: missing,
  callPlan: missing,
  linkPlan: missing,
  undoEntry: missing,
  // A thread can be rolled back on request.
  rollBack: async (run) => (await loadThreads()).rollBack(run),
  finallyPart: { open: missing, save: missing },
};
