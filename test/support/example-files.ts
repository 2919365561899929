import { readdirSync } from "node:fs";
import { join } from "node:path";

/** The files of the examples in one spelling, as sorted paths from the directory of the project: `examples/trip/trip.ngraph`. */
export function exampleFiles(extension: ".ngraph" | ".yaml"): readonly string[] {
  return readdirSync("examples", { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(extension) && !path.includes("node_modules"))
    .sort()
    .map((path) => join("examples", path));
}
