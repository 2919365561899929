/** Commands of `shell`: values that become text of a command. */
import { diagnostic, type Diagnostic, type Place } from "../diagnostic.ts";

/** NG414: the whole command is a value, which the shell would run as code. */
export function commandFromValue(place: Place, facts: { text: string }): Diagnostic {
  const { text } = facts;
  return diagnostic("NG414", place, "a value is used as a command", {
    label: "the shell would run this text",
    help: 'write a template, whose values are quoted: `` `git checkout ${branch}` ``, or a list without a shell: `["git", "checkout", branch]`; `raw(…)` runs the text as it is',
    fixes: [{ title: "run the text as it is, with `raw(…)`", edits: [{ span: place.span, text: `raw(${text})` }] }],
  });
}

/** NG415: no quoting makes a value literal at this place. */
export function unquotableValue(place: Place, facts: { where: string; text: string }): Diagnostic {
  const { where } = facts;
  return diagnostic("NG415", place, `a value ${where} of a command cannot be quoted`, {
    label: "the shell would interpret it",
    help: UNQUOTABLE_HELP.get(where) ?? 'pass it as a variable, `env: { NAME: value }`, and read it as `"$NAME"`',
  });
}

const UNQUOTABLE_HELP: ReadonlyMap<string, string> = new Map([
  ["after a backslash", "a backslash in the command is written `\\\\`, twice in a template: remove it, or escape it"],
  ["after a `$`", "for a `$` before the value write `\\\\$`; remove it if it is a mistake"],
  ["in backticks", "write `$(…)` in place of the backticks"],
  ["in a here-document", "pass the text with `input:` in place of `<<`"],
]);

/** NG415: a list would become several words inside of one. */
export function listInWord(place: Place, facts: { what: string; quotes: "plain" | "double" | "single" }): Diagnostic {
  return diagnostic("NG415", place, `${facts.what} is a list, which becomes several words`, {
    label: facts.quotes === "plain" ? "is only a part of a word here" : "stands in quotes, which make one word",
    help:
      facts.quotes === "plain"
        ? "separate it by spaces, or repeat the whole word: `${[`--file=${x}` for x in xs]}`"
        : 'remove the quotes: each item is quoted; for one word join them: `${join(xs, " ")}`',
  });
}

/** NG510: `raw` has one argument. */
export function rawArguments(place: Place): Diagnostic {
  return diagnostic("NG510", place, "`raw(text)` takes 1 argument", {
    label: "marks one text as a command",
    help: "write `raw(text)`",
  });
}
