/** Rules of a Choice state with JSONPath, as conditions. */
import { ImportError, quoted, shortJson, type Source } from "../imported.ts";
import { sayLiteral, sayPathExpression } from "./json-path.ts";
import { atom, compound, fitting, operand, parsePath, Unsaid, type Said, type Scope } from "./said.ts";
import type { Kind } from "./shape.ts";

const SYMBOLS: Readonly<Record<string, string>> = {
  Equals: "==",
  LessThan: "<",
  LessThanEquals: "<=",
  GreaterThan: ">",
  GreaterThanEquals: ">=",
};
const COMPARISON =
  /^(String|Numeric|Boolean|Timestamp)(Equals|LessThan|LessThanEquals|GreaterThan|GreaterThanEquals)(Path)?$/;
const TESTS: ReadonlySet<string> = new Set([
  "IsNull",
  "IsPresent",
  "IsNumeric",
  "IsString",
  "IsBoolean",
  "IsTimestamp",
]);
const TIMESTAMP = String.raw`^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(\\.\\d+)?(Z|[+-]\\d{2}:\\d{2})$`;
/** Rules nest at most so deep; the language allows 64 levels of an expression. */
const DEEPEST = 20;

/** @throws ImportError for a rule that is not one of the language, Unsaid for a path that has no form here */
export function sayRule(rule: Source, scope: Scope, depth = 0): Said {
  if (depth > DEEPEST) throw new ImportError(rule.at, `rules nest more than ${DEEPEST} levels deep`);
  for (const [key, symbol] of [
    ["And", "&&"],
    ["Or", "||"],
  ] as const) {
    const list = rule.field(key);
    if (!list.isPresent) continue;
    const parts = list.items().map((each) => operand(sayRule(each, scope, depth + 1)));
    if (parts.length === 0) throw list.wrong("a list of rules");
    return parts.length === 1 ? atom(parts[0]!, "bool") : compound(parts.join(` ${symbol} `), "bool");
  }
  const not = rule.field("Not");
  if (not.isPresent) return compound(`!${operand(sayRule(not, scope, depth + 1))}`, "bool");
  const variable = rule.field("Variable").text();
  const tests = rule.entries().filter(([key]) => COMPARISON.test(key) || TESTS.has(key) || key === "StringMatches");
  const [test] = tests;
  if (test === undefined || tests.length > 1) {
    throw new ImportError(rule.at, `expected one comparison, found ${shortJson(tests.map(([key]) => key))}`);
  }
  return sayTest(variable, test[0], test[1], scope);
}

function sayTest(variable: string, name: string, value: Source, scope: Scope): Said {
  const at = (kind: Kind, isRequired = true): Said =>
    fitting(sayPathExpression(variable, kind, scope, isRequired), kind, scope);
  if (TESTS.has(name)) return sayKindTest(variable, name, value, scope);
  if (name === "StringMatches") {
    const pattern = value
      .text()
      .replace(/\\([*\\])|\*|[\\^$.+?()[\]{}|]/g, (part, escaped: string | undefined) =>
        part === "*" ? "[^]*" : `\\${escaped ?? part}`,
      );
    return atom(`matches(${at("string").text}, ${quoted(`^${pattern.replaceAll("[^]*", "(.|\\n)*")}$`)})`, "bool");
  }
  const [, type = "", relation = "", isPath] = COMPARISON.exec(name) ?? [];
  const symbol = SYMBOLS[relation]!;
  const kind: Kind = type === "Numeric" ? "float" : type === "Boolean" ? "bool" : "string";
  if (type === "Boolean" && relation !== "Equals") throw new ImportError(value.at, `\`${name}\` is not a comparison`);
  let other: Said;
  if (isPath === undefined) {
    const expected = { float: "number", bool: "boolean" }[kind as string] ?? "string";
    if (typeof value.value !== expected) throw value.wrong(expected === "string" ? "a text" : `a ${expected}`);
    other = typeof value.value === "number" ? atom(numberText(value.value), "float") : sayLiteral(value);
  } else other = fitting(sayPathExpression(value.text(), kind, scope, symbol !== "=="), kind, scope);
  const found = at(kind, symbol !== "==");
  // A constant compared with another one is an error of the language: `$$.State.Name` is one.
  const own = found.text.startsWith('"') ? atom(`${scope.helper("untyped")}(${found.text})`, "any") : found;
  if (type === "Timestamp") {
    const time = scope.helper("time");
    return compound(`${time}(${own.text}) ${symbol} ${time}(${other.text})`, "bool");
  }
  return compound(`${operand(own)} ${symbol} ${operand(other)}`, "bool");
}

function sayKindTest(variable: string, name: string, value: Source, scope: Scope): Said {
  if (typeof value.value !== "boolean") throw value.wrong("true or false");
  if (variable.trim().startsWith("States.")) throw new Unsaid(`\`${variable}\` is not a path`);
  if (name !== "IsNull" && name !== "IsPresent") {
    // A field whose type is tested has values of several types.
    const { name: root, path } = parsePath(variable.trim());
    if (root === undefined && scope.root.channel === scope.data) scope.used.noteMixed([...scope.root.path, ...path]);
  }
  const said = sayPathExpression(variable, "json", scope);
  const kindOf = (): string => `${scope.helper("kindOf")}(${said.text})`;
  const isTrue = value.value;
  switch (name) {
    case "IsNull":
      return compound(`${operand(said)} ${isTrue ? "==" : "!="} null`, "bool");
    case "IsPresent":
      return compound(`${operand(said)} ${isTrue ? "!=" : "=="} null`, "bool");
    case "IsTimestamp": {
      const text = fitting(said, "string", scope);
      const test = `${kindOf()} == "string" && matches(${text.text}, "${TIMESTAMP}")`;
      return compound(isTrue ? test : `!(${test})`, "bool");
    }
    default: {
      const kind = { IsNumeric: "number", IsString: "string", IsBoolean: "boolean" }[name]!;
      return compound(`${kindOf()} ${isTrue ? "==" : "!="} "${kind}"`, "bool");
    }
  }
}

/** Decimal notation, of large numbers as well. */
function numberText(value: number): string {
  if (Number.isInteger(value)) return `${BigInt(value)}${Number.isSafeInteger(value) ? "" : ".0"}`;
  const text = String(value);
  return text.includes("e") ? value.toFixed(20).replace(/0+$/, "").replace(/\.$/, ".0") : text;
}
