/**
 * What ARCHITECTURE.md says about dependencies and sizes, kept true. The import statements of every source are read;
 * imports of types count like others, because they tie the same knots.
 */
import { readdirSync, readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { dirname, join, posix, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const SOURCES = ["diagnostics", "grammar", "compiler", "runtime", "stdlib", "adapters", "api", "cli"] as const;

interface SourceImport {
  readonly from: string;
  /** A path from the root, or the specifier of a package or built-in. */
  readonly to: string;
  readonly isLocal: boolean;
  readonly isType: boolean;
}

const files = listFiles(ROOT, [...SOURCES, "test", "scripts", "bench", "examples"]);
const sources = files.filter((file) => SOURCES.some((directory) => file.startsWith(`${directory}/`)));
const imports = sources.flatMap(importsOf);

/** Which parts each part may import, besides itself. */
const ARROWS: Readonly<Record<(typeof SOURCES)[number], readonly RegExp[]>> = {
  diagnostics: [],
  grammar: [/^diagnostics\//],
  compiler: [
    /^diagnostics\//,
    /^grammar\//,
    // Table and value types, the expression evaluator, and the digest that the runtime checks.
    /^runtime\/interface\/errors\.ts$/,
    /^runtime\/value\/json\.ts$/,
    /^runtime\/(?:table|expression)\//,
    // Which paths of a plan's tasks overlap.
    /^runtime\/plan\/path-pattern\.ts$/,
    // Signatures only.
    /^stdlib\/signatures?\.ts$/,
  ],
  runtime: [],
  stdlib: [/^runtime\//],
  adapters: [/^runtime\//],
  api: [/^diagnostics\//, /^grammar\//, /^compiler\//, /^runtime\//, /^stdlib\//, /^adapters\//],
  cli: [/^diagnostics\//, /^grammar\//, /^compiler\//, /^runtime\//, /^stdlib\//, /^api\//],
};

/** Packages and Node built-ins that each part may name. */
const PACKAGES: Readonly<Record<(typeof SOURCES)[number], readonly RegExp[]>> = {
  diagnostics: [/^get-east-asian-width$/, /^picocolors$/],
  grammar: [/^chevrotain$/, /^yaml$/, /^prettier(?:\/doc)?$/],
  compiler: [],
  runtime: [],
  stdlib: [],
  adapters: [/^@langchain\/(?:langgraph-checkpoint|core\/runnables)$/],
  api: [/^node:/, /^esbuild$/, /^prettier$/],
  cli: [/^node:/, /^esbuild$/, /^commander$/, /^prettier$/],
};

describe("dependencies point one way", () => {
  for (const part of SOURCES) {
    test(`${part}/ imports only what it may know`, () => {
      const wrong = imports
        .filter(({ from, isLocal }) => isLocal && from.startsWith(`${part}/`))
        .filter(({ to }) => !to.startsWith(`${part}/`) && !ARROWS[part].some((allowed) => allowed.test(to)));
      expect(wrong.map(({ from, to }) => `${from} -> ${to}`)).toEqual([]);
    });

    test(`${part}/ uses only its own packages`, () => {
      const wrong = imports
        .filter(({ from, isLocal }) => !isLocal && from.startsWith(`${part}/`))
        .filter(({ from }) => !from.startsWith("runtime/stores/"))
        // Types of Node's modules cost nothing at run time: `shell` asks for the modules when it runs.
        .filter(({ from, to, isType }) => !(isType && from.startsWith("stdlib/nodes/") && to.startsWith("node:")))
        .filter(({ to }) => !PACKAGES[part].some((allowed) => allowed.test(to)));
      expect(wrong.map(({ from, to }) => `${from} -> ${to}`)).toEqual([]);
    });
  }

  test("the runtime uses Node's built-ins and packages in its stores alone", () => {
    const wrong = imports.filter(
      ({ from, isLocal }) => !isLocal && from.startsWith("runtime/") && !from.startsWith("runtime/stores/"),
    );
    expect(wrong).toEqual([]);
  });

  test("built-in modules are named with `node:`", () => {
    const wrong = imports.filter(({ to, isLocal }) => !isLocal && isBuiltin(to) && !to.startsWith("node:"));
    expect(wrong).toEqual([]);
  });
});

describe("files", () => {
  const sizes = new Map(files.map((file) => [file, readFileSync(join(ROOT, file), "utf8").split("\n").length - 1]));

  test("none has more than 800 lines", () => {
    expect([...sizes].filter(([, lines]) => lines > 800)).toEqual([]);
  });

  test("half of the sources have fewer than 120 lines, nine of ten fewer than 400", () => {
    const sorted = sources.map((file) => sizes.get(file) ?? 0).sort((a, b) => a - b);
    expect(sorted[Math.floor(sorted.length / 2)]).toBeLessThan(120);
    expect(sorted[Math.floor(sorted.length * 0.9)]).toBeLessThan(400);
  });

  test("names say what is inside", () => {
    expect(files.filter((file) => /(?:^|[/-])(?:utils?|helpers?|managers?|misc)(?:[./-]|$)/.test(file))).toEqual([]);
  });
});

describe("code", () => {
  test("nothing is ever passed to an evaluator of code", () => {
    const wrong = sources.filter((file) =>
      /\beval\s*\(|\bnew\s+Function\b|\bFunction\s*\(/.test(withoutComments(file)),
    );
    expect(wrong).toEqual([]);
  });

  test("type checks are not silenced", () => {
    expect(sources.filter((file) => /@ts-(?:ignore|nocheck|expect-error)/.test(read(file)))).toEqual([]);
  });
});

function listFiles(root: string, directories: readonly string[]): string[] {
  return directories.flatMap((directory) => {
    let entries;
    try {
      entries = readdirSync(join(root, directory), { withFileTypes: true, recursive: true });
    } catch {
      return [];
    }
    return entries
      .filter(
        (entry) => entry.isFile() && /\.m?ts$|\.mjs$/.test(entry.name) && !/\.ngraph(?:\.yaml)?\.ts$/.test(entry.name),
      )
      .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join("/"))
      .filter((file) => !file.includes("node_modules/") && !file.startsWith("test/fixtures/"));
  });
}

function read(file: string): string {
  return readFileSync(join(ROOT, file), "utf8");
}

/** Good enough for sources that Prettier has formatted: a comment starts a line or follows a space. */
function withoutComments(file: string): string {
  return read(file)
    .replace(/\/\*[\s\S]*?\*\//g, "")
    .replace(/(^|\s)\/\/.*$/gm, "$1");
}

function importsOf(file: string): SourceImport[] {
  const text = withoutComments(file);
  const found: SourceImport[] = [];
  const add = (specifier: string, isType: boolean): void => {
    const isLocal = specifier.startsWith(".");
    const to = isLocal ? posix.join(dirname(file), specifier) : specifier;
    found.push({ from: file, to, isLocal, isType });
  };
  for (const match of text.matchAll(/^(?:import|export)\s([^"'`;]*?)\bfrom\s*["']([^"']+)["']/gm)) {
    add(match[2] ?? "", /^type\b/.test(match[1] ?? ""));
  }
  for (const match of text.matchAll(/^import\s*["']([^"']+)["']/gm)) add(match[1] ?? "", false);
  for (const match of text.matchAll(/(typeof\s+)?\bimport\(\s*["']([^"']+)["']\s*\)/g)) {
    add(match[2] ?? "", match[1] !== undefined);
  }
  return found;
}
