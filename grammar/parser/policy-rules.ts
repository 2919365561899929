/** The policies of nodes and tasks: `{ tries 4 backoff 200ms..5s  timeout 10s }`. */
import { replacement, syntaxProblem } from "../../diagnostics/catalog/syntax.ts";
import { findSimilar } from "../../diagnostics/similar.ts";
import type { Policy, StringLiteral, UndoPolicy } from "../ast.ts";
import * as t from "../lexer/tokens.ts";
import { POLICY_WORDS } from "../words.ts";
import { ExpressionRules } from "./expression-rules.ts";
import { D } from "./decisions.ts";
import { DEPENDENCY_WORDS, POLICY_ALIASES } from "./foreign-syntax.ts";
import { columnAtLineStart, startsPolicy } from "./recovery.ts";
import { Halt } from "./base-parser.ts";

const POLICY_LIST = [...POLICY_WORDS].map((word) => `\`${word}\``).join(" ");

function policyHelp(word: string): string {
  if (word === "after" || DEPENDENCY_WORDS.has(word))
    return "the order of tasks is written before the policies: `task b = … after a { … }`";
  if (word === "into" || word === "for")
    return `\`${word}\` is written before the policies: \`node a = f(x) ${word} … { … }\``;
  const similar = findSimilar(word, POLICY_WORDS);
  return similar === undefined ? `the policies are ${POLICY_LIST}` : `did you mean \`${similar}\`?`;
}

export abstract class PolicyRules extends ExpressionRules {
  /** Statements, arms or policies up to a closing brace, with recovery: see `StatementLoop`. */
  protected abstract siblings<T>(index: number, read: () => T, starts: (index: number) => boolean): T[];
  protected readonly policies = this.RULE("policies", (): Policy[] => {
    this.take(t.LeftBrace);
    return this.within("policies", () =>
      this.siblings(
        1,
        () => this.policy(),
        (at) => this.startsPolicyAt(at),
      ),
    );
  });

  private startsPolicyAt(at: number): boolean {
    const source = this.tokenText();
    const token = source.tokens[at];
    if (token === undefined || token.tokenType !== t.Identifier) return false;
    if (startsPolicy(source, at)) return true;
    return (
      (POLICY_WORDS.has(token.image) || POLICY_ALIASES.has(token.image)) && columnAtLineStart(source, at) !== undefined
    );
  }

  private policy(): Policy {
    return this.choose(D.policy, this.policyAlternatives, () => this.foreignPolicy());
  }

  private foreignPolicy(): Policy {
    const word = this.word();
    const alias = POLICY_ALIASES.get(word);
    const read = alias === undefined ? undefined : this.policyForms[this.alias(word, alias)];
    if (read !== undefined) return read();
    throw new Halt(
      this.expectedDiagnostic("a policy or `}`", {
        help: this.at(t.When)
          ? "a condition follows the targets of an edge, `a -> b when x > 3`, or the call of a task, `task a = f(x) when x > 3`"
          : policyHelp(word),
      }),
    );
  }

  /** A policy by its name in another engine: reported, and read if its value fits. */
  private alias(word: string, alias: string): string {
    const token = this.LA(1);
    const place = this.placeOf(token);
    const fixes = [replacement(`replace with \`${alias}\``, place.span, alias)];
    const details = { message: `\`${word}\` is not a policy`, label: `write \`${alias}\``, fixes };
    const first = alias.split(" ")[0] ?? alias;
    const fits = alias !== "max parallel" && this.fits(first);
    if (!fits) throw new Halt(syntaxProblem(place, details));
    this.reportForeign(place, details);
    return first;
  }

  private fits(policy: string): boolean {
    switch (policy) {
      case "tries":
        return this.at(t.Numeral, 2);
      case "timeout":
        return this.at(t.Duration, 2);
      case "touches":
      case "outputs":
        return this.at(t.Quoted, 2);
      case "goes":
        return this.at(t.Identifier, 2);
      default:
        return true;
    }
  }

