/** The first graph of the language reference. It checks clean: every finding in it is a false positive. */
export const REFERENCE_GRAPH = `import { searchDocs, searchTickets, draftReply } from "./nodes.ts"

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

  node classify = llm(prompt: \`Classify this ticket: \${ticket}\`) into intent
  node docs     = searchDocs(ticket) into notes       { tries 4 backoff 200ms..5s  timeout 10s }
  node tickets  = searchTickets(ticket) into notes
  node draft    = draftReply(ticket, notes) into { reply, score }
  node count    = rounds + 1 into rounds
  node approve  = ask(\`Send this?\\n\${reply}\`) into verdict

  assert approve before end

  start -> classify
  classify -> match intent {
    "technical"         -> docs, tickets         // both, in parallel
    "billing" | "other" -> draft
  }
  all(docs, tickets) -> draft                    // a barrier: draft waits for both
  draft -> count
  count -> draft   when score < 0.8 && rounds < 3
  count -> approve otherwise
  approve -> match verdict { "send" -> end  "again" -> draft }
}
`;

export const REFERENCE_FILES = {
  "nodes.ts":
    "export async function searchDocs(ticket: string): Promise<string[]> { return []; }\nexport const searchTickets = 1, draftReply = 2;",
};
