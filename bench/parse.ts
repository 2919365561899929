/**
 * What reading and writing cost: a file of 500 KB in both spellings (megabytes a second, the median after warm-up), and whether the cost
 * of a node stays the same from a thousand nodes to a hundred thousand (microseconds a node; the last column is the largest divided
 * by the smallest). `ngc check` as a program is in `check.ts`.
 */
import { readFileSync } from "node:fs";
import { format } from "../grammar/format/format.ts";
import { LARGEST_FILE } from "../grammar/limits.ts";
import { parse } from "../grammar/parse.ts";
import { parseYaml } from "../grammar/yaml/parse-yaml.ts";
import { toYaml } from "../grammar/yaml/to-yaml.ts";

const SAMPLES = 15;
const WARM_UP = 8;

/** The graphs of the examples over and over, until the text has this many bytes. */
function fileOf(bytes: number): string {
  const graphs = ["log-triage/triage", "review-loop/review", "document-map/terms"]
    .map((name) => readFileSync(`examples/${name}.ngraph`, "utf8").replace(/^import [^}]*\} from .*$/m, ""))
    .map((text) => text.replace(/\bgraph (\w+) \{/, "graph $1_N {"));
  let text = "";
  for (let index = 0; text.length < bytes; index++) {
    text += (graphs[index % graphs.length] ?? "").replace("_N {", `_${index} {`);
  }
  return text;
}

/** The median processor time of some calls after warm-up, in milliseconds: what else the machine does is not in it, garbage collection is. */
async function median(run: () => unknown, samples = SAMPLES, warmUp = WARM_UP): Promise<number> {
  const times: number[] = [];
  for (let index = 0; index < warmUp + samples; index++) {
    const begin = process.cpuUsage();
    await run();
    const { user, system } = process.cpuUsage(begin);
    times.push((user + system) / 1000);
  }
  const kept = times.slice(warmUp).sort((a, b) => a - b);
  return kept[kept.length >> 1] ?? 0;
}

const text = fileOf(500_000);
const { file } = parse(text);
const yaml = toYaml(file).text;
const perSecond = (bytes: number, ms: number): string => (bytes / 1000 / ms).toFixed(2);

console.log("| 500 KB | bytes | ms | MB/s |\n|---|--:|--:|--:|");
for (const [name, bytes, run] of [
  ["parse text", text.length, () => parse(text)],
  ["parse YAML", yaml.length, () => parseYaml(yaml)],
  ["format text", text.length, () => format(text)],
  ["text to YAML", text.length, () => toYaml(file)],
] as const) {
  const ms = await median(run, name.startsWith("parse") ? SAMPLES : 5, name.startsWith("parse") ? WARM_UP : 2);
  console.log(`| ${name} | ${bytes} | ${ms.toFixed(0)} | ${perSecond(bytes, ms)} |`);
}

/** What is hard to read: 64 KB each. */
const HOSTILE: Readonly<Record<string, (bytes: number) => string>> = {
  "open brackets": (bytes) => `graph g { node n = ${"[(".repeat(bytes / 2)}`,
  "calls that never close": (bytes) => `graph g {\n${"node a = f(\n".repeat(bytes / 12)}`,
  "broken statements": (bytes) => `graph g {\n${"node = 3\n".repeat(bytes / 9)}`,
  "template openings": (bytes) => "`${".repeat(bytes / 3),
  "half a file": (bytes) => text.slice(0, bytes - 7),
  "YAML: open maps": (bytes) => "a: {".repeat(bytes / 4),
  "YAML: broken edges": (bytes) => `graph: g\nedges:\n${"  - a ->\n".repeat(bytes / 9)}`,
  "YAML: half a file": (bytes) => yaml.slice(0, bytes - 7),
};

console.log("\n| 64 KB of | ms |\n|---|--:|");
for (const [name, make] of Object.entries(HOSTILE)) {
  const hostile = make(64 * 1024);
  const read = name.startsWith("YAML") ? parseYaml : parse;
  console.log(`| ${name} | ${(await median(() => read(hostile), 5, 2)).toFixed(0)} |`);
}

/** A graph of so many nodes in a row. Short, so that a hundred thousand of them stay below the largest file that is read. */
function chainOf(nodes: number): string {
  const lines = Array.from(
    { length: nodes },
    (_, at) => `node n${at}=f(x)\n${at === 0 ? "start" : `n${at - 1}`}->n${at}`,
  );
  return `graph g {\nstate x: int = 0\n${lines.join("\n")}\n}\n`;
}

const SIZES = [1000, 10_000, 100_000] as const;
console.log(`\n| µs a node | ${SIZES.map((size) => size.toLocaleString("en")).join(" | ")} | largest / smallest |`);
console.log("|---|--:|--:|--:|--:|");
const chains = SIZES.map(chainOf);
for (const [name, textsOf, run] of [
  ["parse text", () => chains, (each: string) => parse(each)],
  ["parse YAML", () => chains.map((each) => toYaml(parse(each).file).text), (each: string) => parseYaml(each)],
  ["format text", () => chains, (each: string) => format(each)],
] as const) {
  const perNode: (number | undefined)[] = [];
  for (const [index, each] of textsOf().entries()) {
    if (each.length > LARGEST_FILE) {
      perNode.push(undefined);
      continue;
    }
    const size = SIZES[index] ?? 1;
    const ms = await median(() => run(each), size > 10_000 ? 3 : 7, size > 10_000 ? 1 : 5);
    perNode.push((ms * 1000) / size);
  }
  const measured = perNode.filter((each) => each !== undefined);
  const ratio = (measured.at(-1) ?? 0) / (measured[0] ?? 1);
  console.log(
    `| ${name} | ${perNode.map((each) => each?.toFixed(1) ?? "over 4 MiB").join(" | ")} | ${ratio.toFixed(2)} |`,
  );
}
