import { NodeFailure } from "../node-failure.ts";
import { isInside, type NodeFiles } from "./node-files.ts";
import { isOfRuns } from "./resolve-path.ts";

/** Maximum number of paths that a pattern may find, because checkpoints hold them. */
export const MAX_PATHS = 10_000;

/** Maximum number of directory entries that are compared with a pattern. */
const MAX_ENTRIES = 200_000;

/**
 * The files below the root that match a pattern, sorted, relative to the root, with `/`. `**` matches any number of directories, `*` any
 * characters of a name, `?` one character. A name that begins with a dot matches only a pattern that does, too. Links to files inside the
 * root are found; links to directories are not followed.
 */
export async function globFiles(
  pattern: string,
  root: string,
  node: NodeFiles,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { fs, path: paths } = node;
  const segments = pattern.split("/").filter((segment) => segment !== "" && segment !== ".");
  if (pattern.startsWith("/") || segments.includes("..") || segments.length === 0 || pattern.includes("\0")) {
    throw refusal(`the pattern ${JSON.stringify(pattern)} is not relative to the root: write it as in "notes/**/*.md"`);
  }
  const matchers = segments.map(matcherOf);
  const found = new Set<string>();
  let entries = 0;
  /** Directories with the positions in the pattern that they have reached. */
  const pending: { readonly names: readonly string[]; readonly positions: readonly number[] }[] = [
    { names: [], positions: [0] },
  ];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    signal.throwIfAborted();
    const { names } = next;
    const positions = withSkipped(next.positions, matchers);
    const directory = paths.join(root, ...names);
    const children = await fs.readdir(directory, { withFileTypes: true }).catch(() => []);
    entries += children.length;
    if (entries > MAX_ENTRIES) {
      throw refusal(
        `the pattern ${JSON.stringify(pattern)} visits more than ${MAX_ENTRIES} files: begin it with a directory`,
      );
    }
    for (const child of children) {
      const { name } = child;
      if (isOfRuns(name)) continue;
      const path = [...names, name];
      const reached = new Set<number>();
      for (const position of positions) {
        const matcher = matchers[position];
        if (matcher === "any-depth") {
          if (!name.startsWith(".")) reached.add(position);
        } else if (matcher?.(name) === true) reached.add(position + 1);
      }
      if (reached.size === 0) continue;
      if (child.isDirectory()) {
        const further = [...reached].filter((position) => position < matchers.length);
        if (further.length > 0) pending.push({ names: path, positions: further });
        continue;
      }
      const isWhole = withSkipped([...reached], matchers).includes(matchers.length);
      if (!isWhole || !(child.isFile() || (await isLinkedFile(paths.join(directory, name), root, node)))) continue;
      found.add(path.join("/"));
      if (found.size > MAX_PATHS) {
        throw refusal(`the pattern ${JSON.stringify(pattern)} finds more than ${MAX_PATHS} files: make it narrower`);
      }
    }
  }
  return [...found].sort();
}

type Matcher = "any-depth" | ((name: string) => boolean);

function matcherOf(segment: string): Matcher {
  if (segment === "**") return "any-depth";
  const isDotted = segment.startsWith(".");
  const pieces = segment.split(/(\*+|\?)/);
  if (pieces.length === 1) return (name) => name === segment;
  return (name) => (isDotted || !name.startsWith(".")) && matchesPieces(name, segment);
}

/** Compares a name with `*` and `?`, with one position to return to: the cost is at most the product of the lengths. */
function matchesPieces(name: string, segment: string): boolean {
  let at = 0;
  let star = -1;
  let resume = 0;
  let index = 0;
  while (index < name.length) {
    if (segment[at] === "*") {
      star = at++;
      resume = index;
    } else if (at < segment.length && (segment[at] === "?" || segment[at] === name[index])) {
      at++;
      index++;
    } else if (star !== -1) {
      at = star + 1;
      index = ++resume;
    } else return false;
  }
  while (segment[at] === "*") at++;
  return at === segment.length;
}

/** The positions, and those that are reached if each `**` matches no directory. */
function withSkipped(positions: readonly number[], matchers: readonly Matcher[]): readonly number[] {
  const all = new Set(positions);
  for (const position of all) if (matchers[position] === "any-depth") all.add(position + 1);
  return [...all];
}

async function isLinkedFile(path: string, root: string, node: NodeFiles): Promise<boolean> {
  try {
    const real = await node.fs.realpath(path);
    return isInside(real, root, node) && (await node.fs.stat(real)).isFile();
  } catch {
    return false;
  }
}

function refusal(message: string): NodeFailure {
  return new NodeFailure(message, { retryable: false });
}
