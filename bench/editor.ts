/**
 * The language server as a process, over stdio (`npm run build` first): milliseconds from a key press to the findings and to the answers in a
 * file of 1,000 nodes, in both spellings; the time until 200 files of a project have their findings; and the memory after 10,000 edits.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { parse } from "../grammar/parse.ts";
import { toYaml } from "../grammar/yaml/to-yaml.ts";
import { openEditor, type EditorSession } from "./support/editor-session.ts";

const NODES = 1000;
const PRESSES = 40;
const EDITS = 10_000;

/** Nodes in rows of ten: five beside each other, a join, a choice. */
function largeGraph(): string {
  const lines = [
    "graph large {",
    "  input q: string",
    "  output r: string",
    "  state xs: string[] = [] reduce append",
    "  state n: int = 0",
  ];
  for (let row = 0; row < NODES / 10; row++) {
    for (let at = 0; at < 8; at++)
      lines.push(`  node n${row}_${at} = \`\${q} ${row} \${n}\` into ${at < 5 ? "xs" : "r"}`);
    lines.push(`  node c${row} = n + 1 into n`, `  node d${row} = 0 into n`);
    const start = row === 0 ? "start" : `d${row - 1}`;
    lines.push(`  ${start} -> n${row}_0, n${row}_1, n${row}_2, n${row}_3, n${row}_4`);
    lines.push(`  all(n${row}_0, n${row}_1, n${row}_2, n${row}_3, n${row}_4) -> n${row}_5 -> c${row}`);
    lines.push(
      `  c${row} -> n${row}_6 when n > ${row}`,
      `  c${row} -> n${row}_7 otherwise`,
      `  any(n${row}_6, n${row}_7) -> d${row}`,
    );
  }
  return `${lines.join("\n")}\n}\n`;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
}

function row(title: string, values: readonly number[], goal: number): void {
  const [middle, most] = [median(values), Math.max(...values)];
  console.log(`${title}: median ${middle.toFixed(0)} ms, at most ${most.toFixed(0)} ms (goal ${goal})`);
}

async function since(work: Promise<unknown>, start = performance.now()): Promise<number> {
  await work;
  return performance.now() - start;
}

/** Key presses in the middle of a large file: a letter of a name is typed and deleted. */
async function largeFile(
  { client, findings, usage }: EditorSession,
  path: string,
  text: string,
  mark: string,
): Promise<void> {
  const { href: uri } = pathToFileURL(path);
  const languageId = path.endsWith("yaml") ? "ngraph-yaml" : "ngraph";
  const name = languageId === "ngraph" ? ".ngraph" : "YAML";
  const opened = findings(uri, 1);
  const textDocument = { uri, languageId, version: 1, text };
  console.log(
    `${name}, ${NODES} nodes, opened: ${(await since(Promise.all([client.sendNotification("textDocument/didOpen", { textDocument }), opened]))).toFixed(0)} ms`,
  );
  const before = text.slice(0, text.indexOf(mark) + mark.length).split("\n");
  const at = { line: before.length - 1, character: before.at(-1)?.length ?? 0 };
  const [toFindings, toCompletion, toHover, toTokens]: number[][] = [[], [], [], []];
  const used = await usage();
  for (let press = 0; press < PRESSES; press++) {
    const version = press + 2;
    const end = press % 2 === 0 ? at : { ...at, character: at.character + 1 };
    const change = { range: { start: at, end }, text: press % 2 === 0 ? "n" : "" };
    const start = performance.now();
    const published = since(findings(uri, version), start);
    await client.sendNotification("textDocument/didChange", {
      textDocument: { uri, version },
      contentChanges: [change],
    });
    const ask = (method: string) =>
      client.sendRequest(`textDocument/${method}`, { textDocument: { uri }, position: at });
    toCompletion?.push(await since(ask("completion"), start));
    toFindings?.push(await published);
    const idle = performance.now();
    toHover?.push(await since(ask("hover"), idle));
    const then = performance.now();
    toTokens?.push(
      await since(client.sendRequest("textDocument/semanticTokens/full", { textDocument: { uri } }), then),
    );
  }
  const cpu = ((await usage()).cpu - used.cpu) / PRESSES;
  console.log(`${name}, all answers to a key press: CPU ${cpu.toFixed(0)} ms`);
  row(`${name}, key press to findings`, toFindings ?? [], 200);
  row(`${name}, key press to completion`, toCompletion ?? [], 50);
  row(`${name}, hover`, toHover ?? [], 50);
  row(`${name}, semantic tokens`, toTokens ?? [], 50);
}