  /** The word of a policy. A `:` or `=` after it is reported and skipped. */
  private takePolicyWord(word: string): t.Token {
    const token = this.RECORDING_PHASE ? this.takeWord(word) : this.take(t.Identifier);
    if (this.RECORDING_PHASE || (!this.at(t.Colon) && !this.at(t.Equal))) return token;
    const place = this.placeOf(this.takeAny());
    const fixes = [replacement("delete it", place.span, "")];
    this.reportForeign(place, {
      message: `\`${token.image}\` takes no \`${this.LA(0).image}\``,
      label: "delete it",
      fixes,
    });
    return token;
  }

  private readonly policyForms: Readonly<Record<string, () => Policy>> = {
    tries: () => {
      const first = this.takePolicyWord("tries");
      const attempts = this.count("a number of attempts");
      const backoff = this.maybe(D.backoff, () => {
        this.takePolicyWord("backoff");
        return this.rule(this.backoff);
      });
      return {
        kind: "Tries",
        span: this.spanFrom(first),
        attempts,
        ...(backoff === undefined ? undefined : { backoff }),
      };
    },
    timeout: () => {
      const first = this.takePolicyWord("timeout");
      const duration = this.durationAhead();
      return { kind: "Timeout", span: this.spanFrom(first), duration };
    },
    within: () => {
      const first = this.takePolicyWord("within");
      const duration = this.durationAhead();
      return { kind: "Within", span: this.spanFrom(first), duration };
    },
    cache: () => {
      const first = this.takePolicyWord("cache");
      const isMissing = !this.RECORDING_PHASE && this.at(t.Duration);
      if (isMissing) this.missingFor();
      const duration = isMissing
        ? this.durationAhead()
        : this.maybe(D.cacheFor, () => {
            this.takeWord("for");
            return this.durationAhead();
          });
      const inputs = this.maybe(D.cacheInputs, () => {
        this.takePolicyWord("inputs");
        return this.strings(D.inputPath, "a path in quotes");
      });
      const variables = this.maybe(D.cacheVariables, () => {
        this.takePolicyWord("variables");
        return this.strings(D.variableName, "the name of an environment variable in quotes");
      });
      const tools = this.maybe(D.cacheTools, () => {
        this.takePolicyWord("tools");
        return this.strings(D.toolCommand, "a command in quotes");
      });
      return {
        kind: "Cache",
        span: this.spanFrom(first),
        ...(duration === undefined ? undefined : { duration }),
        ...(inputs === undefined ? undefined : { inputs }),
        ...(variables === undefined ? undefined : { variables }),
        ...(tools === undefined ? undefined : { tools }),
      };
    },
    max: () => {
      const first = this.takeWord("max");
      this.takeWord("parallel");
      const count = this.count("a number of tasks");
      return { kind: "MaxParallel", span: this.spanFrom(first), count };
    },
    allow: () => {
      const first = this.takeWord("allow");
      this.takeWord("failure");
      return { kind: "AllowFailure", span: this.spanFrom(first) };
    },
    waits: () => {
      const first = this.takePolicyWord("waits");
      const nodes = this.nameList(15, "the name of a node");
      return { kind: "Waits", span: this.spanFrom(first), nodes };
    },
    goes: () => {
      const first = this.takePolicyWord("goes");
      const nodes = this.nameList(16, "the name of a node");
      return { kind: "Goes", span: this.spanFrom(first), nodes };
    },
    was: () => {
      const first = this.takePolicyWord("was");
      const names = this.nameList(17, "an earlier name of the node");
      return { kind: "Was", span: this.spanFrom(first), names };
    },
    pause: () => {
      const first = this.takePolicyWord("pause");
      const when = this.takeOneOf(D.pauseWhen, ["before", "after"], "`before` or `after`");
      return { kind: "Pause", span: this.spanFrom(first), when };
    },
    idempotent: () => ({ kind: "Idempotent", span: this.spanFrom(this.takeAnyWord("idempotent")) }),
    undo: () => {
      const first = this.takePolicyWord("undo");
      const call = this.rule(this.expression);
      const policies = this.maybe(D.undoPolicies, () => this.rule(this.undoPolicies)) ?? [];
      return { kind: "Undo", span: this.spanFrom(first), call, policies };
    },
    touches: () => {
      const first = this.takePolicyWord("touches");
      const read = this.maybe(D.touchesRead, () => this.takeWord("read"));
      const paths = this.strings(D.touchedPath, "a path in quotes");
      return { kind: "Touches", span: this.spanFrom(first), mode: read === undefined ? "write" : "read", paths };
    },
    alone: () => ({ kind: "Alone", span: this.spanFrom(this.takeAnyWord("alone")) }),
    done: () => {
      const first = this.takeWord("done");
      this.take(t.When, "`when` and a check");
      const check = this.rule(this.expression);
      return { kind: "DoneWhen", span: this.spanFrom(first), check };
    },
    pool: () => {
      const first = this.takePolicyWord("pool");
      const name = this.name("the name of a pool");
      const count = this.maybe(D.poolCount, () => this.count("a number of places"));
      return { kind: "Pool", span: this.spanFrom(first), name, ...(count === undefined ? undefined : { count }) };
    },
    estimate: () => {
      const first = this.takePolicyWord("estimate");
      const duration = this.durationAhead();
      return { kind: "Estimate", span: this.spanFrom(first), duration };
    },
    cwd: () => {
      const first = this.takePolicyWord("cwd");
      const path = this.rule(this.expression);
      return { kind: "Cwd", span: this.spanFrom(first), path };
    },
    env: () => {
      const first = this.takePolicyWord("env");
      const values = this.rule(this.expression);
      return { kind: "Env", span: this.spanFrom(first), values };
    },
    worktree: () => ({ kind: "Worktree", span: this.spanFrom(this.takeAnyWord("worktree")) }),
    outputs: () => {
      const first = this.takePolicyWord("outputs");
      const paths = this.strings(D.outputPath, "a path in quotes");
      return { kind: "Outputs", span: this.spanFrom(first), paths };
    },
    interactive: () => ({ kind: "Interactive", span: this.spanFrom(this.takeAnyWord("interactive")) }),
  };

