/** Names and structure: declarations, imports, calls and edges. */
import { diagnostic, type Diagnostic, type Fix, type Label, type Place } from "../diagnostic.ts";
import { listNames } from "../similar.ts";
import type { Span } from "../source.ts";

function rename(span: Span, to: string | undefined): readonly Fix[] {
  return to === undefined ? [] : [{ title: `rename to \`${to}\``, edits: [{ span, text: to }] }];
}

/** What the ends of a graph are called elsewhere. */
const ENDS: ReadonlySet<string> = new Set([
  "begin",
  "entry",
  "init",
  "root",
  "finish",
  "done",
  "exit",
  "stop",
  "END",
  "START",
  "__start__",
  "__end__",
]);

/** NG101: an edge, assertion or policy names a node that the graph does not have. */
export function unknownNode(
  place: Place,
  facts: { name: string; similar?: string | undefined; known: readonly string[]; isChannel?: boolean },
): Diagnostic {
  const { name, similar, known } = facts;
  const help =
    facts.isChannel === true
      ? `\`${name}\` is a channel: edges lead to the nodes that read or write it`
      : similar !== undefined
        ? `a node with a similar name exists: \`${similar}\``
        : ENDS.has(name)
          ? `a graph begins at \`start\`, and ends at \`end\``
          : known.length === 0
            ? `declare it: \`node ${name} = …\``
            : `the nodes are ${listNames(known)}`;
  return diagnostic("NG101", place, `unknown node \`${name}\``, {
    label: "no node has this name",
    help,
    fixes: rename(place.span, similar),
  });
}

/** NG101: a test sends a signal that no node receives. */
export function unknownSignal(
  place: Place,
  facts: { name: string; similar?: string | undefined; known: readonly string[] },
): Diagnostic {
  const { name, similar, known } = facts;
  const help =
    similar !== undefined
      ? `a signal with a similar name exists: \`${similar}\``
      : known.length === 0
        ? `a node receives it with \`receive("${name}")\``
        : `the signals are ${listNames(known)}`;
  return diagnostic("NG101", place, `unknown signal \`${name}\``, { label: "no node receives this signal", help });
}

/** NG102: two declarations share a name. */
export function duplicateName(place: Place, facts: { name: string; what: string; first: Place }): Diagnostic {
  return diagnostic("NG102", place, `\`${facts.name}\` is declared twice`, {
    label: "declared again",
    labels: [{ ...facts.first, message: `first declared here, as ${facts.what}` }],
    help: "rename one of them",
  });
}

/** NG102: a record or record type has a field twice. */
export function duplicateField(place: Place, facts: { name: string; first: Place }): Diagnostic {
  return diagnostic("NG102", place, `the field \`${facts.name}\` is given twice`, {
    label: "given again",
    labels: [{ ...facts.first, message: "first given here" }],
    help: "remove one of them",
  });
}

/** NG102: a policy, a limit or a name in a list appears twice. */
export function statedTwice(place: Place, facts: { what: string; first: Place }): Diagnostic {
  return diagnostic("NG102", place, `${facts.what} is stated twice`, {
    label: "stated again",
    labels: [{ ...facts.first, message: "first stated here" }],
    help: "keep one of them",
  });
}

/** NG102: `was` or `drop` lists a name that the graph still has. */
export function formerNameInUse(
  place: Place,
  facts: { name: string; word: "was" | "drop"; what: string; declared: Place },
): Diagnostic {
  const { name, word, what } = facts;
  return diagnostic("NG102", place, `\`${name}\` is listed after \`${word}\`, and is still a ${what}`, {
    label: `\`${word}\` lists names that only earlier versions had`,
    labels: [{ ...facts.declared, message: "declared here" }],
    help: `remove \`${name}\` from \`${word}\`, or give the ${what} another name`,
  });
}

/** NG102: one node writes one channel twice, and the channel has no reducer. */
export function writtenTwice(place: Place, facts: { channel: string; first: Place; noun: string }): Diagnostic {
  return diagnostic("NG102", place, `\`${facts.channel}\` is written twice by one ${facts.noun}`, {
    label: "written again",
    labels: [{ ...facts.first, message: "first written here" }],
    help: `keep one of them, or give \`${facts.channel}\` a reducer`,
  });
}

