/** Random graphs and plans whose commands, requests, functions, questions and errors repeat secrets in many forms. */
import { below, chance, pick, type Random } from "../fault/random.ts";

export interface Leftover {
  readonly files: Readonly<Record<string, string>>;
  readonly secrets: { readonly KEY: string; readonly TOKEN: string };
  /** The secrets, and forms of them that commands print. */
  readonly environment: Readonly<Record<string, string>>;
  /** Arguments of `ngc`, one list for each command. */
  readonly commands: readonly (readonly string[])[];
}

/**
 * A project from a seed.
 *
 * @param server answers with the headers and the body that it received, and the status 500
 * @param isSpawned whether `ngc` runs in a process of its own, so that functions may throw outside of a call
 */
export function leftoverOf(random: Random, server: string, isSpawned: boolean): Leftover {
  const secrets = { KEY: secretValue(random), TOKEN: secretValue(random) };
  const isPlan = chance(random, 0.35);
  const nodes = Array.from({ length: between(random, 1, 4) }, (_, index) =>
    nodeOf(random, `n${index}`, server, isPlan, isSpawned),
  );
  const text = isPlan ? planOf(random, nodes) : graphOf(random, nodes);
  const run = ["run", "p.ngraph", "--graph", "main", "--thread", "t"];
  const later: readonly (readonly string[])[] = [
    ["resume", "t"],
    ["resume", "t", "--json"],
    ["history", "t", "--json"],
    ["threads", "--json"],
    ["threads"],
    ["graph", "p.ngraph", "--graph", "main", "--format", "svg", "--output", "picture.svg"],
    ["compile", "p.ngraph", "--out", "out"],
    ["check", "p.ngraph", "-v"],
  ];
  return {
    files: { "p.ngraph": text, "f.mjs": FUNCTIONS },
    secrets,
    environment: {
      ...secrets,
      KEY64: Buffer.from(secrets.KEY).toString("base64"),
      JSON_OF_KEY: JSON.stringify({ a: secrets.KEY }),
      URL_OF_KEY: encodeURIComponent(secrets.KEY),
    },
    commands: [
      [...run, ...pick(random, [[], ["--json"], ["--events"]])],
      ...Array.from({ length: 2 }, () => pick(random, later)),
    ],
  };
}

function between(random: Random, least: number, most: number): number {
  return least + below(random, most - least + 1);
}

/** Values of the kinds that are used as secrets, with characters that some form escapes. */
function secretValue(random: Random): string {
  const text = (length: number, letters: string): string =>
    Array.from({ length }, () => letters[below(random, letters.length)] ?? "").join("");
  const plain = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghjkmnpqrstuvwxyz23456789";
  return pick(random, [
    () => text(between(random, 16, 48), plain),
    () => text(between(random, 16, 40), `${plain}"'\\/+&?=% $\``),
    () => `{"type":"account","key":"${text(30, plain)}\\n"}`,
    () =>
      ["-----BEGIN KEY-----", ...Array.from({ length: 4 }, () => text(40, plain)), "-----END KEY-----", ""].join("\n"),
    () => `${text(20, plain)}é😀${text(10, plain)}`,
  ])();
}

/** The secret `$KEY` of a command in a form, at a position in much or little other output. */
function shown(random: Random): string {
  const form = pick(random, [
    'printf %s "$KEY"',
    'printf %s "$KEY" | base64',
    'printf %s "user:$KEY" | base64 -w0',
    'printf %s "$KEY" | tail -n 2',
    'printf %s "$JSON_OF_KEY"',
    'printf %s "$URL_OF_KEY"',
    'echo "a $KEY b $TOKEN c"',
  ]);
  const padding = `head -c ${pick(random, [0, 10, 1985, 1990, 4080, 19990])} /dev/zero | tr '\\0' x`;
  return `{ ${pick(random, [`${form}; ${padding}`, `${padding}; ${form}`, form])}; } >&${pick(random, ["1", "2"])}`;
}

const ENV = "env: { KEY: KEY, TOKEN: TOKEN }";

function quoted(text: string): string {
  return JSON.stringify(text);
}

interface Node {
  readonly name: string;
  readonly call: string;
  /** `into` with the channel `of_NAME`, or nothing. */
  readonly output: string;
  /** Policies and checks of a task. */
  readonly more: string;
}

