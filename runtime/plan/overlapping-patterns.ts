import { patternsOverlap, type PathPattern } from "./path-pattern.ts";

/** A trie node: child folders by name. */
interface Folder {
  readonly folders: Map<string, Folder>;
  /** Patterns whose literal prefix ends here. */
  readonly patterns: number[];
}

/**
 * By pattern: the patterns that may match a common file, itself included. Two patterns can overlap only if the literal
 * folders of one are a prefix of those of the other. So each glob is compared only with the patterns above and below it
 * in the trie of these folders.
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
      // Each pair of globs is compared once, from the first one.
      if (candidate === undefined || other === index || (!candidate.exact && other < index)) continue;
      if (!patternsOverlap(glob, candidate)) continue;
      overlapping[index]?.push(other);
      overlapping[other]?.push(index);
    }
  };
  for (const [index, pattern] of patterns.entries()) {
    let folder = root;
    for (const name of fixedPart(pattern)) {
      if (!pattern.exact) compare(index, pattern, folder.patterns);
      folder = folder.folders.get(name) ?? folder;
    }
    const below = [folder];
    for (let next = below.pop(); next !== undefined; next = below.pop()) {
      // A pair with a glob is compared from the glob. Of two exact paths, the folder finds its contents.
      const others = pattern.exact ? next.patterns.filter((other) => patterns[other]?.exact === true) : next.patterns;
      compare(index, pattern, others);
      for (const each of next.folders.values()) below.push(each);
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