/** NG103: no edge leaves `start`. */
export function noStartEdge(place: Place, facts: { graph: string; first?: string | undefined }): Diagnostic {
  return diagnostic("NG103", place, `nothing starts \`${facts.graph}\`: no edge leaves \`start\``, {
    label: "no `start -> …`",
    help: facts.first === undefined ? "add a node and an edge `start -> …`" : `add \`start -> ${facts.first}\``,
  });
}

/** NG104: an expression or an `into` names a value that does not exist. */
export function unknownChannel(
  place: Place,
  facts: {
    name: string;
    use: "read" | "write";
    similar?: string | undefined;
    known: readonly string[];
    help?: string | undefined;
    fix?: string | undefined;
  },
): Diagnostic {
  const { name, similar, known } = facts;
  return diagnostic("NG104", place, `unknown channel \`${name}\``, {
    label: facts.use === "read" ? "nothing with this name can be read here" : "no channel has this name",
    help:
      facts.help ??
      (similar !== undefined
        ? `a channel with a similar name exists: \`${similar}\``
        : known.length === 0
          ? `declare it: \`state ${name}: …\``
          : facts.use === "write"
            ? `declare it, \`state ${name}: …\`, or write one of ${listNames(known)}`
            : `the channels are ${listNames(known)}`),
    fixes:
      facts.fix === undefined
        ? rename(place.span, similar)
        : [{ title: `replace with ${facts.fix}`, edits: [{ span: place.span, text: facts.fix }] }],
  });
}

/** NG104: `my-state` is a subtraction of two names; the channel is called `my_state`. */
export function kebabRead(place: Place, name: string): Diagnostic {
  const written = name.replaceAll("_", "-");
  return diagnostic("NG104", place, `\`${written}\` is not a name: names have no \`-\``, {
    label: `write \`${name}\``,
    help: `the channel is called \`${name}\`; a subtraction has spaces: \`a - b\``,
    fixes: [{ title: `write \`${name}\``, edits: [{ span: place.span, text: name }] }],
  });
}

/** NG104: `into` names an input. */
export function writesInput(
  place: Place,
  facts: { channel: string; role: "input" | "config"; declared: Place },
): Diagnostic {
  const what = facts.role === "input" ? "an input" : "configuration";
  return diagnostic("NG104", place, `\`${facts.channel}\` is ${what}: nothing may write it`, {
    label: facts.role === "input" ? "inputs are read-only" : "configuration is read-only",
    labels: [{ ...facts.declared, message: `declared as ${what} here` }],
    help: "store the value into a `state` channel",
  });
}

/** NG105: a type that is neither built in, declared nor imported. */
export function unknownType(
  place: Place,
  facts: { name: string; instead?: string | undefined; similar?: string | undefined; known: readonly string[] },
): Diagnostic {
  const { name, instead, similar } = facts;
  return diagnostic("NG105", place, `unknown type \`${name}\``, {
    label: "no type has this name",
    help:
      instead !== undefined
        ? `write ${instead}`
        : similar !== undefined
          ? `a type with a similar name exists: \`${similar}\``
          : `the types are ${listNames(facts.known, 20)}; declare others with \`type ${name} = …\``,
    fixes:
      instead !== undefined && /^`\w+`$/.test(instead)
        ? rename(place.span, instead.slice(1, -1))
        : rename(place.span, similar),
  });
}

/** NG105: a test is for a graph that the file does not declare. */
export function unknownGraph(
  place: Place,
  facts: { name: string; similar?: string | undefined; known: readonly string[] },
): Diagnostic {
  const { name, similar, known } = facts;
  return diagnostic("NG105", place, `unknown graph \`${name}\``, {
    label: "no graph of this file has this name",
    help: graphHelp(similar, known),
    fixes: rename(place.span, similar),
  });
}

/** The graphs of a file, for a name that is none of them. */
export function graphHelp(similar: string | undefined, known: readonly string[]): string {
  if (similar !== undefined) return `a graph with a similar name exists: \`${similar}\``;
  return known.length > 0 ? `the graphs are ${listNames(known)}` : "declare the graph in this file";
}

