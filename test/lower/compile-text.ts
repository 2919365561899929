import { bindProject } from "../../compiler/bind/bind-project.ts";
import { loadProject } from "../../compiler/load/load-project.ts";
import { lowerGraph } from "../../compiler/lower/lower.ts";
import {
  compile,
  memoryHost,
  type CompileOptions,
  type CompileResult,
  type Table,
  type TargetSpec,
} from "../../compiler/index.ts";

/** Modules that the graphs of these tests import. The compiler reads their exports only. */
const FILES = {
  "nodes.ts": [
    "export type Ticket = { id: number };",
    "export const load = (...x: unknown[]) => x[0], save = (...x: unknown[]) => x[0], rank = (x: unknown) => 1;",
    "export function combine(a: number, b: number): number { return a + b; }",
  ].join("\n"),
};

export function compileText(
  text: string,
  files: Record<string, string> = {},
  options: CompileOptions = {},
): CompileResult {
  return compile(text, { path: "test.ngraph", host: memoryHost({ ...FILES, ...files }), ...options });
}

/** The first table of a text without binding errors. The checks do not run, because these tests are about lowering. */
export function tableOf(text: string, files: Record<string, string> = {}): Table {
  const { graphs, diagnostics } = bindProject(
    loadProject(text, { path: "test.ngraph", host: memoryHost({ ...FILES, ...files }) }),
  );
  const errors = diagnostics.filter((item) => item.severity === "error");
  const [first] = graphs;
  if (first === undefined || errors.length > 0) {
    throw new Error(errors.map((item) => `${item.code} ${item.message}`).join("\n") || "no graph");
  }
  return lowerGraph(first);
}

/** A table's nodes, routes and barriers by name, short enough to read in a test. */
export function routesOf(table: Table): Record<string, unknown> {
  const target = (
    to: Table["start"][number] extends never ? never : { node: number } | { barrier: number; member: number },
  ): string =>
    "node" in to ? (table.nodes[to.node]?.name ?? "end") : `${table.barriers[to.barrier]?.id}[${to.member}]`;
  const targets = (list: readonly TargetSpec[]): string => list.map(target).join(", ");
  const route = (spec: Table["start"][number]): string => {
    switch (spec.kind) {
      case "match":
      case "cases": {
        const arms = spec.arms.map((arm) => `${"values" in arm ? arm.values.join("|") : "?"}: ${targets(arm.targets)}`);
        if (spec.otherwise !== undefined) arms.push(`else: ${targets(spec.otherwise)}`);
        return `${spec.kind} ${arms.join("; ")}`;
      }
      default:
        return `${spec.kind} ${targets(spec.targets)}`;
    }
  };
  const entries: [string, unknown][] = [["start", table.start.map(route)]];
  for (const node of table.nodes) {
    entries.push([
      node.name,
      [
        ...node.routes.map(route),
        ...node.onError.map(
          ({ condition, targets: to }) =>
            `error${condition === undefined ? "" : condition === "otherwise" ? " otherwise" : " when"} ${targets(to)}`,
        ),
      ],
    ]);
  }
  return Object.fromEntries(entries);
}

export function barriersOf(table: Table): Record<string, unknown> {
  return Object.fromEntries(
    table.barriers.map((barrier) => [
      barrier.id,
      `${barrier.kind} ${barrier.members.map((nodes) => nodes.map((node) => table.nodes[node]?.name).join("|")).join(", ")} -> ${table.nodes[barrier.target]?.name ?? "end"}`,
    ]),
  );
}
