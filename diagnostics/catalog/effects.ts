/** What nodes do to the world, and what of it is secret or unapproved: NG411 to NG413, NG601 to NG607. */
import { diagnostic, type Diagnostic, type Label, type Place } from "../diagnostic.ts";
import { list } from "./reachability.ts";

/** NG411: a secret leaves through something that people or models read. */
export function secretLeak(
  place: Place,
  facts: { secret: string; sink: string; through: readonly string[]; help: string; labels: readonly Label[] },
): Diagnostic {
  return diagnostic("NG411", place, `the secret \`${facts.secret}\` reaches ${facts.sink}`, {
    label: facts.through.length === 0 ? "the secret itself" : `carries it, through ${list(facts.through)}`,
    labels: facts.labels,
    help: facts.help,
  });
}

/** NG412: what a model wrote is carried out. */
export function unapprovedEffect(
  place: Place,
  facts: { model: string; effect: string; channel: string; node: string; labels: readonly Label[] },
): Diagnostic {
  return diagnostic(
    "NG412",
    place,
    `model output reaches ${facts.effect} and nobody approves it: \`${facts.node}\` uses \`${facts.channel}\``,
    {
      label: `written by \`${facts.model}\``,
      labels: facts.labels,
      help: `let a person see it first (\`ask(…)\` in between, or \`pause before\` here), or check it in a function of your own`,
    },
  );
}

/** NG413: a key in the text. The message never repeats it. */
export function literalSecret(place: Place, facts: { kind: string }): Diagnostic {
  return diagnostic("NG413", place, `this literal looks like ${facts.kind}`, {
    label: "anybody who can read the file can use it",
    help: "declare `secret NAME` and read it from the environment; then replace this key, since it has been written down",
  });
}

/** NG601: something that may hang. */
export function callWithoutTimeout(place: Place, facts: { node: string; call: string }): Diagnostic {
  return diagnostic("NG601", place, `\`${facts.node}\` has no timeout of its own`, {
    label: `\`${facts.call}\` may take any time`,
    help: "say how long one attempt may take: `{ timeout 30s }`",
  });
}

/** NG602: an effect that may happen more than once. */
export function retriedEffect(place: Place, facts: { node: string; attempts: number; effect: string }): Diagnostic {
  return diagnostic(
    "NG602",
    place,
    `\`${facts.node}\` can happen up to ${facts.attempts} times: it is tried again after ${facts.effect} that may have had its effect`,
    {
      label: `${facts.attempts} attempts`,
      help: "mark it `idempotent` if doing it twice does no harm, or leave `tries` out",
    },
  );
}

/** NG603: an effect that the resume repeats. */
export function effectBeforePause(place: Place, facts: { node: string; call: string }): Diagnostic {
  return diagnostic(
    "NG603",
    place,
    `\`${facts.call}\` in \`${facts.node}\` has an effect before it pauses, and runs again after the answer`,
    {
      label: "happens twice",
      help: "do the one and the other in nodes of their own",
    },
  );
}

/** NG604: retries that an outer timeout cuts off. */
export function triesExceedLimit(
  place: Place,
  facts: { node: string; caller: string; needed: string; limit: string; declaration: Label },
): Diagnostic {
  return diagnostic(
    "NG604",
    place,
    `the tries of \`${facts.node}\` can take ${facts.needed}, and \`${facts.caller}\` allows ${facts.limit}`,
    {
      label: "cuts them off",
      labels: [facts.declaration],
      help: "raise this timeout, or lower the tries or their timeout",
    },
  );
}

/** NG607: failures that end the run. */
export function failureUnhandled(place: Place, facts: { nodes: readonly string[] }): Diagnostic {
  const [first = ""] = facts.nodes;
  return diagnostic("NG607", place, `a failure of ${list(facts.nodes, "or")} fails the run`, {
    label: "can fail",
    help: `to handle it: \`${first} -> … on error\``,
  });
}
