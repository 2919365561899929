/** Node functions of `supervisor.ngraph`. The supervisor and its workers are stubs: they run offline and always answer alike. */

export type Worker = "researcher" | "coder" | "writer";

export interface Note {
  author: Worker | "user";
  text: string;
}

/** Chooses the worker that continues, or `finish`. */
export async function supervise(notes: readonly Note[]): Promise<Worker | "finish"> {
  const authors = new Set(notes.map(({ author }) => author));
  const order: Worker[] = ["researcher", "coder", "writer"];
  return order.find((worker) => !authors.has(worker)) ?? "finish";
}

export async function research(notes: readonly Note[]): Promise<Note> {
  return { author: "researcher", text: `Sources on "${notes[0]?.text ?? ""}": 3 papers.` };
}

export async function chart(notes: readonly Note[]): Promise<Note> {
  return { author: "coder", text: `A chart of ${notes.length - 1} note.` };
}

export async function summarize(notes: readonly Note[]): Promise<Note> {
  return { author: "writer", text: notes.map(({ author, text }) => `${author}: ${text}`).join("\n") };
}