/** NG105: a name refers to another kind of declaration than the place needs. */
export function wrongSortOfName(
  place: Place,
  facts: { name: string; is: string; expected: string; help?: string; declared?: Place | undefined },
): Diagnostic {
  return diagnostic("NG105", place, `\`${facts.name}\` is ${facts.is}, not ${facts.expected}`, {
    label: `expected ${facts.expected}`,
    labels: facts.declared === undefined ? [] : [{ ...facts.declared, message: "declared here" }],
    help: facts.help,
  });
}

/** NG105: a type contains itself without a list, map or record in between. */
export function typeOfItself(place: Place, name: string): Diagnostic {
  return diagnostic("NG105", place, `the type \`${name}\` contains itself directly`, {
    label: "leads back to itself",
    help: "a type may contain itself inside a list, a map or a record",
  });
}

/** Functions of other languages and frameworks, and the built-in nodes that do the same. */
const BUILTIN_FOR: ReadonlyMap<string, string> = new Map([
  ["fetch", "a request is `http(url)`"],
  ["exec", 'a command is `shell("…")`'],
  ...["env", "getenv", "environ"].map(
    (name) =>
      [name, "a variable of the environment is declared beside the graph, `secret KEY`, and read by its name"] as const,
  ),
  ...["pause", "approve", "approval", "confirm", "human", "human_input", "review"].map(
    (name) => [name, 'a person is asked with `ask("…", choices: ["yes", "no"])`'] as const,
  ),
  ["sh", 'a command is `shell("…")`'],
  ["cmd", 'a command is `shell("…")`'],
  ["command", 'a command is `shell("…")`'],
  ["execute", 'a command is `shell("…")`'],
  ["spawn", 'a command is `shell("…")`'],
  ["system", 'a command is `shell("…")`'],
  ["length", "`len(x)` counts items, fields or characters"],
  ["size", "`len(x)` counts items, fields or characters"],
  ["count", "`len(x)` counts items, fields or characters"],
  ["str", "a template is the text of a value: `` `${n}` ``"],
  ["input", 'a person is asked with `ask("…")`'],
  ["chat", 'a model is called with `llm("…")`'],
  ["generate", 'a model is called with `llm("…")`'],
  ["openai", 'a model is called with `llm("…")`'],
  ["get", "a request is `http(url)`"],
  ["request", "a request is `http(url)`"],
  ["curl", "a request is `http(url)`"],
  ["raise", '`fail("…")` fails'],
  ["throw", '`fail("…")` fails'],
  ["error", '`fail("…")` fails'],
  ["bash", 'a command is `shell("…")`'],
  ["run", 'a command is `shell("…")`; a graph is called by its name'],
  ["prompt", 'a model is called with `llm("…")`, a person with `ask("…")`'],
  ["interrupt", 'a person is asked with `ask("…")`'],
  ["wait", '`sleep(3s)` waits for a time, `receive("name")` for a signal'],
  ["delay", "`sleep(3s)` waits for a time"],
  ["log", "`print(…)` prints a line"],
  ["parallel", "nodes run in parallel when one edge leads to all of them: `start -> a, b`"],
  ["map", "a node runs once for each item: `node a = f(x) for x in xs`"],
]);

/** NG105: the call of a node names a function that does not exist. */
export function unknownFunction(
  place: Place,
  facts: { name: string; similar?: string | undefined; known: readonly string[]; help?: string | undefined },
): Diagnostic {
  const { name, similar } = facts;
  return diagnostic("NG105", place, `unknown function \`${name}\``, {
    label: "neither imported nor built in",
    notes: similar === undefined && facts.known.length > 0 ? [`there are ${listNames(facts.known, 16)}`] : [],
    help:
      similar === undefined
        ? (facts.help ?? BUILTIN_FOR.get(name) ?? `import it: \`import { ${name} } from "./nodes.ts"\``)
        : `a function with a similar name exists: \`${similar}\``,
    fixes: rename(place.span, similar),
  });
}

