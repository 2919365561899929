/** Data and expressions: reads before writes, and types that do not agree. */
import { diagnostic, type Diagnostic, type Fix, type Label, type Place } from "../diagnostic.ts";
import { listNames } from "../similar.ts";
import type { Span } from "../source.ts";
import { quotedTemplateHelp } from "./quoted-template.ts";

/** NG403: a channel that starts as `null` is read before a write, on all paths or on some. */
export function readBeforeWrite(
  place: Place,
  facts: {
    channel: string;
    reader: string;
    when: "always" | "sometimes" | "no writer";
    type: string;
    declared?: Label;
    help?: string | undefined;
  },
): Diagnostic {
  const { channel, reader, type } = facts;
  const labels = facts.declared === undefined ? [] : [facts.declared];
  if (facts.when === "no writer") {
    return diagnostic("NG403", place, `\`${channel}\` is read, but nothing writes it`, {
      label: "always `null`",
      labels,
      help:
        facts.help ?? `let a node write it with \`into ${channel}\`, or give it a default: \`${channel}: ${type} = …\``,
    });
  }
  if (facts.when === "always") {
    return diagnostic("NG403", place, `\`${channel}\` is read before anything writes it`, {
      label: `nothing has written it before ${reader}`,
      labels,
      help: facts.help ?? `give it a default (\`${channel}: ${type} = …\`), or run a node that writes it first`,
    });
  }
  return diagnostic("NG403", place, `\`${channel}\` may be read before anything writes it`, {
    severity: "warning",
    label: `on some path to ${reader} nothing has written it`,
    labels,
    help: facts.help ?? `give it a default, or allow \`null\`: \`${channel}: ${type} | null\``,
  });
}

/** NG408: a value has the wrong type for its target. */
export function typeMismatch(
  place: Place,
  facts: {
    /** The target of the value: "channel `reply`", "argument `url` of `http`", "the default of `n`". */
    target: string;
    expected: string;
    found: string;
    /** `.author.name`: the part at fault. */
    path?: string;
    reason?: "type" | "null" | "missing" | "optional" | "unknown field";
    help?: string | undefined;
    labels?: readonly Label[];
  },
): Diagnostic {
  const at = facts.path === undefined || facts.path === "" ? "" : ` at \`${facts.path}\``;
  const field = (facts.path ?? "").replace(/^.*\./, "");
  const label =
    facts.reason === "missing"
      ? `field \`${field}\` is missing`
      : facts.reason === "optional"
        ? `field \`${field}\` may be absent`
        : facts.reason === "unknown field"
          ? `no field \`${field}\` is expected`
          : `expected \`${facts.expected}\`, found \`${facts.found}\``;
  return diagnostic("NG408", place, `${facts.target} does not accept this value${at}`, {
    label,
    labels: facts.labels ?? [],
    help: facts.help,
  });
}

/** NG408: a type of TypeScript holds values that JSON cannot represent where a channel needs JSON. */
export function notJsonValue(
  place: Place,
  facts: {
    /** "channel `ticket`". */
    target: string;
    /** "`Ticket`", "the result of `load`". */
    source: string;
    /** Path of the part inside the value: `.author.created`; empty for the whole. */
    path: string;
    /** "a `Date`", "a function". */
    description: string;
    declared?: Place | undefined;
    /** What the target does with the value; "hold" if absent. */
    verb?: "use";
  },
): Diagnostic {
  const { target, source, path, description, declared, verb = "hold" } = facts;
  const isUndefined = description === "`undefined`";
  const part = `${path === "" ? "it" : `\`${path}\``} ${isUndefined ? "can be" : "is"}`;
  return diagnostic("NG408", place, `${target} cannot ${verb} ${source}: ${part} ${description}`, {
    label: `JSON cannot represent ${description}`,
    labels: declared === undefined ? [] : [{ ...declared, message: "declared here" }],
    help: isUndefined
      ? "let the function return a value or `null`, as in `return found ?? null`"
      : description.includes("Date")
        ? "use a string in TypeScript: `date.toISOString()`"
        : "let the function return plain data: strings, numbers, booleans, null, lists and objects of them",
  });
}

/** NG408: a default is not constant. */
export function notConstant(place: Place, channel: string): Diagnostic {
  return diagnostic("NG408", place, `the default of \`${channel}\` is not a constant`, {
    label: "known only when the graph runs",
    help: "write a literal, or let a first node compute it",
  });
}

/** NG408: a value of a test has to be computed. */
export function computedTestValue(place: Place, target: string): Diagnostic {
  return diagnostic("NG408", place, `${target} is not a constant`, {
    label: "has to be computed",
    help: "write a literal, a list or a record of literals",
  });
}

