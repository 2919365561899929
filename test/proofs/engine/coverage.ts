/** Counts the graphs in which each part of the language occurs together with each property that `check` claims. */
import type { Judged } from "./judge.ts";

/** Parts of the language, by what the text of a graph shows. */
const IN_TEXT: Readonly<Record<string, RegExp>> = {
  "plain edge": /^ *\w+ -> \w+$/m,
  "several targets": /^ *\w+ -> \w+, \w+/m,
  "several sources": /^ *(\w+, \w+|any\([^)]*\)) -> /m,
  chain: /^ *\w+ -> \w+ -> /m,
  when: /^ *n\w+ -> [^{]* when /m,
  otherwise: / otherwise$/m,
  "match on a value": / match [^{ ]+ \{/,
  "match on conditions": / match \{/,
  else: / else -> /,
  "conditional start": /^ *start -> .*(when|match)/m,
  "all barrier": /^ *all\(/m,
  "settled barrier": /^ *settled\(/m,
  "any member": /any\(\w+, \w+\)/,
  waits: /\bwaits /,
  "on error": / on error$/m,
  "on error when": / on error when /,
  "on error otherwise": / on error otherwise$/m,
  "assert at": /^ *assert .* at n\d+$/m,
  goes: /\bgoes /,
  "goes end": /\bgoes [^}]*\bend\b/,
  "for node": / for item in /,
  "for over an empty list": / for item in \[\]/,
  "for over a channel": / for item in c\d/,
  "expression node": /^ *node \w+ = (?!(act|llm|http|shell|tool|print|sleep|fail|ask|inner|job)\()/m,
  "record result": / into \{/,
  "imported function in a condition": /\btest\(/,
  llm: /\bllm\(/,
  http: /\bhttp\(/,
  shell: /\bshell\(/,
  tool: /\btool\(/,
  print: /\bprint\(/,
  sleep: /\bsleep\(/,
  receive: /\breceive\(/,
  "timer that pauses": /\bsleep\(2h\)/,
  within: /\bwithin /,
  "within with an error edge": /^ *node (n\d+) = [^\n]*\bwithin (?=[^]*^ *\1 -> \w+ on error)/m,
  "into set": / into set /,
  "set in a field": /: set \w+/,
  "optional field": / into \{[^}]*\w\?/,
  "merge by id": /: \{ id\?: string.* reduce merge/,
  "condition on merge by id": / -> .*\brows\b/,
  "index of for": / for item, i in /,
  "if of for": / for item.* in .* if /,
  "derived condition": / when d\d+$/m,
  "derived list": / in list\b/,
  "derived value": /\bnext\b/,
  fail: /\bfail\(/,
  ask: /\bask\(/,
  "called graph": /\binner\(/,
  "called plan": /\bjob\(/,
  memory: /^ *memory /m,
  "input with a condition": /\bgiven\b[^:]/,
  tries: /\btries \d/,
  backoff: /\bbackoff /,
  timeout: /\btimeout /,
  cache: /\bcache\b/,
  idempotent: /\bidempotent\b/,
  "allow failure": /\ballow failure/,
  "max parallel of a node": /\{.*max parallel/,
  "max parallel of the graph": /^ *max parallel/m,
  "limit steps": /^ *limit steps/m,
  "pause before": /\bpause before/,
  "pause after": /\bpause after/,
  "no reducer": /^ *(state|output) \w+: (?!.* reduce)/m,
  "reduce last": /reduce last/,
  "reduce append": /reduce append/,
  "length of a growing list": /len\(grown\)/,
  "last item of a growing list": /last\(grown\)/,
  "counter up to an input": /\bcount2? [<>]=? most\b/,
  "counter up to a length": /\bcount2? [<>]=? len\(given_list\)/,
  "counter up to a fixed state": /\bcount2? [<>]=? least\b/,
  "last item of a foreign list": /last\(notes\)/,
  "reduce sum": /reduce sum/,
  "reduce min": /reduce min/,
  "reduce max": /reduce max/,
  "reduce merge": /reduce merge/,
  "reduce union": /reduce union/,
  "imported reducer": /reduce fold/,
  bool: /^ *\w+ \w+: bool/m,
  int: /^ *\w+ \w+: int( |$)/m,
  float: /^ *\w+ \w+: float/m,
  enum: /^ *\w+ \w+: "x" \| "y" \| "z"/m,
  "number literals": /: 0 \| 1 \| 2/,
  string: /^ *\w+ \w+: string( |$)/m,
  "nullable int": /: int \| null/,
  "nullable enum": /: "x" \| "y" \| null/,
  "list of int": /: int\[\]/,
  "list of string": /: string\[\]/,
  record: /: \{ ok: bool/,
  map: /: map</,
  json: /: json/,
  union: /: int \| string/,
  "channel without a start value": /^ *state \w+: [^=]*$/m,
  "tiny float": /1e-20/,
};

/** What imported code did in some run. */
const IN_RUNS = [
  "goto one",
  "goto one beside a result",
  "goto several",
  "exclusive goto",
  "send one",
  "send several",
  "send twice to one",
  "stop",
  "stop beside a result",
  "emit",
  "interrupt",
  "interrupt with a deadline",
  "fails",
  "timeout",
  "bad result",
  "empty list",
  "failing item",
  "delay",
  "answer",
  "signal",
  "signal in advance",
  "signal that does not fit",
  "no signal",
  "deadline passes",
  "timer",
  "second run of a thread",
] as const;

const FORMS = ["before", "once", "eventually", "never"] as const;

export const FEATURES: readonly string[] = [...Object.keys(IN_TEXT), ...IN_RUNS];
export const PROPERTIES: readonly string[] = [
  "sound",
  "not sound",
  "race free",
  "race",
  "bounded",
  "not bounded",
  "bounded loop",
  "parallelism",
  "calls",
  "exhaustive",
  "gap",
  ...FORMS.flatMap((form) => [`${form} proven`, `${form} refuted`]),
];

/** Properties that thousands of graphs have with each part of the language. */
export const COMMON: readonly string[] = PROPERTIES.filter(
  (property) => property !== "gap" && !property.endsWith("refuted"),
);

/** Assertions that do not hold are rare: each part meets one of them. */
export const REFUTED: readonly string[] = PROPERTIES.filter((property) => property.endsWith("refuted"));

/** Parts that fewer than one graph in a hundred has. They meet some properties only. */
export const RARE: ReadonlySet<string> = new Set(["tiny float"]);

export class Coverage {
  readonly #counts = new Map<string, number>();

  /** Returns the properties that were claimed. */
  add(judged: Judged): readonly string[] {
    const properties = propertiesOf(judged);
    for (const feature of featuresOf(judged)) {
      for (const property of properties) {
        const key = `${feature}/${property}`;
        this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
      }
    }
    return properties;
  }

  count(feature: string, property: string): number {
    return this.#counts.get(`${feature}/${property}`) ?? 0;
  }

  /** A row a feature, a column a property. */
  table(): string {
    const width = Math.max(...FEATURES.map((feature) => feature.length));
    const rows = FEATURES.map((feature) => {
      const counts = PROPERTIES.map((property) => String(this.count(feature, property)).padStart(6));
      return `${feature.padEnd(width)} ${counts.join(" ")}`;
    });
    const keys = PROPERTIES.map((property, index) => `${index + 1} ${property}`).join(", ");
    const head = PROPERTIES.map((_, index) => String(index + 1).padStart(6)).join(" ");
    return [keys, `${"".padEnd(width)} ${head}`, ...rows].join("\n");
  }
}

export function featuresOf({ text, did }: Judged): readonly string[] {
  const inText = Object.entries(IN_TEXT).flatMap(([feature, pattern]) => (pattern.test(text) ? [feature] : []));
  return [...inText, ...did];
}

export function propertiesOf({ claims, checked, seen, exhausted }: Judged): readonly string[] {
  const found: string[] = [];
  const has = (...codes: readonly string[]): boolean => checked.diagnostics.some(({ code }) => codes.includes(code));
  found.push(claims.sound ? "sound" : "not sound");
  if (has("NG401")) found.push("race");
  else if (!seen.race) found.push("race free");
  if (claims.steps !== undefined) found.push("bounded");
  else if (seen.cut || has("NG206")) found.push("not bounded");
  if (claims.rounds.length > 0) found.push("bounded loop");
  if (claims.parallel !== undefined) found.push("parallelism");
  if (claims.calls !== undefined) found.push("calls");
  if (has("NG501", "NG515")) found.push("gap");
  else if (!seen.noRoute || exhausted) found.push("exhaustive");
  for (const form of FORMS) {
    const isOf = (text: string): boolean => text.split(" ").includes(form);
    if ([...claims.proven].some(isOf)) found.push(`${form} proven`);
    if ([...claims.refuted.keys()].some(isOf)) found.push(`${form} refuted`);
  }
  return found;
}
