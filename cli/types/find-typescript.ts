import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { CommandError } from "../process/command-error.ts";

export interface TypeScript {
  /** The script of its `tsc` command. */
  readonly script: string;
  readonly version: string;
}

/**
 * The TypeScript of the project that a directory belongs to: the nearest one in a `node_modules` above it.
 * @throws CommandError if there is none, or if it is too old
 */
export function findTypeScript(directory: string): TypeScript {
  for (const at of ancestorsOf(directory)) {
    const found = join(at, "node_modules/typescript");
    if (!existsSync(join(found, "package.json"))) continue;
    const { version, bin } = JSON.parse(readFileSync(join(found, "package.json"), "utf8")) as {
      version?: string;
      bin?: Readonly<Record<string, string>>;
    };
    const script = join(found, bin?.["tsc"] ?? "bin/tsc");
    if (Number.parseInt(version ?? "0", 10) < 5 || !existsSync(script)) {
      throw new CommandError(`--types needs TypeScript 5 or newer; ${found} is ${version ?? "of an unknown version"}`, {
        help: "npm install --save-dev typescript",
        code: "typescript_missing",
      });
    }
    return { script, version: version ?? "" };
  }
  throw new CommandError(`--types needs the TypeScript of the project: no node_modules above ${directory} has it`, {
    help: "npm install --save-dev typescript",
    code: "typescript_missing",
  });
}

/** The nearest `tsconfig.json` with options of its own. A file that only refers to other projects has none. */
export function findConfig(directory: string): string | undefined {
  for (const at of ancestorsOf(directory)) {
    const path = join(at, "tsconfig.json");
    if (!existsSync(path)) continue;
    const text = readFileSync(path, "utf8");
    return /"(?:compilerOptions|extends)"\s*:/.test(text) ? path : undefined;
  }
  return undefined;
}

/** A directory and those around it, from the inside out. */
export function ancestorsOf(directory: string): readonly string[] {
  const found = [directory];
  for (let at = directory; dirname(at) !== at;) found.push((at = dirname(at)));
  return found;
}
