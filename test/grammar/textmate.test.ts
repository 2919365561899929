import { readFileSync } from "node:fs";
import { relative } from "node:path";
import { describe, expect, it } from "vitest";
import { exampleFiles } from "../support/example-files.ts";
import { SHOWCASE } from "./showcase.ts";

interface Rule {
  readonly name?: string;
  readonly contentName?: string;
  readonly match?: string;
  readonly begin?: string;
  readonly end?: string;
  readonly include?: string;
  readonly patterns?: readonly Rule[];
  readonly captures?: Readonly<Record<string, { readonly name: string }>>;
  readonly beginCaptures?: Readonly<Record<string, { readonly name: string }>>;
  readonly endCaptures?: Readonly<Record<string, { readonly name: string }>>;
}

const grammar = JSON.parse(readFileSync(new URL("../../grammar/ngraph.tmLanguage.json", import.meta.url), "utf8")) as {
  readonly scopeName: string;
  readonly patterns: readonly Rule[];
  readonly repository: Readonly<Record<string, Rule>>;
};

function allRules(rule: Rule): Rule[] {
  return [rule, ...(rule.patterns ?? []).flatMap(allRules)];
}
const rules = [...grammar.patterns, ...Object.values(grammar.repository)].flatMap(allRules);

/** Rules in effect for a list of patterns, includes resolved. */
function resolve(patterns: readonly Rule[] | undefined): Rule[] {
  return (patterns ?? []).flatMap((rule) => {
    if (rule.include !== undefined) return resolve([grammar.repository[rule.include.slice(1)] ?? {}]);
    return rule.match === undefined && rule.begin === undefined ? resolve(rule.patterns) : [rule];
  });
}

/** A small reader of TextMate grammars, line by line, as editors do it: text and scope of every token. */
function tokenize(text: string): [text: string, scope: string][] {
  const tokens: [string, string][] = [];
  const stack: { rule: Rule; rules: Rule[] }[] = [{ rule: {}, rules: resolve(grammar.patterns) }];
  for (const line of text.split("\n")) {
    for (let at = 0; at <= line.length;) {
      const top = stack[stack.length - 1] as { rule: Rule; rules: Rule[] };
      const options = [
        ...(top.rule.end === undefined ? [] : [{ rule: top.rule, source: top.rule.end, ends: true }]),
        ...top.rules.map((rule) => ({ rule, source: rule.match ?? rule.begin ?? "", ends: false })),
      ];
      let best: { found: RegExpExecArray; rule: Rule; ends: boolean } | undefined;
      for (const { rule, source, ends } of options) {
        const pattern = new RegExp(source, "gmd");
        pattern.lastIndex = at;
        const found = pattern.exec(line);
        if (found !== null && (best === undefined || found.index < best.found.index)) best = { found, rule, ends };
      }
      const scope = top.rule.contentName ?? top.rule.name ?? "";
      if (best === undefined) {
        tokens.push([line.slice(at), scope]);
        break;
      }
      const { found, rule, ends } = best;
      if (found.index > at) tokens.push([line.slice(at, found.index), scope]);
      const captures = (ends ? rule.endCaptures : rule.begin === undefined ? rule.captures : rule.beginCaptures) ?? {};
      tokens.push(...segments(found, rule.name ?? "", captures));
      at = found.index + found[0].length;
      if (ends) stack.pop();
      else if (rule.begin !== undefined) stack.push({ rule, rules: resolve(rule.patterns) });
      else if (found[0] === "") at += 1;
    }
  }
  return tokens.filter(([part]) => part.trim() !== "");
}

/** The parts of a match: captures with their own scope, and the text between them with the scope of the rule. */
function segments(found: RegExpExecArray, scope: string, captures: NonNullable<Rule["captures"]>): [string, string][] {
  const parts: [string, string][] = [];
  let from = found.index;
  const end = found.index + found[0].length;
  const cut = (to: number, name: string) => {
    if (to > from) parts.push([found.input.slice(from, to), name]);
    from = Math.max(from, to);
  };
  for (const [group, { name }] of Object.entries(captures).sort(([a], [b]) => Number(a) - Number(b))) {
    const place = found.indices?.[Number(group)];
    if (place === undefined || place[0] < from) continue;
    cut(place[0], scope);
    cut(place[1], name);
  }
  cut(end, scope);
  return parts;
}

const scopeOf = (text: string, part: string) => tokenize(text).find(([each]) => each.trim() === part)?.[1];