/** NG105: an imported file does not exist. */
export function missingFile(
  place: Place,
  facts: {
    specifier: string;
    isPath: boolean;
    similar?: string | undefined;
    /** The relative path of the file that the specifier names in a package. */
    inPackage?: string | undefined;
  },
): Diagnostic {
  const { specifier, isPath, similar, inPackage } = facts;
  const meant = similar ?? inPackage;
  const relative = "a graph file is imported by its relative path, not by the name of a package";
  return diagnostic("NG105", place, `no file \`${specifier}\``, {
    label: isPath || similar !== undefined ? "not found, relative to this file" : relative,
    help: helpFor(),
    fixes:
      meant === undefined
        ? []
        : [{ title: `import \`${meant}\``, edits: [{ span: place.span, text: JSON.stringify(meant) }] }],
  });

  function helpFor(): string | undefined {
    if (similar !== undefined) return `a file with a similar name exists: \`${similar}\``;
    if (inPackage !== undefined) return `the package has the file here: \`${inPackage}\``;
    return isPath ? undefined : "write the path from this file, such as `./review.ngraph` or `../shared/review.ngraph`";
  }
}

/** NG105: a specifier that names neither a file of the project nor a package. */
export function forbiddenSpecifier(place: Place, facts: { specifier: string }): Diagnostic {
  const { specifier } = facts;
  const shown = specifier.length > 60 ? `${specifier.slice(0, 60)}…` : specifier;
  const what =
    specifier.trim() === "" ? "an import needs a file or a package" : `\`${shown}\` is neither a file nor a package`;
  return diagnostic("NG105", place, what, {
    label: "cannot be imported",
    help: "write a path that begins with `./` or `../`, or the name of a package; URLs and network paths are refused",
  });
}

/** NG105: an import of the library names a file that it does not have. */
export function missingLibraryFile(place: Place, facts: { specifier: string; known: readonly string[] }): Diagnostic {
  const { specifier, known } = facts;
  const shown = specifier.length > 60 ? `${specifier.slice(0, 60)}…` : specifier;
  return diagnostic("NG105", place, `the library has no \`${shown}\``, {
    label: "not in the library",
    help: `the library has ${known.map((each) => `\`${each}\``).join(", ")}`,
  });
}

/** NG105: an imported file exists but cannot be read. */
export function unreadableFile(place: Place, facts: { specifier: string; why: string }): Diagnostic {
  const { specifier, why } = facts;
  return diagnostic("NG105", place, `cannot read \`${specifier}\`: ${why}`, {
    label: "imported here",
    help: "imports lead to graph files (`.ngraph`, `.yaml`) and to TypeScript or JavaScript modules",
  });
}

/** NG105: an imported module has a syntax error. */
export function brokenModule(place: Place, facts: { specifier: string; message: string; error: Place }): Diagnostic {
  const { specifier, message, error } = facts;
  const { line, column } = error.file.position(error.span.start);
  return diagnostic("NG105", place, `cannot read \`${specifier}\`: syntax error at ${line}:${column}, ${message}`, {
    label: "imported here",
    labels: [{ ...error, message }],
    help: "correct the module: until then, its types are not checked and no run can load it",
  });
}

/** NG105: an imported file has no export of this name. */
export function missingExport(
  place: Place,
  facts: {
    name: string;
    specifier: string;
    similar?: string | undefined;
    /** The importing file uses the name: the fix `search as serch` changes the import alone. */
    isUsed?: boolean;
    exports: readonly string[];
    isGraphFile: boolean;
  },
): Diagnostic {
  const { name, similar, exports } = facts;
  const what = facts.isGraphFile ? "declares" : "exports";
  return diagnostic("NG105", place, `\`${facts.specifier}\` ${what} no \`${name}\``, {
    label: facts.isGraphFile ? "not declared there" : "not exported there",
    help:
      similar !== undefined
        ? `it ${what} a similar name: \`${similar}\``
        : exports.length === 0
          ? `it ${what} nothing`
          : `it ${what} ${listNames(exports)}`,
    fixes: rename(place.span, similar === undefined || facts.isUsed !== true ? similar : `${similar} as ${name}`),
  });
}

/** NG107: a declaration uses a built-in name. */
export function reservedName(
  place: Place,
  facts: { name: string; meaning: string; fix?: Fix | undefined },
): Diagnostic {
  return diagnostic("NG107", place, `\`${facts.name}\` is a reserved name`, {
    label: facts.meaning,
    help: "choose another name",
    fixes: facts.fix === undefined ? [] : [facts.fix],
  });
}

