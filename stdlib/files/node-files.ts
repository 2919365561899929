import { NodeFailure } from "../node-failure.ts";

/** The modules of Node that `file` uses. */
export interface NodeFiles {
  readonly fs: typeof import("node:fs/promises");
  readonly path: typeof import("node:path");
  readonly constants: Readonly<Partial<typeof import("node:fs").constants>> &
    Pick<typeof import("node:fs").constants, "O_RDONLY">;
}

/** Loads Node's modules when a file is used, so that the standard library can be imported outside of Node. */
export function nodeFiles(): NodeFiles {
  const load = typeof process === "undefined" ? undefined : process.getBuiltinModule;
  if (typeof load !== "function") throw new NodeFailure("`file` runs on Node only", { retryable: false });
  return { fs: load("node:fs/promises"), path: load("node:path"), constants: load("node:fs").constants };
}

/** Whether an absolute path is the root or is below it. Both are without symbolic links. */
export function isInside(path: string, root: string, { path: paths }: Pick<NodeFiles, "path">): boolean {
  const relative = paths.relative(root, path);
  return relative !== ".." && !relative.startsWith(`..${paths.sep}`) && !paths.isAbsolute(relative);
}
