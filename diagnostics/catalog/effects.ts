/** Effects of nodes on other systems, secrets, and model output without approval. */
import { diagnostic, type Diagnostic, type Label, type Place } from "../diagnostic.ts";
import { list } from "./reachability.ts";

/** NG411: a secret reaches an output that people or models read. */
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

/** NG412: model output controls an effect. */
export function unapprovedEffect(
  place: Place,
  facts: { model: string; effect: string; channel: string; node: string; labels: readonly Label[] },
): Diagnostic {
  const { effect } = facts;
  return diagnostic(
    "NG412",
    place,
    `model output reaches ${effect} without approval: \`${facts.node}\` uses \`${facts.channel}\``,
    {
      label: `written by \`${facts.model}\``,
      labels: facts.labels,
      help:
        (effect.startsWith("a shell command") ? "let it be quoted (without `raw`); else " : "") +
        "ask for approval first (`ask(…)` in between, or `pause before` here), or check it in an imported function",
    },
  );
}

/** NG412: a shell runs text that neither the author nor the project wrote. */
export function untrustedCommand(
  place: Place,
  facts: {
    what: string;
    channel: string | undefined;
    node: string;
    interpreter: string | undefined;
    labels: readonly Label[];
  },
): Diagnostic {
  const { what, channel, node, interpreter } = facts;
  const uses = channel === undefined ? "" : `: \`${node}\` uses \`${channel}\``;
  return diagnostic(
    "NG412",
    place,
    `untrusted text reaches ${interpreter === undefined ? "the shell unquoted" : `\`${interpreter}\``}${uses}`,
    {
      label: `holds ${what}, which ${interpreter === undefined ? "the shell" : `\`${interpreter}\``} runs as code`,
      labels: facts.labels,
      help: interpreter === undefined ? QUOTE_HELP : AGAIN_HELP,
    },
  );
}

/** NG412: text of a person, a signal, a server or a tool decides which host or file is used. */
export function untrustedTarget(
  place: Place,
  facts: {
    what: string;
    channel: string | undefined;
    node: string;
    effect: string;
    isHost: boolean;
    labels: readonly Label[];
  },
): Diagnostic {
  const { what, channel, node, effect, isHost, labels } = facts;
  const uses = channel === undefined ? "" : `: \`${node}\` uses \`${channel}\``;
  return diagnostic("NG412", place, `untrusted text reaches ${effect}${uses}`, {
    label: `holds ${what}`,
    labels,
    help:
      (isHost ? "name the hosts (`hosts: […]`) or exclude private addresses (`private: false`); else " : "") +
      "ask for approval first, check it in an imported function, or give it a type that lists its values",
  });
}

/** NG412: a model chooses an argument of a graph among its tools, and the graph has an effect with it. */
export function unapprovedToolCall(
  place: Place,
  facts: { tool: string; effect: string; input: string; node: string },
): Diagnostic {
  const { tool, effect, input, node } = facts;
  return diagnostic(
    "NG412",
    place,
    `model output reaches ${effect} without approval: the model of \`${node}\` chooses \`${input}\``,
    {
      label: `uses \`${input}\``,
      help: `let a person approve its calls (\`approve: [${tool}]\`), ask in \`${tool}\`, or check \`${input}\` there in an imported function`,
    },
  );
}

const AGAIN_HELP =
  "the quotes around it are read by the first shell only: pass it as a variable (`env`), or quote it again with " +
  "`${quote(x)}` in a template of its own";
const QUOTE_HELP =
  "let it be quoted: `${…}` without `raw` in a template, or an item after the first in a list; else ask for approval " +
  "first, or check it in an imported function";

/** NG413: the text contains a key. The message never repeats it. */
export function literalSecret(place: Place, facts: { kind: string }): Diagnostic {
  return diagnostic("NG413", place, `this literal looks like ${facts.kind}`, {
    label: "usable by every reader of this file",
    help: "declare `secret NAME` and set it in the environment; then revoke this key, because it is stored in the file",
  });
}

/** NG601: a call that may hang has no timeout. */
export function callWithoutTimeout(place: Place, facts: { node: string; call: string }): Diagnostic {
  return diagnostic("NG601", place, `\`${facts.node}\` has no timeout of its own`, {
    label: `\`${facts.call}\` may take any amount of time`,
    help: "limit one attempt: `{ timeout 30s }`",
  });
}

/** NG602: retries may repeat an effect. */
export function retriedEffect(place: Place, facts: { node: string; attempts: number; effect: string }): Diagnostic {
  return diagnostic(
    "NG602",
    place,
    `\`${facts.node}\` can take effect up to ${facts.attempts} times: it is retried after ${facts.effect} that may have had its effect`,
    {
      label: `${facts.attempts} attempts`,
      help: "mark it `idempotent` if repeating it does no harm, or remove `tries`",
    },
  );
}

/** NG603: resuming the run repeats an effect. */
export function effectBeforePause(place: Place, facts: { node: string; call: string }): Diagnostic {
  return diagnostic(
    "NG603",
    place,
    `\`${facts.call}\` in \`${facts.node}\` has an effect before it pauses, and runs again after the answer`,
    {
      label: "happens twice",
      help: "split the effect and the pause into two nodes",
    },
  );
}

/** NG604: an outer timeout ends before the retries do. */
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

/** NG607: a failure of these nodes fails the run. */
export function failureUnhandled(place: Place, facts: { nodes: readonly string[] }): Diagnostic {
  const [first = ""] = facts.nodes;
  return diagnostic("NG607", place, `a failure of ${list(facts.nodes, "or")} fails the run`, {
    label: "can fail",
    help: `to handle it: \`${first} -> … on error\``,
  });
}
