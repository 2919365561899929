import { patternsOverlap, type PathPattern } from "./path-pattern.ts";

/** Patterns that begin with the same folders, by name. */
interface Folder {
  readonly folders: Map<string, Folder>;
  /** Those whose fixed part ends here. */
  readonly patterns: number[];
}

/**
 * By pattern: those that may name a file that it names, itself included. Two can only when the folders that one begins with begin the other
 * too, so each glob is compared with what stands above and below it in the tree of those folders, and with nothing else.
 */
export function overlappingPatterns(patterns: readonly PathPattern[]): readonly (readonly number[])[] {
  const root = newFolder();
  for (const [index, pattern] of patterns.entries()) {
    let folder = root;
    for (const name of fixedPart(pattern)) {
      let next = folder.folders.get(name);
      if (next === undefined) folder.folders.set(name, (next = newFolder()));
      folder = next;
    }
    folder.patterns.push(index);
  }
  const overlapping: number[][] = patterns.map((_, index) => [index]);
  const compare = (index: number, glob: PathPattern, others: readonly number[]): void => {
    for (const other of others) {
      const candidate = patterns[other];
      // Two globs meet once, from the first of them; exact paths overlap only themselves.
      if (candidate === undefined || other === index || (!candidate.exact && other < index)) continue;
      if (!patternsOverlap(glob, candidate)) continue;
      overlapping[index]?.push(other);
      overlapping[other]?.push(index);
    }
  };
  for (const [index, pattern] of patterns.entries()) {
    if (pattern.exact) continue;
    let folder = root;
    for (const name of fixedPart(pattern)) {
      compare(index, pattern, folder.patterns);
      folder = folder.folders.get(name) ?? folder;
    }
    const below = [folder];
    for (let next = below.pop(); next !== undefined; next = below.pop()) {
      compare(index, pattern, next.patterns);
      below.push(...next.folders.values());
    }
  }
  return overlapping;
}

function newFolder(): Folder {
  return { folders: new Map(), patterns: [] };
}

function fixedPart({ segments }: PathPattern): readonly string[] {
  const names: string[] = [];
  for (const segment of segments) {
    if (segment.kind !== "literal") break;
    names.push(segment.text);
  }
  return names;
}