/** NG408: a reducer does not fit the type of the channel. */
export function reducerMismatch(
  place: Place,
  facts: { channel: string; reducer: string; needs: string; found: string; help?: string },
): Diagnostic {
  return diagnostic("NG408", place, `\`reduce ${facts.reducer}\` needs ${facts.needs}`, {
    label: `\`${facts.channel}\` is \`${facts.found}\``,
    help: facts.help,
  });
}

/** NG408: a channel with an imported reducer has no default. */
export function reducerNeedsDefault(place: Place, facts: { channel: string; reducer: string }): Diagnostic {
  return diagnostic("NG408", place, `\`${facts.channel}\` needs a default: \`${facts.reducer}\` starts from it`, {
    label: "an imported reducer takes the current value",
    help: `write \`${facts.channel}: … = … reduce ${facts.reducer}\``,
  });
}

/** NG508: an operand or part has the wrong type. */
export function wrongType(
  place: Place,
  facts: { message: string; label: string; help?: string | undefined; labels?: readonly Label[] },
): Diagnostic {
  return diagnostic("NG508", place, facts.message, {
    label: facts.label,
    help: facts.help,
    labels: facts.labels ?? [],
  });
}

/** NG408: an argument that is a time and no duration. */
export function notDuration(place: Place, facts: { target: string; use: string | undefined }): Diagnostic {
  const { target, use } = facts;
  return diagnostic("NG408", place, `${target} takes a duration`, {
    label: use === undefined ? "is no duration" : `write \`${use}\``,
    help: "a duration is a number from 0 with a unit, without quotes: `500ms`, `30s`, `5m`, `2h`, `3d`",
    fixes: use === undefined ? [] : [{ title: `write \`${use}\``, edits: [{ span: place.span, text: use }] }],
  });
}

/** NG408, a warning: a time without a unit. */
export function plainDuration(place: Place, facts: { target: string; use: string | undefined }): Diagnostic {
  const { target, use = "" } = facts;
  const seconds = `${use.slice(0, -2)}s`;
  return diagnostic("NG408", place, `${target} has no unit: a plain number is milliseconds`, {
    severity: "warning",
    label: `this is \`${use}\``,
    help: `write the unit: \`${use}\` or \`${seconds}\``,
    fixes: [{ title: `write \`${use}\``, edits: [{ span: place.span, text: use }] }],
  });
}

/** NG508: a task whose value is never read is a text or another literal, so that it does nothing. */
export function literalTask(place: Place, facts: { command: string | undefined; what: string }): Diagnostic {
  const { command, what } = facts;
  return diagnostic("NG508", place, `${what} does nothing as a task`, {
    label: command === undefined ? "runs nothing" : "is not run",
    help:
      command === undefined
        ? "call something, `task a = f(x)`, or store the value, `into channel`"
        : `a command is run by \`shell\`: \`${command}\``,
    fixes:
      command === undefined ? [] : [{ title: "run it with `shell`", edits: [{ span: place.span, text: command }] }],
  });
}

/** NG408: `set` before a channel without a reducer. */
export function needlessSet(place: Place, facts: { channel: string; remove: Span | undefined }): Diagnostic {
  const { channel, remove } = facts;
  return diagnostic("NG408", place, `\`${channel}\` has no reducer: every write replaces its value`, {
    label: "`set` is for channels with a reducer",
    help: "delete `set`",
    fixes: remove === undefined ? [] : [{ title: "delete `set`", edits: [{ span: remove, text: "" }] }],
  });
}

/** NG508, a warning: `!` after a value that cannot be null. */
export function needlessNotNull(place: Place, facts: { what: string; type: string }): Diagnostic {
  return diagnostic("NG508", place, `\`!\` has no effect: ${facts.what} is never null`, {
    severity: "warning",
    label: `the value is \`${facts.type}\``,
    fixes: [{ title: "delete `!`", edits: [{ span: place.span, text: "" }] }],
  });
}

/** NG508: the type has no field of this name. */
export function noField(
  place: Place,
  facts: { field: string; type: string; similar?: string | undefined; fields: readonly string[]; help?: string },
): Diagnostic {
  const { field, similar } = facts;
  return diagnostic("NG508", place, `\`${facts.type}\` has no field \`${field}\``, {
    label: "unknown field",
    help:
      facts.help ??
      (similar === undefined
        ? facts.fields.length === 0
          ? undefined
          : `its fields are ${listNames(facts.fields)}`
        : `a field with a similar name exists: \`${similar}\``),
    fixes:
      similar === undefined
        ? []
        : [{ title: `rename to \`${similar}\``, edits: [{ span: place.span, text: similar }] }],
  });
}

