import type { Bindings, Engine } from "../../runtime/interface/engine-options.ts";
import type { Store } from "../../runtime/interface/store.ts";
import type { Table } from "../../runtime/table/table.ts";

/** An engine to look after threads with: it can run what `bindings` hold, and none of the nodes that need the world. */
export async function threadEngine(table: Table, store: Store, bindings: Bindings): Promise<Engine> {
  const [{ createEngine }, { builtinNodes }] = await Promise.all([
    import("../../runtime/index.ts"),
    import("../../stdlib/builtin-nodes.ts"),
  ]);
  const unsupplied = Object.fromEntries(["llm", "tool"].map((name) => [name, () => null]));
  return createEngine(table, {
    ...bindings,
    builtins: { ...builtinNodes, ...unsupplied },
    secrets: () => "",
    store,
  });
}
