/** Counts, durations, flags, words from a list. */
import type { Count, Duration } from "../ast.ts";
import { unitHelp } from "../parser/base-parser.ts";
import { readFragment } from "./fragment-forms.ts";
import { scalarForm, wrongKind, type Form } from "./form.ts";

const DURATION_PATTERN = "^\\s*\\d+(\\.\\d+)?(ms|s|m|h|d)\\s*$";

/** `30s` */
export const durationForm: Form<Duration> = scalarForm(
  "a duration such as `30s`",
  { type: "string", pattern: DURATION_PATTERN },
  (node, reader) => {
    if (typeof node.value === "string")
      return readFragment("duration", node, reader, { help: "the units are `ms` `s` `m` `h` `d`" });
    const help = typeof node.value === "number" ? unitHelp(node.written) : undefined;
    return wrongKind(node, reader, "a duration such as `30s`", help);
  },
);

/** A whole number, not negative. */
export function countForm(expected: string): Form<Count> {
  return scalarForm(expected, { type: "integer", minimum: 0 }, (node, reader) => {
    const { value } = node;
    if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0 || Object.is(value, -0)) {
      return wrongKind(node, reader, expected);
    }
    return { kind: "Count", span: node.span, value };
  });
}

/** A number that is not negative. */
export function amountForm(expected: string): Form<Count> {
  return scalarForm(expected, { type: "number", minimum: 0 }, (node, reader) => {
    const { value } = node;
    if (typeof value !== "number" || !Number.isFinite(value) || value < 0 || Object.is(value, -0)) {
      return wrongKind(node, reader, expected);
    }
    return { kind: "Count", span: node.span, value };
  });
}

/** A boolean. `false` has the meaning of a missing key. */
export const flagForm: Form<boolean> = scalarForm("true", { type: "boolean" }, (node, reader) =>
  typeof node.value === "boolean" ? node.value : wrongKind(node, reader, "true"),
);

/** One of some words. */
export function choiceForm<const W extends string>(words: readonly W[]): Form<W> {
  const expected = words.map((word) => `\`${word}\``).join(" or ");
  return scalarForm(expected, { enum: words }, (node, reader) => {
    const found = words.find((word) => word === node.value);
    return found ?? wrongKind(node, reader, expected);
  });
}
