/** Node functions of `corrective-rag.ngraph`. Search, grades and answers are stubs: they run offline and always answer alike. */

export interface Document {
  source: "library" | "web";
  text: string;
}

const LIBRARY: readonly Document[] = [
  { source: "library", text: "Agents keep a memory of what they have done." },
  { source: "library", text: "Bread is baked from flour, water and salt." },
  { source: "library", text: "A memory of an agent can be short or long." },
];

const wordsOf = (text: string): readonly string[] => text.toLowerCase().match(/[a-z]{4,}/g) ?? [];

/** The three documents of the library; a real one would search by vectors. */
export async function retrieve(_question: string): Promise<Document[]> {
  return [...LIBRARY];
}

/** Whether a document has a word of the question. */
export async function isRelevant(question: string, document: Document): Promise<boolean> {
  const words = wordsOf(document.text);
  return wordsOf(question).some((word) => words.includes(word));
}

/** The question as a search engine understands it. */
export async function rewrite(question: string): Promise<string> {
  return wordsOf(question).join(" ");
}

export async function searchWeb(query: string): Promise<Document> {
  return { source: "web", text: `A page about ${query}.` };
}

export async function generate(question: string, documents: readonly Document[]): Promise<string> {
  return `${question} ${documents.map(({ text }) => text).join(" ")}`;
}
