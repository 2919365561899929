/** Each offer of completion, inserted in the examples in place of a word: the text can be read up to the end of the offer, as before. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { CompletionItem } from "vscode-languageserver-protocol";
import { emptyHost } from "../../compiler/load/host.ts";
import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import { findCompletions } from "../../editor/complete.ts";
import { Workspace } from "../../editor/workspace.ts";
import { convert } from "../../grammar/convert.ts";
import { parse } from "../../grammar/parse.ts";
import { parseYaml } from "../../grammar/yaml/parse-yaml.ts";
import { isDeep } from "../support/depth.ts";
import { exampleFiles } from "../support/example-files.ts";

const EXAMPLES = exampleFiles(".ngraph").map((name) => [name, readFileSync(name, "utf8")] as const);
const IN_YAML = EXAMPLES.flatMap(([name, text]) => {
  const { text: yaml } = convert(text, { to: "yaml" });
  return yaml === "" ? [] : [[`${name}.yaml`, yaml] as const];
});

/** A sample of all words, and of the offers at each of them: the same in each run. */
const [EVERY_WORD, EVERY_OFFER] = isDeep ? [3, 2] : [19, 5];

/** Words, but no units of durations and no escapes. */
const WORD = /(?<![\w\\])[A-Za-z_]\w*/g;

interface Offer {
  readonly start: number;
  readonly word: string;
  readonly item: CompletionItem;
}

function* offersIn(name: string, text: string): Generator<Offer> {
  const uri = `/p/${name}`;
  const workspace = new Workspace(
    () => emptyHost,
    (path) => path,
  );
  workspace.open(uri, "", 1, text);
  const index = workspace.index();
  const [checked, file] = [workspace.check(uri), workspace.names(uri, index)];
  if (checked === undefined || file === undefined) throw new Error("the document is not open");
  for (const [at, { index: start, 0: word }] of [...text.matchAll(WORD)].entries()) {
    if (at % EVERY_WORD !== 0) continue;
    const items = findCompletions(checked, file, start, { index, host: workspace.host() });
    // Another part of the offers at each word.
    for (const [nth, item] of items.entries()) if ((nth + at) % EVERY_OFFER === 0) yield { start, word, item };
  }
}

const tried = { ngraph: 0, yaml: 0 };

const keyOf = ({ code, span }: Diagnostic): string => `${code} ${span.start}`;

test.each(EXAMPLES)("%s", { timeout: 600_000 }, (name, text) => {
  const before = new Map<number, ReadonlySet<string>>();
  for (const { start, item } of offersIn(name, text)) {
    tried.ngraph++;
    const head = text.slice(0, start);
    let known = before.get(start);
    if (known === undefined) before.set(start, (known = new Set(parse(head).diagnostics.map(keyOf))));
    const changed = head + (item.insertText ?? item.label);
    const end = changed.trimEnd().length;
    const found = parse(changed).diagnostics.filter((each) => each.span.start < end && !known.has(keyOf(each)));
    expect(
      found.map(({ code, message }) => `${code} ${message}`),
      `${item.label} at the end of ${changed.slice(-120)}`,
    ).toEqual([]);
  }
});

/** Words of the language, in whose place no name can stand. */
const JOINING: ReadonlySet<string> = new Set(
  (
    "in for if else on error otherwise when match with to ran answer undone before each never once eventually at " +
    "status not failed completed waiting cancelled"
  ).split(" "),
);

/** Unreadable YAML, unknown keys, and values that are not in the language. */
const UNREADABLE = /^NG0(?:0|10|11)/;

test.each(IN_YAML)("%s", { timeout: 600_000 }, (name, text) => {
  for (const { start, word, item } of offersIn(name, text)) {
    const offer = item.insertText ?? item.label;
    const end = start + word.length;
    // A key stands in place of a key, and a name in place of a name.
    const isKey = /^["']?:(?:\s|$)/.test(text.slice(end, end + 3));
    if (isKey !== offer.endsWith(": ") || JOINING.has(word)) continue;
    // The first keys of a document decide which others it has.
    if (isKey && /(?:^|\n)["']?$/.test(text.slice(0, start))) continue;
    tried.yaml++;
    const line = text.slice(text.lastIndexOf("\n", start - 1) + 1, start);
    // A key is a new entry before the one that is there.
    const entry = /^[ -]*$/.test(line) ? `${offer}null\n${line.replaceAll("-", " ")}` : `${offer}null, `;
    const changed = text.slice(0, start) + (offer.endsWith(": ") ? entry + text.slice(start) : offer + text.slice(end));
    const found = parseYaml(changed).diagnostics.filter(({ code }) => UNREADABLE.test(code));
    expect(
      found.map(({ code, message }) => `${code} ${message}`),
      `${item.label} in ${changed.slice(start - 100, start + 60)}`,
    ).toEqual([]);
  }
});

test("many offers were tried", () => {
  expect(tried.ngraph).toBeGreaterThan(400);
  expect(tried.yaml).toBeGreaterThan(400);
});
