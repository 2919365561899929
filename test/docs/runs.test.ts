/** Verifies docs/runs.md: its graph compiles, its code runs, and its table has all codes. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { describe, expect, test } from "vitest";
import type { Engine, EngineOptions, RunEvent, Table } from "../../runtime/index.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { compiledEngine } from "../support/compiled-engine.ts";
import { fencedBlocks } from "./fenced-blocks.ts";

interface Page {
  readonly withinBudget: (engine: Engine, item: string, milliseconds: number) => Promise<string>;
  readonly watch: (engine: Engine, item: string, print: (line: string) => void) => Promise<string>;
  readonly plannedSteps: (table: Table, limit?: number) => readonly (readonly string[])[];
  readonly recharge: (engine: Engine, thread: string, total: number) => Promise<unknown>;
}

const markdown = readFileSync("docs/runs.md", "utf8");
const blocks = fencedBlocks(markdown);
const page = await loadPage();

/** The page's graph. */
function ordering(
  charge: (total: number) => unknown = (total) => `charged ${total}`,
  options: EngineOptions = {},
): Engine {
  const text = blocks.find(({ info }) => info === "orders.ngraph")!.text.replace(/^import .*$/m, "");
  const functions = {
    price: (item: string) => ({ cents: item.length * 100, line: `${item} priced` }),
    reserve: (item: string) => `${item} reserved`,
    charge,
  };
  return compiledEngine(text, functions, { store: new MemoryStore(), ...options });
}

describe("docs/runs.md", () => {
  test("a deadline ends a run, and a resume continues it", async () => {
    let isResumed = false;
    const onEvent = (event: RunEvent): void => {
      if (event.type === "run" && event.phase === "start") isResumed = event.resumed;
    };
    const charge = async (total: number): Promise<string> => {
      if (!isResumed) await new Promise(() => undefined);
      return `charged ${total}`;
    };
    // The parts of the engine are loaded before the time runs, so that the run reaches `charge`.
    await page.withinBudget(ordering(), "coffee", 60_000);
    const engine = ordering(charge, { onEvent });
    expect(await page.withinBudget(engine, "tea", 300)).toBe("completed");
    expect(isResumed).toBe(true);
    expect((await engine.state("tea"))?.state["log"]).toEqual(["tea priced", "tea reserved", "charged 300"]);
  });

  test("a stream is watched to its end", async () => {
    const lines: string[] = [];
    expect(await page.watch(ordering(), "tea", (line) => lines.push(line))).toBe("completed");
    expect(lines).toEqual(["0: price", "0: reserve", "1: charge"]);
  });

  test("going back creates a new branch of the history", async () => {
    const engine = ordering();
    await engine.run({ item: "tea" }, { thread: "order" });
    expect(await page.recharge(engine, "order", 42)).toBe(42);
    expect((await engine.state("order/again"))?.state["log"]).toEqual(["tea priced", "tea reserved", "charged 42"]);
    expect((await engine.state("order"))?.state).toMatchObject({
      total: 300,
      log: expect.arrayContaining(["charged 300"]) as string[],
    });
  });

  test("steps are planned as they run", async () => {
    const engine = ordering();
    expect(page.plannedSteps(engine.table)).toEqual((await engine.run({ item: "tea" })).steps);
    expect(page.plannedSteps(engine.table, 1)).toEqual([["price", "reserve"]]);
  });

  test("its table of errors has every code and no other", () => {
    const source = readFileSync("runtime/interface/errors.ts", "utf8");
    const codes = (text: string): string[] => [...new Set(text.match(/\bNG_[A-Z_]+/g))].toSorted();
    expect(codes(markdown.slice(markdown.indexOf("## Errors")))).toEqual(codes(source));
  });

  test("its table of events has every type and field", () => {
    const source = readFileSync("runtime/interface/events.ts", "utf8");
    const table = markdown.slice(markdown.indexOf("## Events"), markdown.indexOf("```ts watch.ts"));
    const documented = new Set(table.match(/`(\w+)`/g)?.map((name) => name.slice(1, -1)));
    const types = [...source.matchAll(/readonly type: "(\w+)"/g)].map(([, type]) => type!);
    const fields = [...source.slice(0, source.indexOf("as plain data")).matchAll(/readonly (\w+)\??:/g)].map(
      ([, name]) => name!,
    );
    const missing = [...types, ...fields].filter(
      (name) => !documented.has(name) && !["type", "dropped", "count"].includes(name),
    );
    expect([...new Set(missing)]).toEqual([]);
  });
});

/** The modules of the page, with the sources in place of the package. */
async function loadPage(): Promise<Page> {
  const directory = mkdtempSync(join(tmpdir(), "ngraph-runs-page-"));
  try {
    const modules = blocks.filter(({ language, info }) => language === "ts" && info !== "");
    for (const { info, text } of modules) writeFileSync(join(directory, info), text);
    writeFileSync(join(directory, "entry.ts"), modules.map(({ info }) => `export * from "./${info}";`).join("\n"));
    const outfile = join(directory, "page.mjs");
    await build({
      entryPoints: [join(directory, "entry.ts")],
      outfile,
      bundle: true,
      platform: "node",
      format: "esm",
      alias: { "ngraph/runtime": resolve("runtime/index.ts") },
    });
    return (await import(pathToFileURL(outfile).href)) as Page;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
