import { PLAN_FORMAT, PLAN_VERSION } from "./plan-table.ts";
import { ShapeProblem, type InnerTable, type ValuePath } from "./shape-problem.ts";
import { TABLE_FORMAT, TABLE_VERSION } from "./table.ts";

/** Comes before the shape: of what is no table of this version, the shape would only name a confusing place. */
export function checkFormat({ value, path, kind }: InnerTable): void {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new ShapeProblem(path, "expected an object");
  }
  const { format, version } = value as { readonly format?: unknown; readonly version?: unknown };
  const [what, expected, known] =
    kind === "plan" ? ["plan's table", PLAN_FORMAT, PLAN_VERSION] : ["routing table", TABLE_FORMAT, TABLE_VERSION];
  const problem = (field: string, message: string): ShapeProblem => {
    const at: ValuePath = [...path, field];
    return new ShapeProblem(at, message);
  };
  if (format !== expected) throw problem("format", `this is no ${what}: its format is not "${expected}"`);
  if (version === known) return;
  if (typeof version !== "number")
    throw problem("version", `expected ${known}, found ${JSON.stringify(version) ?? "nothing"}`);
  const advice = version < known ? `compile the ${kind} again` : "update the package ngraph";
  throw problem("version", `a ${what} of version ${version}, and this package reads version ${known}: ${advice}`);
}
