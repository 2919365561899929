import type { Tree } from "../program-tree.ts";
import { functionName } from "./trees.ts";

/** The names of the functions that the graphs of a file import. Functions that are not the same have names that differ. */
export class FunctionNames {
  readonly #owners = new Map<string, Tree | string>();

  /** @param body the function; one that is only a name, because it is in another file, is the same for each use of the name */
  of(kind: "node" | "condition" | "reducer", wish: string, body: Tree | undefined): string {
    const owner = body === undefined ? wish : (functionName(body) ?? body);
    for (let count = 1; ; count++) {
      const name = count === 1 ? wish : `${wish}_${count}`;
      const key = `${kind} ${name}`;
      const taken = this.#owners.get(key);
      if (taken !== undefined && taken !== owner) continue;
      this.#owners.set(key, owner);
      return name;
    }
  }
}