/** NG508: the types of both operands have no value in common. */
export function neverEqual(place: Place, facts: { left: string; right: string }): Diagnostic {
  return diagnostic("NG508", place, "these can never be equal", {
    label: `\`${facts.left}\` and \`${facts.right}\` have no value in common`,
  });
}

/** NG509: a value may be `null` where `null` is not allowed. */
export function maybeNull(
  place: Place,
  facts: { what: string; use: string; unwritten?: string | undefined; help?: string | undefined },
): Diagnostic {
  const { unwritten } = facts;
  return diagnostic("NG509", place, `${facts.what} may be null`, {
    label: facts.use,
    notes:
      unwritten === undefined ? [] : [`\`${unwritten}\` starts as \`null\`, and on some path nothing has written it`],
    help:
      facts.help ??
      (unwritten === undefined
        ? `test it first (\`${valueText(facts.what)} != null && …\`), provide a value for that case (\`${valueText(facts.what)} ?? …\`), or let it fail there: \`${valueText(facts.what)}!\``
        : `give \`${unwritten}\` a default, or a value for that case: \`${unwritten} ?? …\``),
  });
}

/** A short operand in source form; `x` for longer ones. */
function valueText(what: string): string {
  const text = /^`([\w.?[\]]{1,30})`$/.exec(what)?.[1];
  return text ?? "x";
}

/** NG510: neither the library nor an import has this function. */
export function unknownExpressionFunction(
  place: Place,
  facts: { name: string; similar?: string | undefined; known: readonly string[]; help?: string | undefined },
): Diagnostic {
  const { name, similar } = facts;
  return diagnostic("NG510", place, `unknown function \`${name}\``, {
    label: "neither imported nor in the library",
    notes: similar === undefined ? [`the library has ${listNames(facts.known, 30)}`] : [],
    help:
      facts.help ??
      (similar === undefined
        ? `import it: \`import { ${name} } from "./nodes.ts"\``
        : `a function with a similar name exists: \`${similar}\``),
    fixes:
      similar === undefined
        ? []
        : [{ title: `rename to \`${similar}\``, edits: [{ span: place.span, text: similar }] }],
  });
}

/** NG510: too few or too many arguments, or named ones. */
export function wrongArity(place: Place, facts: { usage: string; found: number; expected: string }): Diagnostic {
  return diagnostic("NG510", place, `\`${facts.usage}\` takes ${facts.expected}, not ${facts.found}`, {
    label: `${facts.found} given`,
  });
}

/** NG510: a library function has a named argument. */
export function namedLibraryArgument(place: Place, usage: string): Diagnostic {
  return diagnostic("NG510", place, `\`${usage}\` takes its arguments by position`, {
    label: "remove the name",
  });
}

/** NG511: a pattern is invalid, or needs backtracking. */
export function badPattern(place: Place, problem: string): Diagnostic {
  return diagnostic("NG511", place, `unsupported pattern: ${problem}`, {
    label: "patterns run in linear time, so only regular ones are accepted",
  });
}

/** NG511: the pattern is not a literal. */
export function patternNotLiteral(place: Place): Diagnostic {
  return diagnostic("NG511", place, "the pattern of `matches` must be a string literal", {
    label: "not a literal",
    help: "write the pattern here, or use `contains`, `startsWith` or `endsWith`",
  });
}

/** NG512: `==` between floats. */
export function floatEquality(place: Place, operator: string): Diagnostic {
  return diagnostic("NG512", place, `\`${operator}\` between floats depends on rounding`, {
    label: "0.1 + 0.2 is not 0.3",
    help: "compare with a tolerance: `abs(a - b) < 0.001`",
  });
}

/** NG513: a literal is not a value of the enum. */
export function unknownEnumValue(
  place: Place,
  facts: { value: string; similar?: string | undefined; values: readonly string[] },
): Diagnostic {
  const { value, similar } = facts;
  return diagnostic("NG513", place, `\`${value}\` is not one of the possible values`, {
    label: "no such value",
    help:
      similar !== undefined
        ? `a similar value exists: \`${similar}\``
        : facts.values.length > 0
          ? `the values are ${listNames(facts.values)}`
          : undefined,
    fixes:
      similar === undefined
        ? []
        : [{ title: `replace with \`${similar}\``, edits: [{ span: place.span, text: similar }] }],
  });
}

