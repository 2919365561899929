/** Tests as YAML. */
import type { Expr, TestDecl, TestItem } from "../ast.ts";
import { yamlList, yamlMap, type YamlValue } from "./emit-yaml.ts";
import { textBehindWord } from "./expression-text.ts";
import { headEntry, loseBroken, withComments, type Entry, type Writing } from "./writing.ts";
import { allOf, dataValue } from "./write-data.ts";

type Line = Exclude<TestItem, { readonly kind: "Broken" }>;

const LINE_KEYS = ["given", "mock", "answer", "expect"] as const;

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
    default:
      return "expect";
  }
}

/** A map by name; `undefined` unless each name occurs once and has one value of plain data. */
function byName(items: readonly Line[], writing: Writing): YamlValue | undefined {
  const entries = allOf(
    items.map((item): Entry | undefined => {
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
    return yamlMap([
      ["node", item.node.name],
      ["fails", item.message.value],
    ]);
  }
  if (item.kind !== "Mock" && item.kind !== "Answer") return undefined;
  const [name, values] = valuesOf(item);
  const [first, ...rest] = allOf(values.map(dataValue)) ?? [];
  if (first === undefined) return undefined;
  return yamlMap([
    ["node", name],
    [item.kind === "Mock" ? "returns" : "value", first],
    ...(rest.length === 0 ? [] : [["then", yamlList(rest)] as const]),
  ]);
}
