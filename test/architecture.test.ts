/**
 * Verifies the dependencies and sizes that ARCHITECTURE.md describes. Imports of types count as dependencies between
 * parts. They do not count as cycles, because they do not exist at run time.
 */
import { readdirSync, readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { dirname, join, posix, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const SOURCES = [
  "diagnostics",
  "grammar",
  "compiler",
  "runtime",
  "stdlib",
  "adapters",
  "testing",
  "service",
  "hosts",
  "importers",
  "editor",
  "studio",
  "playground",
  "api",
  "cli",
] as const;

interface SourceImport {
  readonly from: string;
  /** A path from the root, or the specifier of a package or built-in. */
  readonly to: string;
  readonly isLocal: boolean;
  readonly isType: boolean;
}

const files = listFiles(ROOT, [...SOURCES, "test", "scripts", "bench", "examples", "site"]);
const sources = files.filter((file) => SOURCES.some((directory) => file.startsWith(`${directory}/`)));
const imports = sources.flatMap(importsOf);

/** Which files of other parts each part may import. */
const ARROWS: Readonly<Record<(typeof SOURCES)[number], readonly RegExp[]>> = {
  diagnostics: [],
  grammar: [/^diagnostics\//],
  compiler: [
    /^diagnostics\//,
    /^grammar\//,
    // Table and value types, the expression evaluator, and the digest that the runtime checks.
    /^runtime\/interface\/errors\.ts$/,
    /^runtime\/value\/json\.ts$/,
    /^runtime\/table\//,
    /^runtime\/expression\//,
    // Whether the paths of two tasks of a plan overlap.
    /^runtime\/plan\/path-pattern\.ts$/,
    // The names of a matrix's tasks.
    /^runtime\/plan\/matrix-names\.ts$/,
    // Signatures, and the texts of the library's graphs.
    /^stdlib\/signatures?\.ts$/,
    /^stdlib\/graphs\/library-files\.ts$/,
  ],
  runtime: [],
  stdlib: [/^runtime\//],
  adapters: [/^runtime\//],
  // The compiler reads the `test` blocks.
  testing: [/^compiler\/bind\/bind-tests\.ts$/, /^grammar\/yaml\/parse-yaml-text\.ts$/, /^runtime\//, /^stdlib\//],
  service: [/^runtime\//, /^stdlib\//],
  // The conformance suite compiles its graphs.
  hosts: [/^runtime\//, /^compiler\/(?:bind\/bind-project|load\/(?:host|load-project)|lower\/lower)\.ts$/],
  // Two spellings of a path are one path of a plan.
  importers: [/^grammar\//, /^runtime\/plan\/path-pattern\.ts$/],
  editor: [
    /^diagnostics\//,
    /^grammar\//,
    /^compiler\//,
    /^runtime\/table\//,
    /^stdlib\/(?:signatures?|graphs\/library-files)\.ts$/,
  ],
  studio: [/^service\/client\.ts$/, /^runtime\/value\/json\.ts$/],
  // Pieces of the studio's pages, and the pictures of the command line.
  playground: [
    /^diagnostics\//,
    /^grammar\//,
    /^compiler\//,
    /^runtime\//,
    /^testing\//,
    /^editor\/serve\.ts$/,
    /^studio\/(?:marks|svg-picture)\.ts$/,
    /^cli\/(?:drawing\/|replay\/choose-graph\.ts$|process\/command-error\.ts$)/,
  ],
  api: [
    /^diagnostics\//,
    /^grammar\//,
    /^compiler\//,
    /^runtime\//,
    /^stdlib\//,
    /^adapters\//,
    /^testing\//,
    /^service\//,
    /^hosts\//,
  ],
  cli: [
    /^diagnostics\//,
    /^grammar\//,
    /^compiler\//,
    /^runtime\//,
    /^stdlib\//,
    /^testing\//,
    /^service\//,
    /^hosts\//,
    /^importers\//,
    /^editor\//,
    /^api\//,
  ],
};

/** Packages and Node built-ins that each part may name. */
const PACKAGES: Readonly<Record<(typeof SOURCES)[number], readonly RegExp[]>> = {
  diagnostics: [/^get-east-asian-width$/, /^picocolors$/],
  grammar: [/^chevrotain$/, /^yaml$/, /^prettier(?:\/doc)?$/],
  compiler: [/^@babel\/parser$/],
  runtime: [],
  stdlib: [],
  testing: [],
  adapters: [/^@langchain\/(?:langgraph-checkpoint|core\/runnables)$/, /^@opentelemetry\/api$/],
  service: [/^hono(?:\/(?:cors|ws))?$/],
  hosts: [/^@restatedev\/restate-sdk$/, /^node:(?:https?|http2|net|zlib)$/],
  importers: [/^@babel\/parser$/],
  editor: [/^vscode-languageserver-(?:protocol|textdocument)$/],
  studio: [/^preact(?:\/hooks)?$/],
  playground: [
    /^preact(?:\/hooks)?$/,
    /^@codemirror\//,
    /^@lezer\/highlight$/,
    /^vscode-languageserver-protocol\/browser$/,
    /^prettier\/(?:standalone|plugins\/yaml)$/,
    /^@hpcc-js\/wasm-graphviz$/,
    /^virtual:examples$/,
  ],
  api: [/^node:/, /^esbuild$/, /^prettier$/],
  // `ngraph/`: in the texts of the project that `ngc new` writes.
  cli: [
    /^node:/,
    /^ngraph\//,
    /^esbuild$/,
    /^commander$/,
    /^@hono\/node-server$/,
    /^ws$/,
    /^prettier$/,
    /^@hpcc-js\/wasm-graphviz$/,
    /^vscode-languageserver-protocol\/node$/,
  ],
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
        // Types of Node's modules cost nothing at run time: built-in nodes load the modules when they run.
        .filter(({ from, to, isType }) => !(isType && from.startsWith("stdlib/") && to.startsWith("node:")))
        .filter(({ to }) => !PACKAGES[part].some((allowed) => allowed.test(to)));
      expect(wrong.map(({ from, to }) => `${from} -> ${to}`)).toEqual([]);
    });
  }

  test.each(Object.entries(ARROWS))("what %s may import exists", (part, allowed) => {
    const others = files.filter((file) => !file.startsWith(`${part}/`));
    expect(allowed.filter((arrow) => !others.some((file) => arrow.test(file)))).toEqual([]);
  });

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

/** Folders of the runtime, in layers: each folder imports values of earlier ones only. */
const RUNTIME_LAYERS = [
  ["interface"],
  ["value", "expression"],
  ["table"],
  ["routing"],
  ["program"],
  ["event"],
  ["checkpoint"],
  ["run", "memory"],
  ["step"],
  ["thread", "direct"],
  ["plan"],
  ["engine"],
] as const;

describe("imports of values", () => {
  const values = new Map(sources.map((file) => [file, new Set<string>()]));
  for (const { from, to, isLocal, isType } of imports) if (isLocal && !isType) values.get(from)?.add(to);

  test("form no cycle", () => {
    expect(stronglyConnected(values).map((cycle) => cycle.sort())).toEqual([]);
  });

  test("go down the layers of the runtime", () => {
    const layerOf = (file: string): number => {
      const folder = file.split("/")[1] as never;
      return RUNTIME_LAYERS.findIndex((layer) => (layer as readonly string[]).includes(folder));
    };
    const wrong = imports.filter(({ from, to, isLocal, isType }) => {
      const isInside = isLocal && from.startsWith("runtime/") && to.startsWith("runtime/") && layerOf(from) >= 0;
      return isInside && !isType && layerOf(to) > layerOf(from);
    });
    expect(wrong.map(({ from, to }) => `${from} -> ${to}`)).toEqual([]);
    const folders = readdirSync(join(ROOT, "runtime"), { withFileTypes: true }).filter((entry) => entry.isDirectory());
    const layered = [...RUNTIME_LAYERS.flat(), "stores"].sort();
    expect(folders.map(({ name }) => name).sort()).toEqual(layered);
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
    // Generated JavaScript has such a comment, as a text of the emitter.
    const silencing = /^[^"'`\n]*\/[/*]\s*@ts-(?:ignore|nocheck|expect-error)/m;
    expect(sources.filter((file) => silencing.test(read(file)))).toEqual([]);
  });
});

/** Tarjan's algorithm: the strongly connected components of more than one node. */
function stronglyConnected(graph: ReadonlyMap<string, ReadonlySet<string>>): string[][] {
  const found: string[][] = [];
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const stack: string[] = [];
  const visit = (node: string): void => {
    order.set(node, order.size);
    lowest.set(node, order.get(node)!);
    stack.push(node);
    for (const next of graph.get(node) ?? []) {
      if (!graph.has(next)) continue;
      if (!order.has(next)) visit(next);
      if (stack.includes(next)) lowest.set(node, Math.min(lowest.get(node)!, lowest.get(next)!));
    }
    if (lowest.get(node) !== order.get(node)) return;
    const component = stack.splice(stack.indexOf(node));
    if (component.length > 1) found.push(component);
  };
  for (const node of graph.keys()) if (!order.has(node)) visit(node);
  return found;
}

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
        (entry) =>
          entry.isFile() && /\.(?:m?ts|tsx|mjs)$/.test(entry.name) && !/\.ngraph(?:\.yaml)?\.ts$/.test(entry.name),
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
    const clause = (match[1] ?? "").trim();
    const names = /^\{([\s\S]*)\}$/
      .exec(clause)?.[1]
      ?.split(",")
      .map((name) => name.trim());
    const areTypes = names?.every((name) => name === "" || name.startsWith("type ")) === true;
    add(match[2] ?? "", /^type\b/.test(clause) || areTypes);
  }
  for (const match of text.matchAll(/^import\s*["']([^"']+)["']/gm)) add(match[1] ?? "", false);
  for (const match of text.matchAll(/(typeof\s+)?\bimport\(\s*["']([^"']+)["']\s*\)/g)) {
    add(match[2] ?? "", match[1] !== undefined);
  }
  return found;
}