/** NG514: an expression calls something that must run as a node (effects, waiting, retries). */
export function nodeInExpression(place: Place, facts: { name: string; where: "condition" | "argument" }): Diagnostic {
  const { name, where } = facts;
  return diagnostic(
    "NG514",
    place,
    `\`${name}\` runs as a node: ${where === "condition" ? "a condition" : "an argument"} cannot call it`,
    {
      label: where === "condition" ? "conditions are pure" : "only the outermost call of a node may have effects",
      help:
        name === "fail"
          ? 'in an expression, `fail("why")` stands right of `??` or in an arm of `? :`'
          : `make it a node of its own (\`node … = ${name}(…) into …\`) and read the channel here`,
    },
  );
}

/** NG408: an imported reducer returns a promise. */
export function asyncReducer(place: Place, facts: { reducer: string; declared: Place }): Diagnostic {
  const { reducer, declared } = facts;
  return diagnostic("NG408", place, `\`${reducer}\` is async: a reducer must return the value itself`, {
    label: "returns a promise",
    labels: [{ ...declared, message: `\`${reducer}\` is declared here` }],
    help: "do the waiting in a node, and let the reducer only combine two values",
  });
}

/** NG514: an expression calls a function that returns a promise. */
export function asyncInExpression(place: Place, facts: { name: string; declared: Place }): Diagnostic {
  const { name, declared } = facts;
  return diagnostic("NG514", place, `\`${name}\` is async: an expression cannot wait for it`, {
    label: "returns a promise",
    labels: [{ ...declared, message: `\`${name}\` is declared here` }],
    help: `make it a node of its own (\`node … = ${name}(…) into …\`) and read the channel here`,
  });
}

/** NG406: a channel is never read or never written. */
export function unusedChannel(
  place: Place,
  facts: {
    name: string;
    role: "input" | "output" | "state" | "memory" | "config";
    problem: "read" | "written" | "used";
    /** For a name that no text mentions. */
    fixes: readonly Fix[];
  },
): Diagnostic {
  const { name, role, problem } = facts;
  const message =
    problem === "read"
      ? `the ${role} \`${name}\` is never read`
      : problem === "written"
        ? `the output \`${name}\` is never written`
        : `\`${name}\` is neither read nor written`;
  const mention = quotedTemplateHelp(place, name);
  return diagnostic("NG406", place, message, {
    label: `unused ${role}`,
    help:
      problem === "written"
        ? (hiddenOutputHelp(place, name) ?? `let a node write it: \`into ${name}\``)
        : (mention ?? "remove it"),
    fixes: mention === undefined ? facts.fixes : [],
  });
}

/** The help for `x // 2 into o`: a comment hides the `into`. */
function hiddenOutputHelp({ file }: Place, name: string): string | undefined {
  const hidden = new RegExp(String.raw`^[^\n/]*=[^\n/]*//[^\n]*\binto ${name}\b`, "m").test(file.text);
  return hidden
    ? `\`//\` begins a comment, which hides an \`into ${name}\`; numbers are divided with \`/\`, and \`round(x / y)\` is an int`
    : undefined;
}

/** NG406: a state with a default is read, and no node writes it. */
export function constantChannel(place: Place, facts: { name: string }): Diagnostic {
  return diagnostic("NG406", place, `the state \`${facts.name}\` is never written: it always has its default`, {
    label: "constant",
    help: `let a node write it with \`into ${facts.name}\`, or make it a constant of the file: \`const ${facts.name} = …\``,
  });
}

/** NG117: a configuration has a reducer, which combines writes. */
export function reducerOfConfig(place: Place, facts: { config: string }): Diagnostic {
  return diagnostic("NG117", place, `no node writes \`${facts.config}\`: it is configuration`, {
    label: "a reducer has no effect here",
    help: "remove `reduce` and its reducer",
  });
}

/** NG416: two graphs of one run use a name of the configuration for different things. */
export function configConflict(
  place: Place,
  facts: { name: string; what: string; other: string; label: string; help: string; labels: readonly Label[] },
): Diagnostic {
  const { name, what, other } = facts;
  return diagnostic("NG416", place, `a run has one value for \`${name}\`, which is ${what} here and ${other}`, {
    label: facts.label,
    labels: facts.labels,
    help: facts.help,
  });
}

/** NG408: what the TypeScript compiler reports about imported code (`ngc check --types`). */
export function typeScriptProblem(
  place: Place,
  facts: { message: string; what: string | undefined; notes: readonly string[] },
): Diagnostic {
  return diagnostic("NG408", place, `tsc: ${facts.message}`, {
    ...(facts.what === undefined ? {} : { label: facts.what }),
    notes: facts.notes,
  });
}