/** NG108: an edge appears twice. */
export function duplicateEdge(place: Place, facts: { from: string; to: string; first: Place }): Diagnostic {
  return diagnostic("NG108", place, `the edge from \`${facts.from}\` to \`${facts.to}\` is stated twice`, {
    label: "no effect: a node signalled twice in a step runs once",
    labels: [{ ...facts.first, message: "first stated here" }],
    help: "remove one of them",
  });
}

/** NG109: `start`, `finally` or `end` at a place that must be a node. */
export function edgeAtBoundary(
  place: Place,
  facts: {
    name: "start" | "finally" | "end" | "rollback";
    use: "target" | "source" | "member" | "error" | "end" | "first" | "late" | "other";
  },
): Diagnostic {
  const { name, use } = facts;
  const wording: Record<typeof use, readonly [message: string, help?: string]> = {
    target: [
      `no edge may lead into \`${name}\``,
      name === "finally"
        ? "the edges of `finally` are taken by themselves when the run has ended: lead this edge to `end`, or remove it"
        : "to start again, lead the edge to the first node",
    ],
    source: [`no edge may leave \`${name}\``, "a node that runs after the end follows `finally`: `finally -> NODE`"],
    first: [
      "no edge may lead from `start` to `rollback`",
      "nothing has run that could be undone: lead the edge to `end`",
    ],
    late: [
      "`rollback` cannot follow `finally`",
      "the run has ended: roll it back before, with an edge of the nodes that follow `start`",
    ],
    member: [`\`${name}\` cannot be a member of a barrier`, "a barrier waits for nodes that run"],
    error: [`\`${name}\` cannot fail`, "put `on error` on the edge of the node that may fail"],
    end: ["an edge from `finally` to `end` has no effect", "lead it to the node that cleans up, or remove it"],
    other: [`\`${name}\` cannot be used here`, "name a node"],
  };
  const [message, help] = wording[use];
  return diagnostic("NG109", place, message, { label: `\`${name}\` is built in`, help });
}

/** NG110: two names look alike. */
export function confusableNames(place: Place, facts: { name: string; other: string; first: Place }): Diagnostic {
  return diagnostic("NG110", place, `\`${facts.name}\` and \`${facts.other}\` are easily confused`, {
    label: "differs only in case, underscores or look-alike characters",
    labels: [{ ...facts.first, message: `\`${facts.other}\` is declared here` }],
    help: "rename one of them",
  });
}

/** NG111: an import or secret that nothing uses. */
export function unusedDeclaration(
  place: Place,
  facts: { name: string; what: "import" | "secret" | "derived name"; fixes: readonly Fix[] },
): Diagnostic {
  return diagnostic("NG111", place, `unused ${facts.what} \`${facts.name}\``, {
    label: facts.what === "derived name" ? "nothing in this graph reads it" : "nothing in this file uses it",
    help: "remove it",
    fixes: facts.fixes,
  });
}

/** NG120: each name reads the next one. The last entry of `cycle` is its first. */
export function definitionCycle(place: Place, cycle: readonly string[]): Diagnostic {
  const [first = ""] = cycle;
  const isAlone = cycle.length === 2;
  return diagnostic(
    "NG120",
    place,
    `\`${first}\` reads itself${isAlone ? "" : ` through ${listNames(cycle.slice(1, -1))}`}`,
    {
      label: cycle.map((name) => `\`${name}\``).join(" reads "),
      help: "a name stands for an expression over other names; a value that changes is a channel: `state x: int = 0`",
    },
  );
}

/** NG408: a constant reads a name that is not a constant, or calls a function that is not in the library. */
export function unknownInConstant(
  place: Place,
  facts: { name: string; isFunction: boolean; similar?: string | undefined },
): Diagnostic {
  const { name, isFunction, similar } = facts;
  return diagnostic("NG408", place, `\`${name}\` is not ${isFunction ? "a library function" : "a constant"}`, {
    label: similar === undefined ? "known only when a graph runs" : "unknown",
    help:
      similar !== undefined
        ? `a constant with a similar name exists: \`${similar}\``
        : isFunction
          ? "a constant is made of literals, other constants and library functions"
          : "an expression over channels is written inside the graph: `derive x = …`",
  });
}

