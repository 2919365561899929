import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "../../grammar/index.ts";

const FOLDER = join(import.meta.dirname, "../../editors/vscode");
const read = (path: string): unknown => JSON.parse(readFileSync(join(FOLDER, path), "utf8"));

interface Manifest {
  readonly version: string;
  readonly engines: { readonly vscode: string };
  readonly dependencies?: unknown;
  readonly contributes: {
    readonly languages: readonly { readonly id: string; readonly configuration?: string }[];
    readonly grammars: readonly { readonly language: string; readonly path: string }[];
    readonly snippets: readonly { readonly path: string }[];
    readonly commands: readonly { readonly command: string }[];
    readonly menus: Readonly<Record<string, readonly { readonly command: string }[]>>;
    readonly problemMatchers: readonly { readonly name: string; readonly pattern: { readonly regexp: string } }[];
    readonly walkthroughs: readonly {
      readonly steps: readonly { readonly description: string; readonly media: { readonly markdown: string } }[];
    }[];
  };
}
const manifest = read("package.json") as Manifest;
const { contributes } = manifest;
const root = JSON.parse(readFileSync(join(FOLDER, "../../package.json"), "utf8")) as {
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
};

test("files of the manifest exist, and the built ones are copies", () => {
  const paths = [
    ...contributes.languages.flatMap(({ configuration }) => configuration ?? []),
    ...contributes.grammars.map(({ path }) => path).filter((path) => !path.startsWith("./dist/")),
    ...contributes.snippets.map(({ path }) => path),
    ...contributes.walkthroughs.flatMap(({ steps }) => steps.map(({ media }) => media.markdown)),
  ];
  for (const path of paths) expect(existsSync(join(FOLDER, path)), path).toBe(true);
  for (const path of paths.filter((each) => each.endsWith(".json"))) expect(() => read(path)).not.toThrow();
  expect(contributes.grammars.map(({ language }) => language)).toEqual(contributes.languages.map(({ id }) => id));
});

test("menus and the walkthrough name commands of the manifest", () => {
  const commands = new Set(contributes.commands.map(({ command }) => command));
  const used = [
    ...Object.values(contributes.menus).flatMap((items) => items.map(({ command }) => command)),
    ...contributes.walkthroughs.flatMap(({ steps }) =>
      steps.flatMap(({ description }) => [...description.matchAll(/command:(ngraph\.\w+)/g)].map(([, name]) => name!)),
    ),
  ];
  expect(used.length).toBeGreaterThan(5);
  expect(used.filter((command) => !commands.has(command))).toEqual([]);
});

test("the versions are those of the package, and the client is no dependency of it", () => {
  expect(manifest.version).toBe(root.version);
  expect(manifest.dependencies).toBeUndefined();
  for (const name of ["vscode-languageclient", "@vscode/vsce", "@types/vscode"]) {
    expect(root.dependencies[name]).toBeUndefined();
    expect(root.devDependencies[name]).toBeDefined();
  }
  // The types are those of the oldest editor that the extension supports.
  expect(manifest.engines.vscode.replace("^", "~")).toBe(root.devDependencies["@types/vscode"]);
});

test("each snippet is a text of the language", () => {
  const snippets = Object.entries(
    read("snippets/ngraph.json") as Record<string, { readonly prefix: string; readonly body: readonly string[] }>,
  );
  for (const [name, { prefix, body }] of snippets) {
    const filled = body
      .join("\n")
      .replace(/\$\{\d+:([^}]*)\}/g, "$1")
      .replace(/\$0/g, "")
      .replace(/\\([$}])/g, "$1");
    const text = prefix === "match" ? `graph g {\n${filled}}\n` : filled;
    expect(parse(text).diagnostics, `${name}\n${text}`).toEqual([]);
  }
});

test("the walkthrough shows texts of the language", () => {
  for (const { media } of contributes.walkthroughs.flatMap(({ steps }) => steps)) {
    const text = readFileSync(join(FOLDER, media.markdown), "utf8");
    for (const [, block] of text.matchAll(/```ngraph\n([^]*?)```/g)) expect(parse(block!).diagnostics).toEqual([]);
  }
});

test("the problem matcher reads the lines of `ngc check`", () => {
  const [matcher] = contributes.problemMatchers;
  const found = new RegExp(matcher!.pattern.regexp).exec(
    "graphs/a (1).ngraph(2,12): error NG101: unknown node `nowhere`",
  );
  expect(found?.slice(1)).toEqual(["graphs/a (1).ngraph", "2", "12", "error", "NG101", "unknown node `nowhere`"]);
});
