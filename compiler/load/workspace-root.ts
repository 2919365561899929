import { parseYamlText } from "../../grammar/yaml/parse-yaml-text.ts";
import {
  normalizePath,
  parsePathPattern,
  PathEscapesRoot,
  patternsOverlap,
  type PathPattern,
} from "../../runtime/plan/path-pattern.ts";
import type { CompilerHost } from "./host.ts";
import { directoryOf, joinPath, relativeSpecifier } from "./paths.ts";

/**
 * The root of the workspace that lists a package: the nearest directory above whose `package.json` has the package in
 * `workspaces` (npm, Yarn, Bun), or whose `pnpm-workspace.yaml` has it in `packages`. A directory above that does not list
 * the package is not its workspace: its files belong to another project.
 *
 * @param directory of the package, with symbolic links resolved
 */
export function findWorkspaceRoot(directory: string, host: CompilerHost): string | undefined {
  for (let at = directory; directoryOf(at) !== at && at !== "..";) {
    at = directoryOf(at);
    const path = relativeSpecifier(at, joinPath(directory, "package.json")).slice("./".length);
    const packages = packagesOf(at, host);
    if (packages.length > 0 && lists(packages, path)) return at;
  }
  return undefined;
}

/** The patterns of a workspace's packages; none if the directory is not the root of a workspace. */
function packagesOf(directory: string, host: CompilerHost): readonly string[] {
  const manifest = read(joinPath(directory, "package.json"), JSON.parse, host)?.["workspaces"];
  // Yarn also has the form `{ "packages": […] }`.
  const packages = Array.isArray(manifest) ? manifest : isRecord(manifest) ? manifest["packages"] : undefined;
  return [packages, read(joinPath(directory, "pnpm-workspace.yaml"), parseYamlText, host)?.["packages"]]
    .flat()
    .filter((each): each is string => typeof each === "string");
}

/** A file that cannot be parsed lists nothing: the tools that it belongs to report it. */
function read(path: string, parse: (text: string) => unknown, host: CompilerHost): Record<string, unknown> | undefined {
  const text = host.readFile(path);
  if (text === undefined) return undefined;
  try {
    const value = parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether patterns list the package with this manifest. The last pattern that matches decides: `!` excludes. */
function lists(patterns: readonly string[], path: string): boolean {
  const names = path.split("/");
  // An installed package is not a part of the workspace, even if `**` matches it.
  if (names.includes("node_modules")) return false;
  const segments = names.map((text) => ({ kind: "literal", text }) as const);
  const manifest: PathPattern = { segments, exact: false, text: path };
  let isListed = false;
  for (const pattern of patterns) {
    const excludes = pattern.startsWith("!");
    if (matches(excludes ? pattern.slice(1) : pattern, manifest)) isListed = !excludes;
  }
  return isListed;
}

function matches(pattern: string, manifest: PathPattern): boolean {
  try {
    return patternsOverlap(parsePathPattern(normalizePath(`${pattern}/package.json`)), manifest);
  } catch (error) {
    if (error instanceof PathEscapesRoot) return false;
    throw error;
  }
}
