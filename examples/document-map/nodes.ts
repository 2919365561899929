/** Node functions of `terms.ngraph`. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

export interface Profile {
  name: string;
  words: number;
  terms: Record<string, number>;
}

/** Returns the sorted names of the text files in a folder. */
export async function listDocuments(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => name.endsWith(".txt")).sort();
}

/** Counts the words of a document and the occurrences of each term. */
export async function readTerms(folder: string, name: string, wanted: readonly string[]): Promise<Profile> {
  const words = (await readFile(join(folder, name), "utf8")).toLowerCase().match(/[a-z]+/g) ?? [];
  const terms: Record<string, number> = {};
  for (const term of wanted) terms[term] = words.filter((word) => word === term).length;
  return { name, words: words.length, terms };
}