describe("the TextMate grammar", () => {
  it("has regular expressions that compile, and includes that exist", () => {
    expect(grammar.scopeName).toBe("source.ngraph");
    for (const { match, begin, end, include } of rules) {
      for (const source of [match, begin, end])
        if (source !== undefined) expect(() => new RegExp(source)).not.toThrow();
      if (include !== undefined) expect(Object.keys(grammar.repository)).toContain(include.slice(1));
      expect(begin === undefined).toBe(end === undefined);
    }
  });

  it("ends every scope with the name of the language", () => {
    const names = rules.flatMap(({ name, contentName, captures, beginCaptures, endCaptures }) => [
      ...[name, contentName].filter((each) => each !== undefined),
      ...[captures, beginCaptures, endCaptures].flatMap((each) =>
        Object.values(each ?? {}).map((capture) => capture.name),
      ),
    ]);
    expect(names.filter((name) => !name.endsWith(".ngraph"))).toEqual([]);
  });

  it.each([
    ["graph support {", "support", "entity.name.type.graph.ngraph"],
    ["  node draft = f(x)", "draft", "entity.name.function.node.ngraph"],
    ["  node draft = f(x)", "f", "entity.name.function.ngraph"],
    ["  state notes: string[]", "notes", "variable.other.channel.ngraph"],
    ["  state notes: string[]", "string", "support.type.primitive.ngraph"],
    ["  a -> b when x", "->", "keyword.operator.arrow.ngraph"],
    ["  a -> b when x", "when", "keyword.control.ngraph"],
    ["  start -> a", "start", "variable.language.ngraph"],
    ["  into -> a", "into", ""],
    ["  node a = b into c", "into", "keyword.control.clause.ngraph"],
    ["  timeout 10s", "timeout", "keyword.other.policy.ngraph"],
    ["  timeout 10s", "s", "keyword.other.unit.ngraph"],
    ["  all(a, b) -> c", "all", "keyword.control.barrier.ngraph"],
    ["  settled(a, b) -> c", "settled", "keyword.control.barrier.ngraph"],
    ["  all -> c", "all", ""],
    ["/// about", "/// about", "comment.line.documentation.ngraph"],
    ["// about", "// about", "comment.line.double-slash.ngraph"],
    ["x /* about */", "about", "comment.block.ngraph"],
    ['x = "a\\nb"', "\\n", "constant.character.escape.ngraph"],
    ['x = "a\\qb"', "\\q", "invalid.illegal.escape.ngraph"],
    ["`a ${count + 1} b`", "1", "constant.numeric.ngraph"],
    ["`a ${count + 1} b`", "b", "string.template.ngraph"],
    ["`a ${ {x: `${y}`} } b` -> c", "->", "keyword.operator.arrow.ngraph"],
    ["x == true", "true", "constant.language.ngraph"],
    ["x.match", "match", ""],
    ["5sec", "5sec", "invalid.illegal.number.ngraph"],
    ['import { type A } from "x"', "type", "storage.modifier.type.ngraph"],
    ['import { type A } from "x"', "from", "keyword.control.from.ngraph"],
    ['test "t" for g {', "test", "storage.type.test.ngraph"],
    ["expect ran a", "ran", "keyword.control.test.ngraph"],
  ])("%s: %s", (text, part, scope) => {
    const found = scopeOf(text, part);
    expect(found ?? "").toBe(scope);
  });

  it("reads the words of tasks as keywords", () => {
    const task = "plan p {\n  finally task clean = f() after a, done b\n  task t = f() after failed a\n}";
    expect(scopeOf(task, "finally task")).toBe(scopeOf("plan p {\n  task a = f()\n}", "task"));
    expect(scopeOf(task, "after failed")).toBe(scopeOf(task, "after"));
  });

  it("closes everything that it opens in a whole file, and marks nothing in it as wrong", () => {
    const tokens = tokenize(`${SHOWCASE}\nsecret LAST`);
    expect(tokens.at(-1)).toEqual(["LAST", "variable.other.constant.ngraph"]);
    expect(tokens.filter(([, scope]) => scope.startsWith("invalid"))).toEqual([]);
  });
});

/** Every token of a text that has a scope, a line of the text each: `graph:storage.type.graph support:entity.name…`. */
function scopesOf(text: string): string {
  return text
    .split("\n")
    .map((_line, index, lines) => {
      // Scopes that are open at a line break are known only after tokenizing from the start of the text. The tokens of
      // this line are the difference of two prefixes.
      const before = index === 0 ? 0 : tokenize(lines.slice(0, index).join("\n")).length;
      return tokenize(lines.slice(0, index + 1).join("\n"))
        .slice(before)
        .filter(([, scope]) => scope !== "")
        .map(([part, scope]) => `${part.trim()} ${scope.replace(/\.ngraph$/, "")}`)
        .join(" | ");
    })
    .join("\n");
}

describe("the examples", () => {
  it.each(exampleFiles(".ngraph"))("%s is coloured as it was (npx vitest -u writes the snapshot)", async (path) => {
    const text = readFileSync(path, "utf8");
    expect(tokenize(text).filter(([, scope]) => scope.startsWith("invalid"))).toEqual([]);
    const name = relative("examples", path)
      .replaceAll(/[\\/]/g, "-")
      .replace(/\.ngraph$/, "");
    await expect(`${scopesOf(text)}\n`).toMatchFileSnapshot(`scopes/${name}.txt`);
  });
});
