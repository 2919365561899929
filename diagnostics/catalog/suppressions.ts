/** Comments that suppress findings. */
import { diagnostic, type Diagnostic, type Fix, type Place } from "../diagnostic.ts";

const FORM = "`ngraph-ignore NG405: why this is fine`";

/** NG118: the reason is missing. */
export function suppressionWithoutReason(place: Place): Diagnostic {
  return diagnostic("NG118", place, "a suppressed finding needs a reason", {
    label: "no reason given",
    help: `write it behind the codes: ${FORM}`,
  });
}

/** NG118: the comment names no codes. */
export function suppressionWithoutCode(place: Place, facts: { found: string }): Diagnostic {
  return diagnostic(
    "NG118",
    place,
    facts.found === ""
      ? "a suppression must name the codes that it suppresses"
      : `\`${facts.found}\` is not a list of codes`,
    {
      label: "expected codes such as `NG405`",
      help: `write ${FORM}; it applies to its own line or to the next statement`,
    },
  );
}

/** NG118: there is no such code. */
export function suppressionOfUnknownCode(
  place: Place,
  facts: { code: string; similar?: string | undefined },
): Diagnostic {
  const { code, similar } = facts;
  return diagnostic("NG118", place, `there is no code \`${code}\``, {
    label: "not a code",
    help:
      similar === undefined
        ? "`ngc explain CODE` describes each code"
        : `a code with a similar name exists: \`${similar}\``,
    fixes:
      similar === undefined
        ? []
        : [{ title: `rename to \`${similar}\``, edits: [{ span: place.span, text: similar }] }],
  });
}

/** NG118: the finding is an error. */
export function suppressedError(place: Place, facts: { code: string; finding: Place }): Diagnostic {
  return diagnostic("NG118", place, `${facts.code} is an error here: errors cannot be suppressed`, {
    label: "has no effect",
    labels: [{ ...facts.finding, message: `${facts.code} is reported here` }],
    help: "fix what it reports: a graph with errors does not run",
  });
}

/** NG119: no finding of this code is reported there. */
export function unusedSuppression(place: Place, facts: { code: string; fixes: readonly Fix[] }): Diagnostic {
  return diagnostic("NG119", place, `${facts.code} is not reported here: nothing is suppressed`, {
    label: "not needed",
    help: "remove it; a suppression applies to its own line or to the next statement",
    fixes: facts.fixes,
  });
}
