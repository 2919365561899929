/** A file that uses every part of the language at least once, and reads without a diagnostic. */
export const SHOWCASE = `import { searchDocs, searchTickets, draftReply as reply_, type Ticket } from "./nodes.ts"
type Message = { role: "user" | "assistant", content: string, at?: int }[] // a list
secret API_KEY

/// Answers a support ticket; a person approves the reply before it goes out.
graph support {
  input  ticket: string
  output reply: string = ""
  state notes: string[] = [] reduce append
  state counts: map<int>= {}
  memory log: Message reduce append
  limit steps 40
  max parallel 3

  node classify = llm(prompt: \`Classify
    this ticket: \${ticket + \`"\${"}"}"\`}\`) into intent
  node docs = searchDocs(ticket) into { notes, "a b": c } { tries 4 backoff 200ms..5s  timeout 10s cache for 1h }
  node every = summarize(d) for d in docs into notes { max parallel 8 waits a, b goes c, end pause before idempotent }
  node count = rounds + -1 * 2 % 3 ?? (a ? b : [x.n for x in xs if !x?.ok]) into rounds

  assert approve before end
  assert never deploy with migrate

  start -> classify -> docs
  classify -> match intent {
    "technical" -> docs, tickets /* both */
    "billing" | "other" | -1 | null -> draft
    else -> end
  }
  docs -> match { x > 9 && y in [1, 2] -> b  else -> d }
  all(docs, any(tickets, count)) -> draft
  count -> draft when score < 0.8 && rounds < 3
  count -> approve otherwise
  docs -> rescue on error when error.code == "x"
}

plan ship {
  max parallel 3 order file pool gpu 2 on failure no-new
  task a = shell("x") for v in ["20"] after any b, c when v == "20" into out {
    touches "src/**", "x" touches read "y" alone estimate 5m pool gpu 1
    done when shell("npm test") tries 6 cache inputs "a" variables "CI" tools "cc --version" outputs "o/**" interactive
  }
}

test "a ticket" for support {
  given ticket = { a: 1, in: [true] }
  mock draft = { score: 0.1 } then { score: 0.9 }
  mock classify fails "no"
  answer approve = "send"
  expect ran classify, [docs, tickets], draft
  expect status completed
  expect reply == "restart it"
}
`;
