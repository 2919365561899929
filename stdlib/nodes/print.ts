import type { BuiltinNode } from "../../runtime/interface/context.ts";

/**
 * Makes the `print` node. It passes strings unchanged and other values as JSON to `write`, each as one line without its line
 * break. A node that runs again after a crash prints again.
 */
export function createPrint(write: (line: string) => void): BuiltinNode {
  return ({ text = null }) => {
    write(typeof text === "string" ? text : JSON.stringify(text));
    return null;
  };
}

/** `print("done")` on the console. */
// oxlint-disable-next-line no-console -- writing to the console is what this node is for
export const print: BuiltinNode = createPrint((line) => console.log(line));
