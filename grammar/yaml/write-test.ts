/** Tests as YAML. */
import type { Expr, TestDecl, TestItem } from "../ast.ts";
import { yamlList, yamlMap, type YamlValue } from "./emit-yaml.ts";
import { expressionText, textBehindWord } from "./expression-text.ts";
import { headEntry, loseBroken, withComments, type Entry, type Writing } from "./writing.ts";
import { allOf, dataValue } from "./write-data.ts";

type Line = Exclude<TestItem, { readonly kind: "Broken" }>;

const LINE_KEYS = ["given", "mock", "answer", "signal", "expect"] as const;

export function writeTest(test: TestDecl, writing: Writing): Entry[] {
  const lines = new Map<string, Line[]>();
  for (const item of test.items) {
    if (item.kind === "Broken") {
      loseBroken(item, writing);
      continue;
    }
    const key = keyOf(item);
    const before = lines.get(key);
    if (before === undefined) lines.set(key, [item]);
    else before.push(item);
  }
  const entries: Entry[] = [headEntry("test", test.title.value, test, writing), ["for", test.subject.name]];
  const { cases } = test;
  if (cases !== undefined) {
    const data = cases.kind === "List" ? dataValue(cases) : undefined;
    entries.push(["with", data ?? expressionText(cases, writing.source)]);
  }
  for (const key of LINE_KEYS) {
    const items = lines.get(key);
    if (items === undefined) continue;
    entries.push([key, (key === "expect" ? undefined : byName(items, writing)) ?? asLines(items, writing)]);
  }
  return entries;
}

function keyOf(item: Line): (typeof LINE_KEYS)[number] {
  switch (item.kind) {
    case "Given":
      return "given";
    case "Mock":
    case "MockFails":
      return "mock";
    case "Answer":
      return "answer";
    case "Signal":
      return "signal";
    default:
      return "expect";
  }
}

/** A map by name; `undefined` unless each name occurs once and has one value of plain data. */
function byName(items: readonly Line[], writing: Writing): YamlValue | undefined {
  const entries = allOf(
    items.map((item): Entry | undefined => {
      // Only a list has a place for a delay, and for a name that is not an identifier.
      if (("delay" in item && item.delay !== undefined) || (item.kind === "Signal" && item.name.kind !== "Identifier"))
        return undefined;
      const [name, values] = valuesOf(item);
      const [only] = values;
      const data = values.length === 1 && only !== undefined ? dataValue(only) : undefined;
      return data === undefined ? undefined : [name, withComments(data, item, writing)];
    }),
  );
  if (entries === undefined || new Set(entries.map(([name]) => name)).size < entries.length) return undefined;
  return yamlMap(entries);
}

function valuesOf(item: Line): [name: string, values: readonly Expr[]] {
  switch (item.kind) {
    case "Given":
      return [item.channel.name, [item.value]];
    case "Mock":
      return [item.node.name, item.results];
    case "Answer":
      return [item.node.name, item.values];
    case "Signal":
      return [item.name.kind === "Identifier" ? item.name.name : "", item.values];
    default:
      return ["", []];
  }
}

/** A list of lines in the language. A sequence of plain data is written as a map. */
function asLines(items: readonly Line[], writing: Writing): YamlValue {
  return yamlList(
    items.map((item) => withComments(sequenceValue(item) ?? textBehindWord(item, writing.source), item, writing)),
    items.length > 1,
  );
}

function sequenceValue(item: Line): YamlValue | undefined {
  if (item.kind === "MockFails") {
    return yamlMap([["node", item.node.name], ["fails", item.message.value], ...delayOf(item)]);
  }
  if (item.kind !== "Mock" && item.kind !== "Answer" && item.kind !== "Signal") return undefined;
  if (item.kind === "Signal" && item.name.kind !== "Identifier") return undefined;
  const [name, values] = valuesOf(item);
  const [first, ...rest] = allOf(values.map(dataValue)) ?? [];
  if (first === undefined) return undefined;
  return yamlMap([
    [item.kind === "Signal" ? "name" : "node", name],
    [item.kind === "Mock" ? "returns" : "value", first],
    ...(rest.length === 0 ? [] : [["then", yamlList(rest)] as const]),
    ...(item.kind === "Mock" ? delayOf(item) : []),
  ]);
}

function delayOf({ delay }: Extract<Line, { readonly kind: "Mock" | "MockFails" }>): Entry[] {
  return delay === undefined ? [] : [["after", delay.raw]];
}
