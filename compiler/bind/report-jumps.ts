import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import type { BoundGraph } from "../bound-graph.ts";
import type { GraphUnit } from "./file-scope.ts";

export function reportJumps(_graph: BoundGraph, _unit: GraphUnit, _report: (diagnostic: Diagnostic) => void): void {}