/** NG408: the value of a constant cannot be computed. */
export function notConstantValue(place: Place, facts: { what: string; reason: string }): Diagnostic {
  return diagnostic("NG408", place, `${facts.what} has no value: ${facts.reason}`, {
    label: "cannot be computed",
    help: "write the value itself",
  });
}

/** NG104: `into` names a derived name or a constant. */
export function writesDefinition(
  place: Place,
  facts: { name: string; what: "a derived name" | "a constant"; declared?: Place | undefined },
): Diagnostic {
  const { name, what, declared } = facts;
  return diagnostic("NG104", place, `\`${name}\` is ${what}: nothing may write it`, {
    label: "not a channel",
    labels: declared === undefined ? [] : [{ ...declared, message: "declared here" }],
    help: `write a channel, \`state … : …\`${what === "a constant" ? "" : ", and read it in the derived name"}`,
  });
}

/** NG112: files import each other. The last entry of `cycle` is its first. */
export function importCycle(place: Place, cycle: readonly string[], labels: readonly Label[]): Diagnostic {
  return diagnostic("NG112", place, "files import each other in a cycle", {
    label: "this import closes the cycle",
    labels,
    notes: [`cycle: ${cycle.join(" -> ")}`],
    help: "move what both need into a file of its own",
  });
}

/** NG113: an import that leads out of the project. */
export function importEscapesRoot(
  place: Place,
  facts: { specifier: string; root: string; byLink: boolean; isGraph: boolean },
): Diagnostic {
  return diagnostic("NG113", place, `\`${facts.specifier}\` lies outside the project`, {
    label: facts.byLink ? "a symbolic link leads out of the project root" : "leads out of the project root",
    notes: [`the project root is \`${facts.root}\``],
    help: facts.isGraph
      ? "move the file into the project, or list both packages in `workspaces` of one `package.json` above them"
      : "move the file into the project, or import it as a package",
  });
}

/** NG114: a call lacks required arguments. */
export function missingArguments(
  place: Place,
  facts: {
    callee: string;
    /** The names of the arguments. A list in it: one of them is needed. */
    missing: readonly (string | readonly string[])[];
    declared?: Place | undefined;
    /** The arguments are given by their position. */
    isPositional?: boolean;
  },
): Diagnostic {
  const { callee } = facts;
  const missing = facts.missing.map((each) => (typeof each === "string" ? each : (each[0] ?? "")));
  const others = facts.missing.flatMap((each) => (typeof each === "string" ? [] : each.slice(1)));
  const instead = others.length === 0 ? "" : ` or ${listNames(others)}`;
  return diagnostic("NG114", place, `\`${callee}\` needs ${listNames(missing)}${instead}`, {
    label: missing.length === 1 ? "argument missing" : "arguments missing",
    labels: facts.declared === undefined ? [] : [{ ...facts.declared, message: `\`${callee}\` is declared here` }],
    help: facts.isPositional === true ? undefined : `add ${missing.map((name) => `\`${name}: …\``).join(", ")}`,
  });
}

/** NG114: the callee has no argument of this name. */
export function unknownArgument(
  place: Place,
  facts: {
    callee: string;
    name: string;
    similar?: string | undefined;
    known: readonly string[];
    help?: string | undefined;
  },
): Diagnostic {
  const { callee, name, similar, known } = facts;
  return diagnostic("NG114", place, `\`${callee}\` takes no argument \`${name}\``, {
    label: "unknown argument",
    help:
      facts.help ??
      (similar !== undefined
        ? `an argument with a similar name exists: \`${similar}\``
        : known.length === 0
          ? "it takes none"
          : `it takes ${listNames(known, 12)}`),
    fixes: rename(place.span, similar),
  });
}

/** NG114: an argument appears twice, by name, or by position and by name. */
export function repeatedArgument(place: Place, facts: { callee: string; name: string; first: Place }): Diagnostic {
  return diagnostic("NG114", place, `\`${facts.name}\` of \`${facts.callee}\` is given twice`, {
    label: "given again",
    labels: [{ ...facts.first, message: "first given here" }],
    help: "remove one of them",
  });
}

