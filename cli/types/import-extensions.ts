import { existsSync, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { ancestorsOf } from "./find-typescript.ts";

/** Options that allow an import to end in `.ts`. */
const ALLOWING = ["allowImportingTsExtensions", "rewriteRelativeImportExtensions"] as const;

interface Config {
  readonly extends?: unknown;
  readonly references?: unknown;
  readonly compilerOptions?: Readonly<Record<string, unknown>>;
}

/**
 * How modules of a directory import `.ts` files: as `./nodes.ts` if the nearest `tsconfig.json` allows it or if there is
 * none, because Node runs such files; else as `./nodes.js`, which every module resolution of `tsc` maps to the source.
 */
export function importExtensions(directory: string): "as-written" | "js" {
  for (const at of ancestorsOf(resolve(directory))) {
    const path = join(at, "tsconfig.json");
    if (existsSync(path)) return allowsTypeScriptExtensions(path, new Set()) ? "as-written" : "js";
  }
  return "as-written";
}

/** Reads `extends`; of a file that only refers to other projects, reads these. */
function allowsTypeScriptExtensions(path: string, seen: Set<string>): boolean {
  const config = readConfig(path);
  if (config === undefined) return false;
  const options = config.compilerOptions ?? {};
  if (config.compilerOptions === undefined && config.extends === undefined) {
    return referencesOf(config, path).some(
      (each) => !seen.has(each) && allowsTypeScriptExtensions(each, seen.add(each)),
    );
  }
  return ALLOWING.some((name) => optionOf(name, options, config, path, new Set()));
}

/** The value of an option: that of the file itself, else that of the last file which it extends and which sets it. */
function optionOf(
  name: string,
  own: Readonly<Record<string, unknown>>,
  { extends: base }: Config,
  path: string,
  seen: Set<string>,
): boolean | undefined {
  if (typeof own[name] === "boolean") return own[name];
  const bases = (Array.isArray(base) ? base : [base]).filter((each): each is string => typeof each === "string");
  for (const each of bases.reverse()) {
    const file = resolveExtended(each, path);
    if (file === undefined || seen.has(file)) continue;
    const config = readConfig(file);
    const value = optionOf(name, config?.compilerOptions ?? {}, config ?? {}, file, seen.add(file));
    if (value !== undefined) return value;
  }
  return undefined;
}

function resolveExtended(specifier: string, from: string): string | undefined {
  const names = specifier.endsWith(".json")
    ? [specifier]
    : [specifier, `${specifier}.json`, `${specifier}/tsconfig.json`];
  for (const name of names) {
    if (/^(?:\.{1,2}\/|\/|[A-Za-z]:[\\/])/.test(specifier)) {
      const file = resolve(dirname(from), name);
      if (isFile(file)) return file;
      continue;
    }
    try {
      return createRequire(from).resolve(name);
    } catch {
      // The next name may be exported.
    }
  }
  return undefined;
}

function referencesOf({ references }: Config, path: string): readonly string[] {
  if (!Array.isArray(references)) return [];
  return references.flatMap((each: unknown) => {
    const named = typeof each === "object" && each !== null && "path" in each ? each.path : undefined;
    if (typeof named !== "string") return [];
    const file = resolve(dirname(path), named);
    return [isFile(file) ? file : join(file, "tsconfig.json")];
  });
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

/** `undefined` for a file that `tsc` refuses, too. */
function readConfig(path: string): Config | undefined {
  try {
    const config: unknown = JSON.parse(withoutComments(readFileSync(path, "utf8").replace(/^\uFEFF/, "")));
    return typeof config === "object" && config !== null ? config : undefined;
  } catch {
    return undefined;
  }
}

/** Removes comments and trailing commas, which `tsconfig.json` may contain. */
export function withoutComments(text: string): string {
  const plain = text.replace(
    /("(?:[^"\\\n]|\\.)*")|\/\/[^\n]*|\/\*[\s\S]*?\*\//g,
    (_, string: string | undefined) => string ?? " ",
  );
  return plain.replace(/("(?:[^"\\\n]|\\.)*")|,(?=\s*[}\]])/g, (_, string: string | undefined) => string ?? "");
}
