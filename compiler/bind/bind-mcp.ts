/**
 * Calls of MCP tools, checked against the lock files of `ngc tools sync`: names of servers and tools, arguments, results. Without a lock
 * file nothing is known. The findings do not change the table.
 */
import {
  brokenToolLock,
  unstatedToolArgument,
  missingToolArguments,
  unknownServer,
  unknownServerTool,
} from "../../diagnostics/catalog/tools.ts";
import type { Place } from "../../diagnostics/diagnostic.ts";
import { suggest } from "../../diagnostics/similar.ts";
import type * as Ast from "../../grammar/ast.ts";
import type { ValueType } from "../../runtime/table/value-type.ts";
import { reportMisfit } from "../expressions/fit-value.ts";
import type { LockedTool, ToolLock } from "../load/tool-lock.ts";
import { JSON_TYPE, opaque } from "../types/construct.ts";
import { isClosedSchema, isOpenSchema, typeOfSchema } from "../types/schema-type.ts";
import { resolveType, type TypeTable } from "../types/type-table.ts";
import type { BoundArgument } from "./bound-graph.ts";
import { placeIn, type GraphContext } from "./graph-context.ts";

/** Returns the syntax of an argument of the call. */
type ArgumentOf = (name: string) => Ast.Expr | undefined;

/**
 * Checks a call of `tool`.
 *
 * @returns the type of the result that the tool declares; `undefined` if it is not known
 */
export function checkToolCall(
  syntax: Ast.CallExpr,
  args: readonly BoundArgument[],
  argumentOf: ArgumentOf,
  context: GraphContext,
): ValueType | undefined {
  const [server, name] = [textOf("server", args), textOf("name", args)];
  const [atServer, atName] = [argumentOf("server"), argumentOf("name")];
  if (server === undefined || atServer === undefined) return undefined;
  const tools = toolsOf(server, placeIn(context, atServer.span), context);
  if (tools === undefined || name === undefined || atName === undefined) return undefined;
  const tool = findTool(tools, server, name, placeIn(context, atName.span), context);
  if (tool === undefined) return undefined;
  checkArguments({ server, name, tool }, syntax, args, argumentOf("arguments"), context);
  const { outputSchema } = tool;
  const result = outputSchema === undefined || isOpenSchema(outputSchema) ? JSON_TYPE : typeOfSchema(outputSchema);
  return result.kind === "record" ? lenient(result, NO_TYPES) : undefined;
}

const NO_TYPES: TypeTable = new Map();

/** Checks the servers whose tools a call of `llm` offers: `servers: ["docs", "issues/find"]`. */
export function checkServers(args: readonly BoundArgument[], argumentOf: ArgumentOf, context: GraphContext): void {
  const syntax = argumentOf("servers");
  const value = args.find(({ name }) => name === "servers")?.value.expression;
  if (syntax === undefined || value?.op !== "const" || !Array.isArray(value.value)) return;
  const items =
    syntax.kind === "List" && syntax.items.every(({ kind }) => kind !== "Spread") ? syntax.items : undefined;
  for (const [index, item] of value.value.entries()) {
    if (typeof item !== "string") continue;
    const place = placeIn(context, items?.[index]?.span ?? syntax.span);
    const [server = "", name] = item.split("/", 2);
    const tools = toolsOf(server, place, context);
    if (tools !== undefined && name !== undefined) findTool(tools, server, name, place, context);
  }
}

interface KnownTools {
  readonly tools: ReadonlyMap<string, LockedTool>;
  readonly path: string;
}

/** The tools of a server; `undefined` if no lock file has it, which is reported. */
function toolsOf(server: string, place: Place, context: GraphContext): KnownTools | undefined {
  const locks = context.scope.file.toolLocks();
  const sound: Required<Pick<ToolLock, "path" | "servers">>[] = [];
  for (const { path, servers, problem, isNewer } of locks) {
    if (problem !== undefined) {
      context.report(brokenToolLock(place, { path, problem, isNewer: isNewer === true }));
      return undefined;
    }
    const tools = servers?.get(server);
    if (tools !== undefined) return { tools, path };
    if (servers !== undefined) sound.push({ path, servers });
  }
  const [nearest] = sound;
  if (nearest === undefined) return undefined;
  const all = (): string[] => sound.flatMap(({ servers }) => [...servers.keys()]);
  const { similar, known } = suggest(server, all, context.suggestions);
  context.report(unknownServer(place, { server, path: nearest.path, similar, known }));
  return undefined;
}