  /** The policies of an `undo`. */
  protected readonly undoPolicies = this.RULE("undoPolicies", (): UndoPolicy[] => {
    this.take(t.LeftBrace);
    return this.within("policies", () =>
      this.siblings(
        1,
        () => this.choose(D.undoPolicy, this.undoAlternatives, () => this.foreignUndoPolicy()),
        (at) => this.startsPolicyAt(at),
      ),
    );
  });

  private readonly undoAlternatives = [this.policyForms["tries"], this.policyForms["timeout"]] as (() => UndoPolicy)[];

  private foreignUndoPolicy(): never {
    throw new Halt(
      this.expectedDiagnostic("`tries`, `timeout` or `}`", {
        help: "the policies of an `undo` are `tries` and `timeout`; those of the node are outside of these braces",
      }),
    );
  }

  private readonly policyAlternatives = Object.values(this.policyForms);

  /** A word without further syntax; another word is its alias. */
  private takeAnyWord(word: string): t.Token {
    return this.RECORDING_PHASE ? this.takeWord(word) : this.take(t.Identifier);
  }

  /** `cache 1h` */
  private missingFor(): void {
    const diagnostic = this.expectedDiagnostic("`for`", {
      fixes: [replacement("insert `for`", this.gapSpan(), " for")],
    });
    this.report(diagnostic);
  }

  protected readonly backoff = this.RULE("backoff", () => {
    const min = this.durationAhead();
    const isSpread = !this.RECORDING_PHASE && this.at(t.Spread);
    if (isSpread) this.instead("`..`", "..", "a range is written with two dots");
    const max = isSpread
      ? this.durationAhead()
      : this.maybe(D.backoffMax, () => {
          this.take(t.DotDot);
          return this.durationAhead();
        });
    return { min, ...(max === undefined ? undefined : { max }) };
  });

  /** Strings with commas between them. */
  private strings(decision: number, what: string): StringLiteral[] {
    const strings = [this.stringLiteral(what)];
    this.repeat(
      decision,
      () => {
        this.take(t.Comma);
        strings.push(this.stringLiteral(what));
      },
      () => !this.isStrayComma(),
    );
    return strings;
  }
}