/** NG114: an argument does not belong to the form of the call that another argument selects. */
export function argumentOfOtherForm(
  place: Place,
  facts: { callee: string; name: string; selected: string; first: Place; isForm: boolean },
): Diagnostic {
  const { callee, name, selected, first, isForm } = facts;
  return diagnostic("NG114", place, `\`${callee}\` with \`${selected}\` does not take \`${name}\``, {
    label: "does not belong to this call",
    labels: [{ ...first, message: `\`${selected}\` is given here` }],
    help: isForm ? `use a node of its own for \`${name}\`` : `remove \`${name}\``,
  });
}

/** NG114: more positional arguments than there are parameters. */
export function tooManyArguments(
  place: Place,
  facts: { callee: string; known: readonly string[]; declared?: Place | undefined },
): Diagnostic {
  const count = facts.known.length;
  return diagnostic("NG114", place, `\`${facts.callee}\` takes ${count === 1 ? "1 argument" : `${count} arguments`}`, {
    label: "one too many",
    labels:
      facts.declared === undefined ? [] : [{ ...facts.declared, message: `\`${facts.callee}\` is declared here` }],
    help: count === 0 ? undefined : `it takes ${listNames(facts.known, 12)}`,
  });
}

/** NG114: a positional argument of a graph. The inputs of a graph have no order. */
export function positionalGraphArgument(
  place: Place,
  facts: { callee: string; inputs: readonly string[]; text: string },
): Diagnostic {
  const { callee, inputs } = facts;
  const only = inputs.length === 1 ? inputs[0] : undefined;
  return diagnostic("NG114", place, `arguments of the graph \`${callee}\` must be named`, {
    label: "missing the name of an input",
    help: `write \`${only ?? "name"}: ${facts.text}\`${inputs.length > 1 ? `; its inputs are ${listNames(inputs)}` : ""}`,
    fixes:
      only === undefined
        ? []
        : [
            {
              title: `name it \`${only}\``,
              edits: [{ span: { start: place.span.start, end: place.span.start }, text: `${only}: ` }],
            },
          ],
  });
}

/** NG114: positional and named arguments of one imported function. */
export function mixedArguments(place: Place, callee: string): Diagnostic {
  return diagnostic("NG114", place, `\`${callee}\` is called with positional and named arguments`, {
    label: "named, beside positional ones",
    help: "named arguments become one object: name all of them or none, or write the object: `{ … }`",
  });
}

/** NG115: the code of a node jumps to a node that its `goes` does not list. */
export function undeclaredJump(
  place: Place,
  facts: { node: string; target: string; callee: string; module: string; declared: readonly string[] },
): Diagnostic {
  const { node, target } = facts;
  const all = [...facts.declared, target].join(", ");
  return diagnostic("NG115", place, `\`${node}\` may jump to \`${target}\`, which its \`goes\` does not list`, {
    label: `\`${facts.callee}\` in \`${facts.module}\` jumps there`,
    help: `declare it: \`{ goes ${all} }\``,
  });
}

/** NG116: graphs or plans call each other. The last entry of `cycle` is its first. */
export function callCycle(
  place: Place,
  cycle: readonly string[],
  labels: readonly Label[],
  what: "graph" | "plan" = "graph",
): Diagnostic {
  const own = cycle.length === 2;
  return diagnostic(
    "NG116",
    place,
    own ? `\`${cycle[0] ?? ""}\` calls itself` : `${what}s call each other in a cycle`,
    {
      label: own
        ? `a ${what} cannot be a ${what === "plan" ? "task" : "node"} of itself`
        : "this call closes the cycle",
      labels,
      notes: own ? [] : [`cycle: ${cycle.join(" -> ")}`],
      help: what === "plan" ? "put the tasks of both into one plan" : "use a loop inside one graph",
    },
  );
}

/** NG117: valid syntax without a meaning at this place. */
export function notSupported(place: Place, facts: { what: string; help?: string | undefined }): Diagnostic {
  return diagnostic("NG117", place, `${facts.what} not supported`, {
    label: "refused, because it would have no effect",
    help: facts.help,
  });
}