/** Files in four layers: each file calls up to three graphs of the layer below. */
function projectFiles(): Map<string, string> {
  const layers = [100, 60, 30, 10];
  const files = new Map<string, string>();
  layers.forEach((count, layer) => {
    for (let at = 0; at < count; at++) {
      const below = layers[layer - 1] ?? 0;
      const called = below === 0 ? [] : [0, 1, 2].map((n) => `g${layer - 1}_${(at * 3 + n) % below}`);
      const imports = called.map((name) => `import { ${name} } from "./${name}.ngraph"`);
      const steps = Array.from({ length: 8 }, (_, n) => `  node s${n} = step(q) into r`);
      const calls = called.map((name, n) => `  node c${n} = ${name}(q: r) into { r }`);
      const chain = [...steps.map((_, n) => `s${n}`), ...calls.map((_, n) => `c${n}`)].join(" -> ");
      const body = ["  input q: string", '  output r: string = ""', ...steps, ...calls, `  start -> ${chain} -> end`];
      const text = [...imports, 'import { step } from "./nodes.ts"', `graph g${layer}_${at} {`, ...body, "}", ""];
      files.set(`g${layer}_${at}.ngraph`, text.join("\n"));
    }
  });
  return files;
}

async function project(directory: string): Promise<void> {
  writeFileSync(join(directory, "nodes.ts"), "export const step = async (text: string): Promise<string> => text;\n");
  const files = projectFiles();
  for (const [name, text] of files) writeFileSync(join(directory, name), text);
  const session = await openEditor(directory);
  const [before, start] = [await session.usage(), performance.now()];
  const all = [...files].map(([name, text]) => {
    const { href: uri } = pathToFileURL(join(directory, name));
    const found = session.findings(uri, 1);
    const textDocument = { uri, languageId: "ngraph", version: 1, text };
    void session.client.sendNotification("textDocument/didOpen", { textDocument });
    return found;
  });
  const found = (await Promise.all(all)).reduce((sum, { diagnostics }) => sum + diagnostics.length, 0);
  const wall = (performance.now() - start) / 1000;
  const cpu = ((await session.usage()).cpu - before.cpu) / 1000;
  console.log(
    `${files.size} files opened as a project: ${wall.toFixed(2)} s, CPU ${cpu.toFixed(2)} s (goal 3); ${found} findings`,
  );
  const symbols = performance.now();
  await session.client.sendRequest("workspace/symbol", { query: "g" });
  console.log(`workspace symbols of ${files.size} files: ${(performance.now() - symbols).toFixed(0)} ms`);
  session.end();
}

/** Edits with findings after every tenth, and the memory that is left. */
async function growth(directory: string): Promise<void> {
  const session = await openEditor(directory);
  const { href: uri } = pathToFileURL(join(directory, "edited.ngraph"));
  const text = `graph g {\n  input q: string\n  output r: string\n${Array.from({ length: 20 }, (_, at) => `  node n${at} = q + "${at}" into r`).join("\n")}\n  start -> n0\n}\n`;
  await session.client.sendNotification("textDocument/didOpen", {
    textDocument: { uri, languageId: "ngraph", version: 1, text },
  });
  const heaps: number[] = [];
  for (let edit = 0; edit <= EDITS; edit++) {
    const version = edit + 2;
    const at = { line: 3 + ((edit >> 1) % 20), character: 8 };
    const end = edit % 2 === 0 ? at : { ...at, character: 8 + String(edit).length };
    const change = { range: { start: at, end }, text: edit % 2 === 0 ? String(edit + 1) : "" };
    const published = edit % 10 === 0 ? session.findings(uri, version) : undefined;
    await session.client.sendNotification("textDocument/didChange", {
      textDocument: { uri, version },
      contentChanges: [change],
    });
    await published;
    if (edit === 1000 || edit === EDITS) heaps.push((await session.usage()).heap);
  }
  const [early = 0, late = 0] = heaps;
  console.log(
    `memory after 1,000 edits ${(early / 1e6).toFixed(1)} MB, after ${EDITS} edits ${(late / 1e6).toFixed(1)} MB`,
  );
  session.end();
}

const directory = mkdtempSync(join(tmpdir(), "ngraph-bench-"));
try {
  const text = largeGraph();
  for (const [path, content, mark] of [
    ["large.ngraph", text, "node n50_3 = `${q"],
    ["large.ngraph.yaml", toYaml(parse(text).file).text, "n50_3: { call: '`${q"],
  ] as const) {
    const session = await openEditor(directory);
    await largeFile(session, join(directory, path), content, mark);
    session.end();
  }
  await project(directory);
  await growth(directory);
} finally {
  rmSync(directory, { recursive: true });
}
