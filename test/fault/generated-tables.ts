/** Tables as generated modules contain them, with their expressions as code: what `ngc compile` writes, without the types. */
import * as direct from "../../api/direct.ts";
import * as operations from "../../api/generated.ts";
import { emitDirect } from "../../compiler/emit/emit-direct.ts";
import { emitTable } from "../../compiler/emit/emit-table.ts";
import { engineParts } from "../../compiler/emit/engine-parts.ts";
import { expressionToTypeScript } from "../../compiler/emit/expression-to-typescript.ts";
import { fieldName, literal } from "../../compiler/emit/quote.ts";
import type { Engine, EngineOptions } from "../../runtime/interface/engine-options.ts";
import { runsDirectly } from "../../runtime/table/runs-directly.ts";
import type { Table } from "../../runtime/table/table.ts";

type Create = (options: EngineOptions) => Engine;

/** Identifies a table: versions of one graph differ in more than its digest. */
export function keyOf(table: Table): string {
  return JSON.stringify(table);
}

/**
 * The engines of generated modules for these tables, loaded as one module without being passed to an evaluator of code. `inEngine`: all graphs run
 * in the engine.
 */
export async function loadGenerated(tables: Iterable<Table>, inEngine = false): Promise<ReadonlyMap<string, Create>> {
  const found = [...tables];
  const units: string[] = [];
  const creators = found.map((table) => {
    const unit = emitUnit(table, units);
    if (inEngine || !runsDirectly(table)) return `(options) => $.createGraph(${unit}, options${engineParts(table)}),`;
    return `(options) => $d.createDirectGraph(${unit}, options, ${emitDirect(table, { isTyped: false, namespace: "$d" })}),`;
  });
  const code = `export default ($, $d) => {\n${units.join("\n")}\nreturn [\n${creators.join("\n")}\n];\n};\n`;
  const url = `data:text/javascript;base64,${Buffer.from(code).toString("base64")}`;
  const module = (await import(/* @vite-ignore */ url)) as {
    default: (of: typeof operations, ofDirect: typeof direct) => readonly Create[];
  };
  const made = module.default(operations, direct);
  return new Map(found.map((table, at) => [keyOf(table), made[at]!]));
}

/** Adds the constants of a table and of the graphs that it calls. Returns the name of its constant. */
function emitUnit(table: Table, units: string[]): string {
  const called = table.graphs.map((graph) => ({ name: graph.name, unit: emitUnit(graph, units) }));
  const unit = `$u${units.length}`;
  const constant = (value: unknown): string => {
    const name = `${unit}c${units.length}`;
    units.push(`const ${name} = $.constant(${literal(value)});`);
    return name;
  };
  const functions = table.functions.map(({ name }) => name);
  const expressions = table.expressions.map((expression) =>
    expressionToTypeScript(expression, { functions, constant, nonNull: "" }),
  );
  const graphs = called.map(({ name, unit: of }) => `${fieldName(name)}: ${of}.bindings`);
  const tableText = emitTable(
    table,
    called.map(({ unit: of }) => `${of}.table`),
  );
  units.push(
    `const ${unit} = { table: ${tableText}, bindings: { expressions: [${expressions.join(", ")}], graphs: { ${graphs.join(", ")} } } };`,
  );
  return unit;
}