function findTool(
  { tools, path }: KnownTools,
  server: string,
  tool: string,
  place: Place,
  context: GraphContext,
): LockedTool | undefined {
  const found = tools.get(tool);
  if (found !== undefined) return found;
  const { similar, known } = suggest(tool, () => tools.keys(), context.suggestions);
  context.report(unknownServerTool(place, { server, tool, path, similar, known }));
  return undefined;
}

function checkArguments(
  { server, name, tool }: { readonly server: string; readonly name: string; readonly tool: LockedTool },
  syntax: Ast.CallExpr,
  args: readonly BoundArgument[],
  given: Ast.Expr | undefined,
  context: GraphContext,
): void {
  const expected = typeOfSchema(tool.inputSchema);
  if (expected.kind !== "record") return;
  if (given === undefined) {
    const missing = expected.fields.flatMap((field) => (field.optional === true ? [] : [field.name]));
    if (missing.length === 0) return;
    context.report(missingToolArguments(placeIn(context, syntax.callee.span), { server, tool: name, missing }));
    return;
  }
  const value = args.find((argument) => argument.name === "arguments")?.value;
  if (value === undefined) return;
  const { typeScriptChecks: _, ...fit } = context;
  const target = `\`arguments\` of the tool \`${name}\` of \`${server}\``;
  const type = lenient(value.type, context.types);
  const known = new Set(expected.fields.map((field) => field.name));
  const isClosed = isClosedSchema(tool.inputSchema);
  const others = isClosed || type.kind !== "record" ? [] : type.fields.filter((field) => !known.has(field.name));
  const all: ValueType =
    others.length === 0
      ? expected
      : {
          kind: "record",
          fields: [...expected.fields, ...others.map((field) => ({ ...field, type: ANY, optional: true as const }))],
        };
  if (given.kind === "Record" && !isOpenSchema(tool.inputSchema)) {
    for (const { name: other } of others) {
      const at = given.fields.find((field) => field.kind !== "Spread" && field.name.name === other);
      if (at === undefined || at.kind === "Spread") continue;
      const { similar, known: names } = suggest(other, () => [...known], context.suggestions);
      const facts = { server, tool: name, argument: other, similar, known: names };
      context.report(unstatedToolArgument(placeIn(context, at.name.span), facts));
    }
  }
  reportMisfit({ type, syntax: given }, all, { target }, fit);
}

/** The value of a constant argument. */
function textOf(name: string, args: readonly BoundArgument[]): string | undefined {
  const expression = args.find((argument) => argument.name === name)?.value.expression;
  return expression?.op === "const" && typeof expression.value === "string" ? expression.value : undefined;
}

/** Stands for `json` and maps: the server, or the engine, checks such a value when the call is made. */
const ANY = opaque("json", "");

/** Deeper parts of recursive types are not compared. */
const MAX_DEPTH = 12;

/** The type with parts that fit everything in the place of `json`. */
function lenient(type: ValueType, types: TypeTable, depth = 0): ValueType {
  if (depth > MAX_DEPTH) return ANY;
  const inner = (part: ValueType): ValueType => lenient(part, types, depth + 1);
  switch (type.kind) {
    case "json":
    // The keys of a map are not known.
    case "map":
      return ANY;
    case "ref":
      return inner(resolveType(type, types));
    case "list":
      return { kind: "list", item: inner(type.item) };
    case "record":
      return { kind: "record", fields: type.fields.map((field) => ({ ...field, type: inner(field.type) })) };
    case "union":
      return { kind: "union", members: type.members.map(inner) };
    default:
      return type;
  }
}
