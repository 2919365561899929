/**
 * Named types. Records and recursive types become `ref`s; short lists, maps and unions are expanded where they are
 * used, so that an enum is recognised everywhere without a lookup.
 */
import { weigh } from "../types/weigh-type.ts";
import { typeOfItself } from "../../diagnostics/catalog/names.ts";
import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import type * as Ast from "../../grammar/ast.ts";
import type { ValueType } from "../../runtime/table/value-type.ts";
import type { LoadedFile } from "../load/load-project.ts";
import { findComponents, isCyclic } from "../algorithms/components.ts";
import { depthFirst } from "../algorithms/depth-first.ts";
import { BROKEN_TYPE } from "../types/construct.ts";
import type { Declared, FileScope } from "./file-scope.ts";
import { typeOfSyntax } from "./type-of-syntax.ts";

/** Types with more parts than this become `ref`s: expansion must not grow without bound. */
const MAX_WRITTEN_OUT = 8;

type TypeEntry = Extract<Declared, { kind: "type" }>;

/** Sets the types of a file's `type` declarations, and adds the types that `ref`s point to to `types`. */
export function declareTypes(
  scope: FileScope,
  refNames: ReadonlyMap<Ast.TypeDecl, string>,
  types: Map<string, ValueType>,
  report: (diagnostic: Diagnostic) => void,
): void {
  const own = new Map<string, TypeEntry>();
  for (const [name, declared] of scope.names) {
    // An imported type has been set when its own file was declared.
    if (declared.kind === "type" && declared.declaration.name === declared.identifier) own.set(name, declared);
  }
  cutDirectCycles(own, scope, report);
  for (const { entries, isRecursive } of orderDeclarations(own)) {
    for (const entry of entries) {
      if (isRecursive && entry.type !== BROKEN_POINTED) entry.type = { kind: "ref", name: refName(entry, refNames) };
    }
    if (isRecursive) resolveAliases(entries, own, refNames);
    for (const entry of entries) {
      if (entry.type === BROKEN_POINTED) {
        entry.type = BROKEN_TYPE;
        continue;
      }
      const body = typeOfSyntax(entry.declaration.type, scope, report);
      const name = refName(entry, refNames);
      if (isRecursive) {
        if (entry.type.kind === "ref" && entry.type.name === name) types.set(name, body);
      } else if (body.kind === "record" || weigh(body) > MAX_WRITTEN_OUT) {
        types.set(name, body);
        entry.type = { kind: "ref", name };
      } else entry.type = body;
    }
  }
}

/** Unique names for the `ref`s of all files: the first type with a name keeps it, later ones get a number. */
export function nameTypes(files: readonly LoadedFile[]): Map<Ast.TypeDecl, string> {
  const names = new Map<Ast.TypeDecl, string>();
  const taken = new Set<string>();
  for (const { syntax } of files) {
    for (const item of syntax.items) {
      if (item.kind !== "Type") continue;
      let name = item.name.name;
      for (let n = 2; taken.has(name); n++) name = `${item.name.name}_${n}`;
      taken.add(name);
      names.set(item, name);
    }
  }
  return names;
}

/** Marks the types of a direct cycle until they are resolved. */
const BROKEN_POINTED: ValueType = { kind: "opaque", name: "broken", module: "" };

function refName(entry: TypeEntry, refNames: ReadonlyMap<Ast.TypeDecl, string>): string {
  return refNames.get(entry.declaration) ?? entry.identifier.name;
}

/** Resolves `type A = B` in a recursive group to B, so that the body of a `ref` is never just another `ref`. */
function resolveAliases(
  entries: readonly TypeEntry[],
  own: ReadonlyMap<string, TypeEntry>,
  refNames: ReadonlyMap<Ast.TypeDecl, string>,
): void {
  for (const entry of entries) {
    if (entry.type === BROKEN_POINTED) continue;
    let at = entry;
    for (let i = 0; i <= entries.length && at.declaration.type.kind === "NamedType"; i++) {
      const next = own.get(at.declaration.type.name);
      if (next === undefined) break;
      at = next;
    }
    if (at !== entry) entry.type = { kind: "ref", name: refName(at, refNames) };
  }
}

/** `type A = A`, `type A = B | null` with `type B = A`: reports each cycle once, at the type that closes it. */
function cutDirectCycles(own: ReadonlyMap<string, TypeEntry>, scope: FileScope, report: (d: Diagnostic) => void): void {
  depthFirst(own.values(), {
    edges: (entry) => directNames(entry.declaration.type),
    target: (name) => own.get(name),
    onCycle: (cycle) => {
      const [first] = cycle;
      if (first === undefined || first.vertex.type === BROKEN_POINTED) return;
      const { identifier } = first.vertex;
      report(typeOfItself({ file: scope.file.source, span: identifier.span }, identifier.name));
      for (const { vertex } of cycle) vertex.type = BROKEN_POINTED;
    },
  });
}

/** The names that a type is an alias or a union of, as opposed to those of its parts. */
function directNames(type: Ast.TypeExpr): readonly string[] {
  if (type.kind === "NamedType") return [type.name];
  return type.kind === "UnionType" ? type.members.flatMap(directNames) : [];
}

function allNames(type: Ast.TypeExpr): readonly string[] {
  switch (type.kind) {
    case "NamedType":
      return [type.name];
    case "ListType":
      return allNames(type.item);
    case "MapType":
      return allNames(type.value);
    case "RecordType":
      return type.fields.flatMap((field) => allNames(field.type));
    case "UnionType":
      return type.members.flatMap(allNames);
    default:
      return [];
  }
}

/** Groups of types that contain each other, each after those it uses. */
function orderDeclarations(own: ReadonlyMap<string, TypeEntry>): { entries: TypeEntry[]; isRecursive: boolean }[] {
  const entries = [...own.values()];
  const indexes = new Map(entries.map((entry, index) => [entry.identifier.name, index]));
  const uses = entries.map((entry) =>
    [...new Set(allNames(entry.declaration.type))].flatMap((name) => indexes.get(name) ?? []),
  );
  const usesOf = (index: number): readonly number[] => uses[index] ?? [];
  return findComponents(entries.length, usesOf).members.map((group) => ({
    entries: group.flatMap((index) => entries[index] ?? []),
    isRecursive: isCyclic(group, usesOf),
  }));
}
