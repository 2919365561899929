import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { findSimilar, listNames } from "../../diagnostics/similar.ts";
import type { BuiltinNode } from "../../runtime/interface/context.ts";
import type { Bindings, ImportedFunction } from "../../runtime/interface/engine-options.ts";
import { stubBindings } from "../../runtime/program/stub-bindings.ts";
import type { PlanTable } from "../../runtime/table/plan-table.ts";
import type { Table } from "../../runtime/table/table.ts";
import { allTables, calledTables } from "./called-tables.ts";
import { CommandError } from "../process/command-error.ts";
import { loadUserModules, moduleKey, type LoadedModules, type UserModule } from "./load-user-modules.ts";

/** A table that lists imported functions. */
type Linkable = Table | PlanTable;

export interface UserCode {
  readonly bindings: Bindings;
  /** Functions of the `--builtins` module. */
  readonly builtins: Readonly<Record<string, BuiltinNode>>;
}

/**
 * Loads the modules that a table and its called graphs and plans import, and the optional module whose exports supply or replace
 * built-in nodes (`llm`).
 */
export async function bindFunctions(table: Linkable, builtinsFile: string | undefined): Promise<UserCode> {
  if (builtinsFile !== undefined && !existsSync(builtinsFile)) {
    throw new CommandError(`cannot read ${builtinsFile}: no such file or directory`, {
      help: "--builtins takes the path of a module whose exports are node functions",
    });
  }
  const modules = new Map<string, UserModule>();
  const remember = (module: UserModule): void => void modules.set(moduleKey(module), module);
  for (const each of allTables(table)) {
    const directory = directoryOf(each);
    for (const { module } of each.functions) remember({ specifier: module, directory });
  }
  const builtinsModule =
    builtinsFile === undefined ? undefined : { specifier: resolve(builtinsFile), directory: process.cwd() };
  if (builtinsModule !== undefined) remember(builtinsModule);

  const loaded = await loadUserModules([...modules.values()]);
  return {
    bindings: bindingsOf(table, loaded),
    builtins: builtinsModule === undefined ? {} : functionsOf(loaded.get(moduleKey(builtinsModule))),
  };
}

/** Bindings whose functions throw: enough to inspect and fork threads. */
export function unrunnableBindings(table: Table): Bindings {
  return stubBindings(table, "this command runs no user code");
}

/** Each table is bound once, in `known`: the same graph may be called on many paths. */
function bindingsOf(table: Linkable, loaded: LoadedModules, known = new Map<Linkable, Bindings>()): Bindings {
  const before = known.get(table);
  if (before !== undefined) return before;
  const directory = directoryOf(table);
  const functions: Record<string, ImportedFunction> = emptyRecord();
  for (const { name, module, export: exported } of table.functions) {
    const exports = loaded.get(moduleKey({ specifier: module, directory })) ?? {};
    const value = Object.hasOwn(exports, exported) ? exports[exported] : undefined;
    if (typeof value !== "function") throw missingExport(module, exported, value, exports);
    functions[name] = value as ImportedFunction;
  }
  const graphs: Record<string, Bindings> = emptyRecord();
  for (const called of calledTables(table)) graphs[called.name] = bindingsOf(called, loaded, known);
  const bindings = { functions, graphs };
  known.set(table, bindings);
  return bindings;
}

function missingExport(
  module: string,
  name: string,
  value: unknown,
  exports: Readonly<Record<string, unknown>>,
): CommandError {
  const names = Object.keys(functionsOf(exports));
  const similar = findSimilar(name, names);
  const problem = value === undefined ? `does not export \`${name}\`` : `exports \`${name}\`, which is not a function`;
  return new CommandError(`${module} ${problem}`, {
    code: "NG_MISSING_FUNCTION",
    help:
      similar !== undefined
        ? `a function with a similar name is exported: \`${similar}\``
        : names.length === 0
          ? "it exports no functions"
          : `it exports ${listNames(names)}`,
  });
}

function functionsOf(exports: Readonly<Record<string, unknown>> | undefined): Record<string, BuiltinNode> {
  const functions: Record<string, BuiltinNode> = emptyRecord();
  for (const [name, value] of Object.entries(exports ?? {})) {
    if (typeof value === "function") functions[name] = value as BuiltinNode;
  }
  return functions;
}

/** Imports are relative to the file that contains the graph. */
function directoryOf(table: Linkable): string {
  return dirname(resolve(table.debug?.file ?? "."));
}

function emptyRecord<T>(): Record<string, T> {
  return Object.create(null) as Record<string, T>;
}
