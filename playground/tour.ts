/** The guided tour: ten texts to read, change and run. */

export interface TourStep {
  readonly title: string;
  readonly text: readonly string[];
  readonly source: string;
  /** The part of the page to look at. */
  readonly look: "picture" | "findings" | "run";
  /** The code of a finding that the text shows. */
  readonly shows?: string;
}

export const TOUR: readonly TourStep[] = [
  {
    title: "A graph",
    text: [
      "A graph has channels and nodes. A channel is a typed variable. A node computes a value and stores it `into` a channel.",
      "Edges say which node runs next. The picture follows the text: change a name.",
    ],
    look: "picture",
    source: `/// Greets a person.
graph hello {
  input  name: string = "world"
  output greeting: string

  node greet = \`Hello, \${name}!\` into greeting

  start -> greet -> end
}
`,
  },
  {
    title: "A run",
    text: [
      "Graphs run in this page. Enter a name as JSON, and press Run. The steps play on the picture.",
      "A run proceeds in steps. All nodes of a step see the state at its start.",
    ],
    look: "run",
    source: `graph shout {
  input  name: string
  output greeting: string
  state  loud: string

  node raise = upper(name) into loud
  node greet = \`Hello, \${loud}!\` into greeting

  start -> raise -> greet -> end
}
`,
  },
  {
    title: "A choice",
    text: [
      "`match` chooses by the value of an enum. Every value needs an arm.",
      'Here the arm for "other" is missing, and the compiler says so before any run. Press the button of the fix.',
    ],
    look: "findings",
    shows: "NG501",
    source: `graph desk {
  input  topic: "bill" | "fault" | "other"
  output reply: string

  node sort  = print(topic)
  node bill  = "We check your bill." into reply
  node fault = "We repair it." into reply

  start -> sort
  sort -> match topic {
    "bill" -> bill
    "fault" -> fault
  }
}
`,
  },
  {
    title: "A join that never fires",
    text: [
      "`all(beds, meals)` waits for both nodes. After a trip of one day, `beds` does not run, and `total` waits for ever. The compiler explores all runs, and finds this one.",
      "The finding has a trace. Press “Play the run that shows it”.",
    ],
    look: "findings",
    shows: "NG302",
    source: `graph travel {
  input  days: int
  output plan: string
  state  hotel: int
  state  food: int

  node ready = print(\`A trip of \${days} days\`)
  node beds  = days * 80 into hotel
  node meals = days * 30 into food
  node total = \`The trip costs \${hotel + food}.\` into plan

  start -> ready
  ready -> beds when days > 1
  ready -> meals
  all(beds, meals) -> total -> end
}
`,
  },
  {
    title: "A loop with a bound",
    text: [
      "A counter bounds the loop. Now the verdict is “sound”: all runs end, and the proofs say how often each node runs at most.",
      "Change the bound, and look at the proofs.",
    ],
    look: "findings",
    source: `graph review2 {
  input topic: string
  output text: string
  state verdict: "good" | "again"
  state rounds: int = 0

  node draft = llm(\`Write about \${topic}.\`) into text
  node count = rounds + 1 into rounds
  node judge = llm(\`Is this good? \${text}\`) into verdict

  start -> draft -> count -> judge
  judge -> end when verdict == "good" || rounds >= 3
  judge -> draft otherwise
}
`,
  },
  {
    title: "Work side by side, and a join",
    text: [
      "An edge to several nodes starts all of them. `all(…)` waits for each of its members.",
      "A join that waits for a node which may not run would never fire: the compiler finds that, too.",
    ],
    look: "picture",
    source: `graph travel {
  input  days: int
  output plan: string
  state  hotel: int
  state  food: int

  node ready = print(\`A trip of \${days} days\`)
  node beds  = days * 80 into hotel
  node meals = days * 30 into food
  node total = \`The trip costs \${hotel + food}.\` into plan

  start -> ready -> beds, meals
  all(beds, meals) -> total -> end
}
`,
  },
  {
    title: "A person decides",
    text: [
      "`ask` pauses the run until an answer comes. The run is stored while it waits, for days if need be.",
      "Run it, and answer. `assert approve before send` is proven for every run.",
    ],
    look: "run",
    source: `graph letter {
  input  draft: string
  output sent: string
  state  verdict: "send" | "drop"

  node approve = ask(\`Send this? \${draft}\`) into verdict
  node send    = \`Sent: \${draft}\` into sent

  assert approve before send

  start -> approve
  approve -> match verdict { "send" -> send  "drop" -> end }
}
`,
  },
  {
    title: "Errors have ways out",
    text: [
      "`on error` edges handle the failure of a node, and `tries` repeats it first.",
      "Here a model writes the summary. In this page you give its result, and in tests you mock it.",
    ],
    look: "run",
    source: `graph digest {
  input  text: string
  output summary: string

  node short = llm(\`Summarise: \${text}\`) into summary { tries 3  timeout 30s }
  node plain = slice(text, 0, 80) into summary

  start -> short -> end
  short -> plain on error
}
`,
  },
  {
    title: "YAML is the same language",
    text: [
      "The other editor shows the same graph as YAML. Both have the same findings, and both can be edited.",
      "Change a line of the YAML text, and the first text follows.",
    ],
    look: "picture",
    source: `graph trip {
  input  days: int
  output plan: string
  state  hotel: int
  state  food: int

  node ready = print(\`A trip of \${days} days\`)
  node beds  = days * 80 into hotel
  node meals = days * 30 into food
  node total = \`The trip costs \${hotel + food}.\` into plan

  start -> ready -> beds, meals
  all(beds, meals) -> total -> end
}
`,
  },
  {
    title: "Tests in the file",
    text: [
      "A `test` block gives inputs, results and answers, and states what it expects. `ngc test` runs it.",
      "To continue on your machine: `npx --package ngraph ngc new my-graphs`. The examples of the page are in the package.",
    ],
    look: "findings",
    source: `graph letter {
  input  draft: string
  output sent: string
  state  verdict: "send" | "drop"

  node approve = ask(\`Send this? \${draft}\`) into verdict
  node send    = \`Sent: \${draft}\` into sent

  assert approve before send

  start -> approve
  approve -> match verdict { "send" -> send  "drop" -> end }
}

test "a letter is sent after an approval" for letter {
  given draft = "Dear Ada"
  answer approve = "send"
  expect ran approve, send
  expect sent == "Sent: Dear Ada"
}
`,
  },
];
