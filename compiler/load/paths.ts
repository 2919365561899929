/**
 * Paths as text, with `/` between segments on every platform: the compiler does no I/O. Windows paths (`C:\x`) are
 * accepted and written with `/`, which Windows accepts as well.
 */

/** Normalises a path: only `/`, no `.` and inner `..` segments; the current directory is `.`. */
export function normalisePath(path: string): string {
  const slashed = isWindowsPath(path) ? path.replaceAll("\\", "/") : path;
  const root = rootOf(slashed);
  const segments: string[] = [];
  for (const segment of slashed.slice(root.length).split("/")) {
    if (segment === "" || segment === ".") continue;
    if (segment !== "..") segments.push(segment);
    else if (segments.length > 0 && segments.at(-1) !== "..") segments.pop();
    else if (root === "") segments.push("..");
  }
  const joined = root + segments.join("/");
  return joined === "" ? "." : joined;
}

/** Resolves `path` relative to `directory`; an absolute `path` stays as it is. */
export function joinPath(directory: string, path: string): string {
  return normalisePath(isAbsolutePath(path) || directory === "." ? path : `${directory}/${path}`);
}

export function directoryOf(path: string): string {
  const normal = normalisePath(path);
  const root = rootOf(normal);
  const slash = normal.lastIndexOf("/");
  if (slash < root.length) return root === "" ? "." : root;
  return normal.slice(0, slash);
}

export function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

function isAbsolutePath(path: string): boolean {
  return rootOf(isWindowsPath(path) ? path.replaceAll("\\", "/") : path) !== "";
}

/** Whether `path` is `directory` or lies in it. Both paths are absolute or relative to the same directory. */
export function isInside(path: string, directory: string): boolean {
  const inner = normalisePath(path);
  const outer = normalisePath(directory);
  if (inner === outer) return true;
  if (outer === ".") return !isAbsolutePath(inner) && inner !== ".." && !inner.startsWith("../");
  return inner.startsWith(outer.endsWith("/") ? outer : `${outer}/`);
}

/**
 * The specifier by which a file in `directory` imports `path`: `./nodes.ts`. Both paths are absolute or relative to the
 * same directory.
 */
export function relativeSpecifier(directory: string, path: string): string {
  const from = segmentsOf(normalisePath(directory));
  const to = segmentsOf(normalisePath(path));
  let common = 0;
  while (common < from.length && common < to.length - 1 && from[common] === to[common]) common++;
  const up = "../".repeat(from.length - common);
  return `${up === "" ? "./" : up}${to.slice(common).join("/")}`;
}

function segmentsOf(path: string): string[] {
  return path.split("/").filter((segment) => segment !== "" && segment !== ".");
}

function rootOf(path: string): string {
  if (path.startsWith("/")) return "/";
  return /^[A-Za-z]:\//.exec(path)?.[0] ?? "";
}

function isWindowsPath(path: string): boolean {
  return /^[A-Za-z]:[\\/]/.test(path) || (path.includes("\\") && !path.includes("/"));
}
