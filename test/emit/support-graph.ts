/** The showcase of the language reference, with `print` in place of the model: tests run it. */
export const SUPPORT = `
import { searchDocs, searchTickets, draftReply, classifyTicket } from "./nodes.ts"

/// Answers a support ticket; a person approves the reply before it goes out.
graph support {
  input  ticket: string
  output reply: string

  state intent: "billing" | "technical" | "other"
  state notes: string[] = [] reduce append
  state score: float = 0
  state rounds: int = 0
  state verdict: "send" | "again"

  limit steps 40

  node classify = classifyTicket(\`Classify this ticket: \${ticket}\`) into intent
  node docs     = searchDocs(ticket) into notes       { tries 4 backoff 200ms..5s  timeout 10s }
  node tickets  = searchTickets(ticket) into notes
  node draft    = draftReply(ticket, notes) into { reply, score }
  node count    = rounds + 1 into rounds
  node approve  = ask(\`Send this?\\n\${reply}\`) into verdict

  assert approve before end

  start -> classify
  classify -> match intent {
    "technical"         -> docs, tickets
    "billing" | "other" -> draft
  }
  all(docs, tickets) -> draft
  draft -> count
  count -> draft   when score < 0.8 && rounds < 3
  count -> approve otherwise
  approve -> match verdict { "send" -> end  "again" -> draft }
}
`;

export const SUPPORT_NODES = `
export const classifyTicket = (prompt: string): "billing" | "technical" | "other" =>
  prompt.includes("API") ? "technical" : "other";
export async function searchDocs(ticket: string): Promise<string[]> {
  return ["docs: " + ticket];
}
export function searchTickets(ticket: string): string {
  return "tickets: " + ticket;
}
export function draftReply(ticket: string, notes: readonly string[]) {
  return { reply: ticket + " (" + notes.join("; ") + ")", score: notes.length / 2, further: true };
}
`;
