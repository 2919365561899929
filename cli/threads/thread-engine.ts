import type { Bindings, Engine, EngineOptions } from "../../runtime/interface/engine-options.ts";
import type { Store } from "../../runtime/interface/store.ts";
import type { Program } from "../../runtime/program/program.ts";
import type { Table } from "../../runtime/table/table.ts";

/** An engine for inspecting and editing threads. It can call the functions of `bindings`, but no node with external effects. */
export async function threadEngine(table: Table, store: Store, bindings: Bindings): Promise<Engine> {
  const { createEngine } = await import("../../runtime/index.ts");
  return createEngine(table, { ...(await inspecting(bindings)), store });
}

/** The linked graph of such an engine. */
export async function threadProgram(table: Table, bindings: Bindings): Promise<Program> {
  const [{ compileProgram }, { LINKER }] = await Promise.all([
    import("../../runtime/program/program.ts"),
    import("../../runtime/plan/link-calls.ts"),
  ]);
  return compileProgram(table, await inspecting(bindings), LINKER);
}

async function inspecting(bindings: Bindings): Promise<EngineOptions> {
  const { builtinNodes } = await import("../../stdlib/builtin-nodes.ts");
  const unsupplied = Object.fromEntries(["llm", "tool"].map((name) => [name, () => null]));
  return { ...bindings, builtins: { ...builtinNodes, ...unsupplied }, secrets: () => "" };
}
