/** A plan with every construct. */
export const EVERYTHING = `
graph summarise { input text: string  output summary: string  node s = text into summary  start -> s -> end }

plan inner { input who: string  output greeting: string  task greet = \`hi \${who}\` into greeting }

/// The plan.
plan everything {
  max parallel 3
  pool gpu 2
  on failure no-new
  input name: string
  output result: string
  output maybe: string
  state score: float
  state logs: string[] reduce append

  /// First.
  task a = shell("echo a") {
    touches "src/a.ts", "./src/../lib/*.ts"
    touches read "doc/**"
    estimate 5m
    pool gpu 2
    timeout 1m
  }
  task b = inner(who: name) after a into { greeting: result }
  task c = summarise(text: result) after b when name != "x" into { summary: maybe }
  task test = shell(\`echo \${v}\`) for v in ["20", "22", 22] after c, a into { stdout: logs } {
    tries 3 backoff 1s..5s
    timeout 10s
    idempotent
  }
  task s = 0.5 after any test into score {
    done when score > 0.3
    done when shell("true")
    cache inputs "x/*.ts" variables "CI" tools "node --version"
    outputs "made/**"
    alone
  }
  task d = print(\`\${logs} \${score ?? 0} \${maybe ?? "none"}\`) after done test, s
}
`;
