/**
 * Mistakes that an engine could make, each a change of its source text. An edit that finds no place any more is an error:
 * whoever rewrites the code moves the mistake along.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build, type StdinOptions } from "esbuild";
import type { Subject } from "./simulate.ts";

export interface PlantedBug {
  readonly name: string;
  readonly edits: readonly { readonly file: string; readonly from: string; readonly to: string }[];
}

export const edit = (file: string, from: string, to: string): PlantedBug["edits"][number] => ({ file, from, to });

export const PLANTED_BUGS: readonly PlantedBug[] = [
  {
    name: "a pending write is dropped",
    edits: [
      edit(
        "engine/chain.ts",
        `return journal.write(() => store.putWrites!(claim, headId, [write]));`,
        `return undefined;`,
      ),
    ],
  },
  {
    name: "a resume does not look at pending writes",
    edits: [
      edit("engine/restore-run.ts", `run.stored = stored.size === 0 ? undefined : stored;`, `run.stored = undefined;`),
    ],
  },
  {
    name: "the store does not compare before it sets the head",
    edits: [
      edit(
        "stores/memory.ts",
        `if ((head?.header.id ?? null) !== request.expectedHead) {`,
        `if (request.expectedHead === "") {`,
      ),
    ],
  },
  {
    name: "a barrier is cleared when only some have come",
    edits: [
      edit(
        "routing/plan-step.ts",
        `if (this.barriers.signal(barrier, source)) (this.complete ??= []).push(barrier);`,
        `if (this.barriers.signal(barrier, source)) (this.complete ??= []).push(barrier); else if (this.barriers.arrived(barrier).length > 1) this.barriers.clear(barrier);`,
      ),
    ],
  },
  {
    name: "barriers are not restored",
    edits: [
      edit(
        "engine/restore-run.ts",
        `for (const name of names) run.barriers.signal(barrier, node(name));`,
        `void [names, barrier];`,
      ),
    ],
  },
  {
    name: "updates are applied in the order of completion",
    edits: [
      edit(
        "engine/step-tasks.ts",
        `    outcomes[index] = outcome;\n    if (--open === 0) resolve(outcomes);`,
        `    outcomes[index] = { ...outcome, at: ((globalThis as { ended?: number }).ended = ((globalThis as { ended?: number }).ended ?? 0) + 1) } as Outcome;\n    if (--open === 0) resolve(outcomes);`,
      ),
      edit(
        "engine/apply-updates.ts",
        `  for (let index = 0; index < tasks.length; index++) {\n    for (const { channel, value } of outcomes[index]!.updates) {\n      const code`,
        `  const at = (index: number): number => (outcomes[index] as { at?: number } | undefined)?.at ?? 0;\n  for (const index of [...tasks.keys()].sort((a, b) => at(a) - at(b))) {\n    for (const { channel, value } of outcomes[index]!.updates) {\n      const code`,
      ),
    ],
  },
  {
    name: "results of items come in the order of completion",
    edits: [
      edit(
        "engine/step-tasks.ts",
        `          outcomes[index] = done;\n          return work();`,
        `          outcomes[outcomes.indexOf(CANCELLED_OUTCOME)] = done;\n          return work();`,
      ),
    ],
  },
  {
    name: "the first node does not wait for the input to be durable",
    edits: [
      edit(
        "engine/run-loop.ts",
        `if (saved !== undefined) return saved.then(() => (end === undefined ? loop(run) : finish(run, end)));`,
        `if (saved !== undefined) void saved.catch(() => undefined);`,
      ),
    ],
  },
  {
    name: "results of siblings do not outlive a pause",
    edits: [
      edit(
        "engine/chain.ts",
        `const finished = unfinished === undefined ? [] : [...this.results.values()];`,
        `const finished = unfinished === undefined || details.pauses !== undefined ? [] : [...this.results.values()];`,
      ),
    ],
  },
  {
    name: "what was sent is not in the checkpoint",
    edits: [edit("engine/chain.ts", `pendingSends: run.sends.map(`, `pendingSends: run.sends.slice(1).map(`)],
  },
  {
    name: "an exclusive jump leaves the other edges of the step",
    edits: [edit("routing/plan-step.ts", `} else if (winner === -1) {`, `} else if (i !== winner) {`)],
  },
  {
    name: "steps are counted from where the resume began",
    edits: [
      edit(
        "engine/restore-run.ts",
        `return head.phase === "interrupted" ? head.step : head.step + 1;`,
        `return Math.max(0, head.step);`,
      ),
    ],
  },
  {
    name: "a failed write is forgotten",
    edits: [edit("engine/journal.ts", `this.#error ??= storeFailure(error);`, `void storeFailure(error);`)],
  },
  {
    name: "a called graph begins anew on every resume",
    edits: [
      edit(
        "engine/call-graph.ts",
        `goesOn(attempt, child, head)) {`,
        `head.status === "completed" && goesOn(attempt, child, head)) {`,
      ),
    ],
  },
  {
    name: "what an error edge carries is lost in a crash",
    edits: [
      edit(
        "engine/restore-run.ts",
        `run.errors = errors.length === 0 ? undefined : new Map(`,
        `run.errors = errors.length >= 0 ? undefined : new Map(`,
      ),
    ],
  },
  {
    name: "bodies run before the thread is claimed",
    edits: [
      edit(
        "engine/claimed-thread.ts",
        `const claim = await asStoreError(() => store.claim(threadId, { owner: globalThis.crypto.randomUUID(), leaseMs }));`,
        `const claim: Claim = { threadId, owner: "nobody", epoch: 1 };`,
      ),
    ],
  },
];

const runtime = join(import.meta.dirname, "../../runtime");

/** An engine and a store of the edited text. */
export async function plant(bug: PlantedBug): Promise<Subject> {
  const folder = mkdtempSync(join(tmpdir(), "ngraph-planted-"));
  try {
    const contents = `export { createEngine } from "./engine.ts"; export { MemoryStore } from "./stores/memory.ts";`;
    const file = join(folder, "engine.mjs");
    writeFileSync(file, await plantedText(bug, { contents, resolveDir: runtime, loader: "ts" }));
    const planted = (await import(/* @vite-ignore */ pathToFileURL(file).href)) as PlantedModule;
    return { createEngine: planted.createEngine, makeStore: (now) => new planted.MemoryStore({ now }) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A program with all that it imports, as text, of the edited runtime. */
export async function plantedText({ edits }: PlantedBug, stdin: StdinOptions): Promise<string> {
  const open = new Set(edits);
  const { outputFiles } = await build({
    stdin,
    bundle: true,
    platform: "node",
    format: "esm",
    write: false,
    logLevel: "silent",
    plugins: [
      {
        name: "plant",
        setup: ({ onLoad }) => {
          onLoad({ filter: /runtime[\\/].*\.ts$/ }, ({ path }) => {
            let contents = readFileSync(path, "utf8");
            for (const { file, from, to } of edits) {
              if (path !== join(runtime, file)) continue;
              if (contents.split(from).length !== 2) throw new Error(`${file} does not have once: ${from}`);
              contents = contents.replace(from, () => to);
              for (const one of open) if (one.file === file && one.from === from) open.delete(one);
            }
            return { contents, loader: "ts" };
          });
        },
      },
    ],
  });
  if (open.size > 0) throw new Error(`never loaded: ${[...open].map(({ file }) => file).join(", ")}`);
  return outputFiles[0]!.text;
}

interface PlantedModule {
  readonly createEngine: Subject["createEngine"];
  readonly MemoryStore: new (options: { now: () => number }) => ReturnType<Subject["makeStore"]>;
}
