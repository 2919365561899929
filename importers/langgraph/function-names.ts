import type { Tree } from "../program-tree.ts";
import { functionName } from "./trees.ts";

/** The names of the functions that the graphs of a file import. Functions that are not the same have names that differ. */
export class FunctionNames {
  readonly #owners = new Map<string, Tree | string>();
  /** By kind and wish: the names that functions have, and the last number of a name. */
  readonly #wishes = new Map<string, { readonly names: Map<Tree | string, string>; last: number }>();

  /** @param body the function; one that is only a name, because it is in another file, is the same for each use of the name */
  of(kind: "node" | "condition" | "reducer", wish: string, body: Tree | undefined): string {
    const owner = body === undefined ? wish : (functionName(body) ?? body);
    const wished = this.#wishes.get(`${kind} ${wish}`) ?? { names: new Map(), last: 1 };
    this.#wishes.set(`${kind} ${wish}`, wished);
    const known = wished.names.get(owner);
    if (known !== undefined) return known;
    for (; ; wished.last++) {
      const name = wished.last === 1 ? wish : `${wish}_${wished.last}`;
      const key = `${kind} ${name}`;
      const taken = this.#owners.get(key);
      if (taken !== undefined && taken !== owner) continue;
      this.#owners.set(key, owner);
      wished.names.set(owner, name);
      return name;
    }
  }
}