function nodeOf(random: Random, name: string, server: string, isTask: boolean, isSpawned: boolean): Node {
  const code = pick(random, ["exit 0", "exit 3", "kill -9 $$"]);
  const command = (): string => quoted(`${shown(random)}; ${code}`);
  const call = pick(random, [
    () => `shell(${command()}, ${ENV})`,
    () => `shell(${command()}, ${ENV}, check: false)`,
    () => `shell("cat >&2; exit 4", input: KEY)`,
    () => `http("${server}/${pick(random, ["a", "b?c=d"])}", headers: { Authorization: KEY64, "X-Key": KEY64 })`,
    () => `http("http://127.0.0.1:1/", headers: { Authorization: KEY64 })`,
    () => `throws("${pick(random, FORMS)}")`,
    () => `asks("${pick(random, FORMS)}")`,
    () => `emits("${pick(random, FORMS)}")`,
    () => `${isSpawned ? "later" : "throws"}("${pick(random, FORMS)}")`,
  ])();
  const check = isTask && chance(random, 0.4) ? `done when shell(${command()}, ${ENV})  tries 1` : "";
  // A field of the result is stored, and not the output beside it.
  const output = call.startsWith("shell(") && chance(random, 0.5) ? ` into { code: of_${name} }` : "";
  return { name, call, output, more: check };
}

function header(): string {
  return 'secret KEY\nsecret TOKEN\nsecret KEY64\nimport { throws, asks, emits, later } from "./f.mjs"\n';
}

function channelsOf(nodes: readonly Node[]): string {
  const names = nodes.filter(({ output }) => output !== "").map(({ name }) => `  output of_${name}: int = 0\n`);
  return `  output last: string = ""\n${names.join("")}`;
}

function graphOf(random: Random, nodes: readonly Node[]): string {
  const names = nodes.map(({ name }) => name);
  const lines = nodes.map(({ name, call, output }) => `  node ${name} = ${call}${output}`);
  const edges = names.map((name, index) => {
    const next = names[index + 1] ?? "end";
    return `  ${name} -> ${next}${next !== "end" && chance(random, 0.6) ? `\n  ${name} -> ${next} on error` : ""}`;
  });
  const body = `${channelsOf(nodes)}${lines.join("\n")}\n  start -> ${names[0] ?? ""}\n${edges.join("\n")}`;
  return chance(random, 0.3)
    ? `${header()}graph main {\n  node a = inner()\n  start -> a -> end\n}\ngraph inner {\n${body}\n}\n`
    : `${header()}graph main {\n${body}\n}\n`;
}

function planOf(random: Random, nodes: readonly Node[]): string {
  const tasks = nodes.map(({ name, call, output, more }, index) => {
    const after = index > 0 && chance(random, 0.5) ? ` after done n${index - 1}` : "";
    return `  task ${name} = ${call}${after}${output}${more === "" ? "" : ` { ${more} }`}`;
  });
  return `${header()}plan main {\n  on failure continue\n${channelsOf(nodes)}${tasks.join("\n")}\n}\n`;
}

const FORMS = ["plain", "json", "url", "base64", "long", "object", "cause", "cut"] as const;

/** Functions that repeat the secrets. Their module reads them from the environment, as user code can. */
const FUNCTIONS = `
const { KEY, TOKEN } = process.env;
const pad = "x".repeat(19990);
const forms = {
  plain: () => "has " + KEY + " and " + TOKEN,
  json: () => JSON.stringify({ a: [KEY] }),
  url: () => "https://h/?a=" + encodeURIComponent(KEY),
  base64: () => "Basic " + Buffer.from("user:" + KEY).toString("base64"),
  long: () => pad + KEY,
  object: () => ({ toString: () => "[object Object]", KEY, pad: "y".repeat(190) }),
  cause: () => new Error("above", { cause: new Error("below " + KEY) }),
  cut: () => KEY.slice(0, Math.ceil(KEY.length / 2)) + "…",
};
export function throws(form) {
  const value = forms[form]();
  throw typeof value === "string" ? Object.assign(new Error(value), { code: KEY, data: { TOKEN } }) : value;
}
export function asks(form, context) {
  const value = forms[form]();
  context.interrupt({ question: "sure?", about: value instanceof Error ? value.message : value.KEY ?? value, [KEY]: 1 });
}
export function later(form) {
  Promise.reject(forms[form]());
  setTimeout(() => { throw forms[form](); }, 1);
  return new Promise((done) => setTimeout(done, 50));
}
export function emits(form, context) {
  const value = forms[form]();
  context.emit({ value: value instanceof Error ? value.message : value.KEY ?? value, [TOKEN]: [KEY] });
}
`;
