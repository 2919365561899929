/**
 * Every name of the examples and of a project in three languages is renamed by the server, as an editor does it: the findings stay the same, with the
 * names replaced, TypeScript accepts the modules, and the rename back gives the same texts.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { compile } from "../../compiler/compile.ts";
import { memoryHost } from "../../compiler/load/host.ts";
import { ModuleEntities } from "../../editor/module-entity.ts";
import { NameIndex } from "../../editor/name-index.ts";
import { exampleFiles } from "../support/example-files.ts";
import { sample } from "../support/depth.ts";
import { startSession } from "./editor-session.ts";
import { PROJECT } from "./rename-project.ts";

/** A name and one of its places. */
interface Place {
  readonly path: string;
  readonly offset: number;
  readonly name: string;
}

const GRAPH = /\.ngraph(?:\.yaml)?$/;
const MODULE = /\.[cm]?[jt]s$/;

/** The files of the examples by directory. Their YAML files have the ending by which the server finds them. */
function exampleProjects(): ReadonlyMap<string, ReadonlyMap<string, string>> {
  const projects = new Map<string, Map<string, string>>();
  for (const file of [...exampleFiles(".ngraph"), ...exampleFiles(".yaml")]) {
    const directory = resolve(file, "..");
    const files = projects.get(directory) ?? new Map<string, string>();
    projects.set(directory, files);
    files.set(resolve(file).replace(/(?<!\.ngraph)\.yaml$/, ".ngraph.yaml"), readFileSync(file, "utf8"));
    for (const name of readdirSync(directory).filter((each) => MODULE.test(each) || each.endsWith(".json")))
      files.set(join(directory, name), readFileSync(join(directory, name), "utf8"));
  }
  return projects;
}

/** All names of graph files that can be renamed, and all places of each. */
function namesOf(files: ReadonlyMap<string, string>): readonly (readonly Place[])[] {
  const host = memoryHost(Object.fromEntries(files));
  const index = new NameIndex(host, new Map());
  const entities = new ModuleEntities(host);
  const found = new Map<string, Place[]>();
  const add = (key: string, place: Place): void => void found.set(key, [...(found.get(key) ?? []), place]);
  for (const path of files.keys()) {
    if (!GRAPH.test(path)) continue;
    for (const { kind, target, name, span } of index.of(path)?.uses ?? []) {
      if (kind === "builtin" || kind === "library" || target === `ngraph:agents\n${name}`) continue;
      add(`${target} ${name}`, { path, offset: span.start, name });
      const [module = "", exported = "", ...rest] = target.split("\n");
      const entity = rest.length > 0 ? undefined : entities.exportOf(module, exported);
      if (entity?.name !== name) continue;
      for (const each of entities.placesOf(entity, module)?.places ?? [])
        add(`${target} ${name} in its module`, { path: module, offset: each.span.start, name });
    }
  }
  return [...found.values()];
}

/** The findings of all graph files, as lines. */
function findingsOf(files: ReadonlyMap<string, string>, paths: Iterable<string>): readonly string[] {
  const host = memoryHost(Object.fromEntries(files));
  return [...paths].flatMap((path) =>
    compile(files.get(path) ?? "", { path, host }).diagnostics.map(
      ({ file, span, code, severity, message, help, labels }) =>
        [
          file.path,
          file.position(span.start).line,
          severity,
          code,
          message,
          help ?? "",
          ...labels.map((each) => each.message),
        ].join(" | "),
    ),
  );
}

const projects = [...exampleProjects(), ["/project", PROJECT] as const];
/** Modules after each rename, in a directory of its own. */
const modules = new Map<string, string>();

describe.each(projects)("%s", (root, files) => {
  const names = namesOf(files);
  test("has names", () => expect(names.length).toBeGreaterThan(5));

  test("each name can be renamed, and back", { timeout: 600_000 }, async () => {
    const session = await startSession(files, root);
    for (const [number, places] of sample(names).entries()) {
      // One of the places, another one for each name.
      const { path, offset, name } = places[number % places.length]!;
      const newName = `renamed_${name}`;
      const label = `${path}:${offset} ${name}`;
      if (GRAPH.test(path)) await session.open(path);
      const changed = await session
        .rename(path, offset, newName)
        .catch((error: Error) => expect.fail(`${label}: ${error.message}`));
      expect(changed.length, label).toBeGreaterThan(0);
      const graphs = changed.filter((each) => GRAPH.test(each));
      const findings = findingsOf(session.files, graphs).map((line) => line.replaceAll(newName, name));
      expect(findings, label).toEqual(findingsOf(files, graphs));
      const changesModules = changed.some((each) => MODULE.test(each));
      const directory = join(basename(root), `${modules.size}`);
      for (const [each, text] of changesModules ? session.files : [])
        if (each.endsWith(".ts")) modules.set(join(directory, each.slice(root.length)), text);
      const back = offset + (session.files.get(path) ?? "").slice(offset).indexOf(newName);
      await session.rename(path, back, name).catch((error: Error) => expect.fail(`${label}, back: ${error.message}`));
      expect([...session.files], label).toEqual([...files]);
      if (GRAPH.test(path)) await session.notify("textDocument/didClose", { textDocument: { uri: `file://${path}` } });
    }
    expect(await session.end()).toEqual({ kind: "exit", isShutDown: true });
  });
});

test("TypeScript accepts the modules of all renames", { timeout: 300_000 }, () => {
  expect(modules.size).toBeGreaterThan(3);
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "ngraph-renames-")));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  for (const [name, text] of modules) {
    mkdirSync(join(directory, name, ".."), { recursive: true });
    writeFileSync(join(directory, name), text);
  }
  const compilerOptions = {
    strict: true,
    noUncheckedIndexedAccess: true,
    noUnusedParameters: true,
    verbatimModuleSyntax: true,
    allowImportingTsExtensions: true,
    noEmit: true,
    skipLibCheck: true,
    target: "es2022",
    lib: ["es2023"],
    module: "nodenext",
    typeRoots: [resolve("node_modules/@types")],
    types: ["node"],
    paths: { "ngraph/*": [resolve("api/*.ts")] },
  };
  writeFileSync(join(directory, "package.json"), '{ "type": "module" }');
  writeFileSync(join(directory, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["."] }));
  const tsc = resolve("node_modules/typescript/bin/tsc");
  const { stdout, status } = spawnSync(process.execPath, [tsc, "-p", ".", "--pretty", "false"], {
    cwd: directory,
    encoding: "utf8",
  });
  expect(stdout).toBe("");
  expect(status).toBe(0);
});

test("the project of this test has no errors", () => {
  const graphs = [...PROJECT.keys()].filter((path) => GRAPH.test(path));
  expect(findingsOf(PROJECT, graphs).filter((line) => line.includes(" | error | "))).toEqual([]);
});
