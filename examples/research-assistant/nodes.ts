/** Node functions of `research-assistant.ngraph`. The sources are stubs: they run offline and always answer alike. */

export type Source = "papers" | "web" | "records";

/** The sources that fit a question; a model chooses them in reality. */
export async function choose(question: string): Promise<Source[]> {
  const words = question.toLowerCase();
  if (words.includes("weather")) return ["web"];
  if (words.includes("patient")) return ["papers", "records"];
  return words.includes("aspirin") ? ["papers", "web"] : [];
}

export async function searchPapers(_question: string): Promise<string> {
  return "Aspirin is tolerated by most adults.";
}

export async function searchWeb(_question: string): Promise<string> {
  return "It is sunny.";
}

export async function readRecords(_question: string): Promise<string> {
  return "The patient takes ibuprofen.";
}

export async function answer(_question: string, evidence: readonly string[]): Promise<string> {
  return evidence.join(" ");
}

/** Reports the end of every run, whatever its outcome. */
export async function log(question: string, status: string, problem: string | null | undefined): Promise<void> {
  if (status !== "completed") console.error(`${question}: ${status}${problem == null ? "" : `, ${problem}`}`);
}
