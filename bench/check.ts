/**
 * What `ngc check` and imports of the library cost as programs: a file of ten nodes, in both spellings, and the entry
 * points, beside an empty Node start of the same run (the built `dist/` is measured: `npm run build` first); and the
 * compiler alone, from a thousand nodes to a hundred thousand.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { compile } from "../compiler/compile.ts";
import { memoryHost } from "../compiler/load/host.ts";
import { parse } from "../grammar/parse.ts";
import { toYaml } from "../grammar/yaml/to-yaml.ts";

const ROUNDS = 21;
const PROGRAM = resolve("dist/cli/ngc.js");

const TEN_NODES = `import { search, rank, draft, review, score } from "./nodes.ts"

graph ten {
  input  question: string
  output reply: string
  state  hits: string[] = [] reduce append
  state  best: string[] = []
  state  points: float = 0
  state  rounds: int = 0
  state  verdict: "send" | "again"

  node web     = search(question, "web") into hits { tries 3 backoff 200ms..5s timeout 10s idempotent }
  node wiki    = search(question, "wiki") into hits { tries 3 timeout 10s idempotent }
  node files   = search(question, "files") into hits
  node rank    = rank(hits) into best
  node draft   = draft(question, best) into reply
  node score   = score(reply) into points
  node count   = rounds + 1 into rounds
  node review  = review(reply) into reply
  node approve = ask(\`Send this?\\n\${reply}\`) into verdict
  node tell    = print(reply)

  assert approve before tell

  start -> web, wiki, files
  all(web, wiki, files) -> rank -> draft -> score -> count
  count -> review  when points < 0.8 && rounds < 3
  count -> approve otherwise
  review -> draft
  approve -> match verdict { "send" -> tell  "again" -> draft }
}
`;

const NODES = `export const search = async (question: string, where: string): Promise<string[]> => [question + where];
export const rank = (hits: string[]): string[] => hits;
export const draft = async (question: string, best: string[]): Promise<string> => question + best[0];
export const review = async (reply: string): Promise<string> => reply;
export const score = (reply: string): number => reply.length;
`;

/** A graph of 200 nodes, each of which calls a function of its own, and their 50 modules, by file name. */
function manyModules(): Map<string, string> {
  const files = new Map<string, string>();
  const imports: string[] = [];
  const nodes: string[] = [];
  for (let module = 0; module < 50; module++) {
    const names = [0, 1, 2, 3].map((at) => `f${module}_${at}`);
    const functions = names.map(
      (name) => `/** Does the work of ${name}. */
export async function ${name}(text: string, docs: Doc[], context: NodeContext): Promise<Doc[]> {
  return docs.concat([{ id: text, score: ${module} }]);
}
`,
    );
    files.set(
      `many${module}.ts`,
      `import type { NodeContext } from "ngraph/runtime";
interface Doc { id: string; score: number; tags?: string[] }
${functions.join("")}`,
    );
    imports.push(`import { ${names.join(", ")} } from "./many${module}.ts"`);
    nodes.push(...names);
  }
  const graph = `${imports.join("\n")}
type Doc = { id: string, score: float, tags?: string[] }
graph many {
  limit steps 200
  input question: string
  output docs: Doc[] = []
${nodes.map((name) => `  node ${name} = ${name}(question, docs) into docs`).join("\n")}
  start -> ${nodes.join(" -> ")}
}
`;
  return files.set("many.ngraph", graph);
}

