/** Mutation test of the oracle: it finds each mistake planted in the compiler within some graphs. */
import { readdirSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { mutate, mutationPoints, wordsUnder } from "../support/mutate.ts";
import { sample } from "../support/depth.ts";
import { generateGraph } from "./engine/generate.ts";
import { judge } from "./engine/judge.ts";
import { plantCompiler } from "./engine/plant-compiler.ts";
import { PLANTED_IN_GROUPS, PLANTED_MISTAKES } from "./engine/planted-mistakes.ts";

/** Maximum number of graphs with the construct that are judged for one mistake. */
const GRAPHS = 1500;

/** Graphs that show one construct each, and those of past mistakes. */
const SMALL_GRAPHS = ["engine/small-graphs", "engine/past-mistakes"].flatMap((folder) =>
  readdirSync(join(import.meta.dirname, folder)).map((file) =>
    readFileSync(join(import.meta.dirname, folder, file), "utf8"),
  ),
);

const compiler = join(import.meta.dirname, "../../compiler");
const words = wordsUnder(compiler);

describe("a mistake in the proofs is found:", () => {
  const needed: string[] = [];
  afterAll(() => console.info(`graphs that it took\n${needed.join("\n")}`));

  test.each(sample(PLANTED_MISTAKES))("$name", { timeout: 600_000 }, async ({ name, mutations, where }) => {
    const checker = await plantCompiler(mutations);
    let found: string | undefined;
    let judged = 0;
    for (const text of SMALL_GRAPHS) {
      if (found !== undefined) break;
      const result = await judge(text, { seed: 1, runs: 12, checker });
      found = result?.mistakes[0]?.kind;
    }
    const jumps = where?.source.includes("goes") === true;
    for (let seed = 0; judged < GRAPHS && found === undefined; seed++) {
      const text = generateGraph(seed);
      if (where?.test(text) === false || (!jumps && text.includes("{ goes "))) continue;
      judged++;
      const result = await judge(text, { seed, runs: 12, checker });
      found = result?.mistakes[0]?.kind;
    }
    needed.push(`${String(judged).padStart(6)}  ${name}: ${found ?? "not found"}`);
    expect(found).toBeDefined();
  });
});

test("every mutation finds its point and changes the text", () => {
  for (const mutation of PLANTED_MISTAKES.flatMap(({ mutations }) => mutations)) {
    const text = readFileSync(join(compiler, mutation.file), "utf8");
    expect(mutate(text, mutation, words), `${mutation.file}: ${mutation.point}`).not.toBe(text);
  }
});

test("every mutation point of the compiler is used", () => {
  const used = new Set(
    [...PLANTED_MISTAKES, ...PLANTED_IN_GROUPS].flatMap(({ mutations }) =>
      mutations.map(({ file, point }) => `${file}: ${point}`),
    ),
  );
  const files = readdirSync(compiler, { recursive: true, encoding: "utf8" })
    .map((file) => file.split(sep).join("/"))
    .filter((file) => file.endsWith(".ts"));
  const points = files.flatMap((file) =>
    mutationPoints(readFileSync(join(compiler, file), "utf8")).map((point) => `${file}: ${point}`),
  );
  expect(points.filter((point) => !used.has(point))).toEqual([]);
});
