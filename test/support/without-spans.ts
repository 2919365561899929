import type { File } from "../../grammar/ast.ts";

/** Fields with positions; all other fields of a tree have a meaning. */
const PLACES = new Set(["span", "operatorSpan", "source", "comments", "spelling"]);

/** A tree as plain data without positions, comments and spelling, for comparisons. */
export function withoutSpans(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSpans);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !PLACES.has(key))
      .map(([key, each]) => [key, withoutSpans(each)]),
  );
}

/**
 * A tree for the comparison of spellings: YAML has one order of statements (channels by role, then limits, nodes, and
 * so on), one of policies, and quotes field names only where it must.
 */
export function asWrittenInYaml(file: File): unknown {
  return withoutSpans({ ...file, items: file.items.map((item) => regroup(item)) });
}

function regroup(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(regroup);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value as Record<string, unknown>).map(([key, each]): [string, unknown] => {
    const inner = regroup(each);
    if (!Array.isArray(inner)) return [key, inner];
    if (key === "statements" || key === "items") return [key, sortBy(inner, statementOrder)];
    if (key === "policies") return [key, sortBy(inner, policyOrder)];
    return [key, inner];
  });
  const node = Object.fromEntries(entries);
  if (node["kind"] === "Key") return { ...node, quoted: !/^[A-Za-z_]\w*$/.test(String(node["name"])) };
  return node;
}

/** A stable sort: items of one kind keep their order. */
function sortBy(nodes: readonly unknown[], order: (node: Record<string, unknown>) => string): unknown[] {
  return (nodes as Record<string, unknown>[]).toSorted((a, b) =>
    order(a) < order(b) ? -1 : order(a) > order(b) ? 1 : 0,
  );
}

const KINDS = [
  "Channel",
  "Limit",
  "PlanMaxParallel",
  "PlanOrder",
  "PlanPool",
  "PlanOnFailure",
  "Node",
  "Task",
  "Defaults",
  "Assert",
  "Drop",
  "Edge",
  "Given",
  "Mock",
  "MockFails",
  "Answer",
  "Signal",
  "ExpectRan",
];
const ROLES = ["input", "output", "state", "memory", "config"];
const SAME = new Map([
  ["MockFails", "Mock"],
  ["ExpectStatus", "ExpectRan"],
  ["ExpectNeverRan", "ExpectRan"],
  ["ExpectPausedAt", "ExpectRan"],
  ["ExpectFailsWith", "ExpectRan"],
  ["ExpectUndone", "ExpectRan"],
  ["Expect", "ExpectRan"],
]);

function statementOrder(node: Record<string, unknown>): string {
  const kind = String(node["kind"]);
  const place = String(KINDS.indexOf(SAME.get(kind) ?? kind)).padStart(2, "0");
  return `${place} ${ROLES.indexOf(String(node["role"]))} ${String(node["of"] ?? "")}`;
}

function policyOrder(node: Record<string, unknown>): string {
  return `${String(node["kind"])} ${String(node["mode"] ?? "")}`;
}
