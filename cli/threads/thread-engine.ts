import type { Bindings, Engine } from "../../runtime/interface/engine-options.ts";
import type { Store } from "../../runtime/interface/store.ts";
import type { Table } from "../../runtime/table/table.ts";

/** An engine for inspecting and editing threads. It can call the functions of `bindings`, but no node with external effects. */
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