function starts(): void {
  if (!existsSync(PROGRAM)) {
    console.log("dist/ is missing: npm run build");
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), "ngraph-bench-"));
  try {
    writeFileSync(join(folder, "package.json"), "{}");
    writeFileSync(join(folder, "empty.mjs"), "");
    writeFileSync(join(folder, "nodes.ts"), NODES);
    writeFileSync(join(folder, "ten.ngraph"), TEN_NODES);
    writeFileSync(join(folder, "ten.ngraph.yaml"), toYaml(parse(TEN_NODES).file).text);
    for (const [name, text] of manyModules()) writeFileSync(join(folder, name), text);
    const programs: readonly (readonly [name: string, args: readonly string[]])[] = [
      ["an empty module", ["empty.mjs"]],
      ["ngc --version", [PROGRAM, "--version"]],
      ["ngc check, ten nodes", [PROGRAM, "check", "ten.ngraph"]],
      ["ngc check, ten nodes, YAML", [PROGRAM, "check", "ten.ngraph.yaml"]],
      ["ngc check, 200 functions of 50 modules", [PROGRAM, "check", "many.ngraph"]],
      ...["index", "runtime", "generated", "direct"].map((entry): [string, string[]] => [
        `import ${entry === "index" ? "ngraph" : `ngraph/${entry}`}`,
        [resolve(`dist/api/${entry}.js`)],
      ]),
    ];
    const times = programs.map((): number[] => []);
    // The programs run in turn, so that other load affects all of them. The first round writes the code cache.
    for (let round = 0; round <= ROUNDS; round++) {
      for (const [index, [name, args]] of programs.entries()) {
        const begin = performance.now();
        const { status, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8" });
        if (status !== 0) throw new Error(`${name}: exit ${status}\n${stderr}`);
        if (round > 0) times[index]?.push(performance.now() - begin);
      }
    }
    const sorted = times.map((each) => each.sort((a, b) => a - b));
    const base = sorted[0] ?? [];
    console.log("| start of a process | median ms | beyond an empty one | fastest ms | beyond an empty one |");
    console.log("|---|--:|--:|--:|--:|");
    for (const [index, [name]] of programs.entries()) {
      const each = sorted[index] ?? [];
      const middle = (list: readonly number[]): number => list[list.length >> 1] ?? 0;
      const first = (list: readonly number[]): number => list[0] ?? 0;
      const cells = [middle(each), middle(each) - middle(base), first(each), first(each) - first(base)];
      console.log(`| ${name} | ${cells.map((cell) => cell.toFixed(0)).join(" | ")} |`);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const SIZES = [1000, 10_000, 100_000] as const;

/** Nodes in a row with a choice at every tenth. */
function graphOf(nodes: number): string {
  const lines = Array.from({ length: nodes }, (_, at) => {
    const from = at === 0 ? "start" : `n${at - 1}`;
    const edge = at % 10 === 9 ? `${from}->n${at} when x>${at % 7}\n${from}->end otherwise` : `${from}->n${at}`;
    return `node n${at}=x into x\n${edge}`;
  });
  return `graph g {\nlimit steps none\ninput i: int\nstate x: int = 0\n${lines.join("\n")}\n}\n`;
}

/** Reading, binding, checks, proofs and lowering; a round each, for large graphs one. */
function bySize(): void {
  console.log(
    `\n| compiler, µs a node | ${SIZES.map((size) => size.toLocaleString("en")).join(" | ")} | largest / smallest |`,
  );
  console.log("|---|--:|--:|--:|--:|");
  const run = (text: string): void => void compile(text, { path: "bench.ngraph", host: memoryHost({}) });
  const small = graphOf(1000);
  for (let index = 0; index < 5; index++) run(small);
  const perNode = SIZES.map((size) => {
    const text = graphOf(size);
    const times = Array.from({ length: size > 10_000 ? 1 : 5 }, () => {
      const begin = performance.now();
      run(text);
      return performance.now() - begin;
    }).sort((a, b) => a - b);
    return ((times[times.length >> 1] ?? 0) * 1000) / size;
  });
  const ratio = (perNode.at(-1) ?? 0) / (perNode[0] ?? 1);
  console.log(`| compile | ${perNode.map((each) => each.toFixed(0)).join(" | ")} | ${ratio.toFixed(2)} |`);
}

const STATEMENTS = 100_000;

/** Large graphs of one shape each, with about 100,000 statements. */
const SHAPES: Readonly<Record<string, () => string>> = {
  "one chain": () => graphWith(STATEMENTS / 2, (at) => `node n${at}=1\n${at === 0 ? "start" : `n${at - 1}`}->n${at}\n`),
  diamonds: () =>
    graphWith(STATEMENTS / 7, (at) => {
      const nodes = ["a", "b", "c", "d"].map((name) => `node ${name}${at}=1\n`).join("");
      return `${nodes}${at === 0 ? "start" : `d${at - 1}`}->a${at}\na${at}->b${at},c${at}\nall(b${at},c${at})->d${at}\n`;
    }),
  loops: () =>
    graphWith(STATEMENTS / 4, (at) => {
      const next = `n${at}->n${at} when x<${at % 100}\nn${at}->n${at + 1} otherwise\n`;
      return `${at === 0 ? "state x: int=0\nstart->n0\n" : ""}node n${at}=x+1 into x\n${at + 2 > STATEMENTS / 4 ? "" : next}`;
    }),
  // Both ways of each choice can be taken, and meet again.
  choices: () =>
    graphWith(STATEMENTS / 5, (at) => {
      const next = at + 1 < STATEMENTS / 5 ? `a${at + 1}` : "end";
      const edges = `a${at}->b${at} when i>${at % 100}\na${at}->${next} otherwise\nb${at}->${next}\n`;
      return `${at === 0 ? "input i: int\nstart->a0\n" : ""}node a${at}=1\nnode b${at}=1\n${edges}`;
    }),
  "one hub": () =>
    graphWith(STATEMENTS / 2, (at) => (at === 0 ? "node h=1\nstart->h\n" : `node n${at}=1\nh->n${at}\n`)),
  "one target": () =>
    graphWith(STATEMENTS / 2, (at) => (at === 0 ? "node z=1\n" : `node n${at}=1\nstart->n${at}\nn${at}->z\n`)),
};

function graphWith(count: number, part: (at: number) => string): string {
  return `graph g {\nlimit steps none\n${Array.from({ length: count }, (_, at) => part(at)).join("")}}\n`;
}

/** The time that one compilation of each shape takes. */
function byShape(): void {
  console.log(`\n| compiler, ${STATEMENTS.toLocaleString("en")} statements | s |`);
  console.log("|---|--:|");
  for (const [name, make] of Object.entries(SHAPES)) {
    const text = make();
    const begin = process.cpuUsage();
    compile(text, { path: "bench.ngraph", host: memoryHost({}) });
    const { user, system } = process.cpuUsage(begin);
    console.log(`| ${name} | ${((user + system) / 1e6).toFixed(1)} |`);
  }
}

starts();
bySize();
byShape();
