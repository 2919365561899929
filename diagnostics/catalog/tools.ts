/** Tools of models. */
import { diagnostic, type Diagnostic, type Place } from "../diagnostic.ts";
import { listNames } from "../similar.ts";

/** NG105: an item of `tools` or `approve` is not a name. */
export function notATool(place: Place, facts: { parameter: string }): Diagnostic {
  return diagnostic("NG105", place, `\`${facts.parameter}\` takes a list of imported functions and graphs`, {
    label: "not the name of a function or graph",
    help: `write the names: \`${facts.parameter}: [search, refund]\``,
  });
}

/** NG105: `approve` names a function that is not one of the tools. */
export function unknownTool(place: Place, { name }: { name: string }): Diagnostic {
  return diagnostic("NG105", place, `\`${name}\` is not one of the tools of this call`, {
    label: "not in `tools`",
    help: `add it: \`tools: [${name}]\``,
  });
}

/** NG105: a graph with memory as a tool. Each call has its own place in the thread, so nothing would be remembered. */
export function toolWithMemory(place: Place, facts: { name: string; graph: string; channel: string }): Diagnostic {
  return diagnostic("NG105", place, `the graph \`${facts.name}\` cannot be a tool: it has memory`, {
    label: `\`memory ${facts.channel}\` of \`${facts.graph}\``,
    help: "a call of a tool keeps no memory: make it an input, or keep items with the built-in node `memory`",
  });
}

/** NG105: the module does not declare the parameters of a tool. */
export function missingSignature(place: Place, facts: { name: string; module: string }): Diagnostic {
  return diagnostic("NG105", place, `the parameters of the tool \`${facts.name}\` are not known`, {
    label: "a model needs their names and types",
    help: `declare \`${facts.name}\` as a function with types in ${JSON.stringify(facts.module)}`,
  });
}

/** NG105: a lock file of MCP tools cannot be used. */
export function brokenToolLock(
  place: Place,
  { path, problem, isNewer }: { path: string; problem: string; isNewer: boolean },
): Diagnostic {
  return diagnostic("NG105", place, `the tools of MCP servers cannot be read from ${path}: ${problem}`, {
    label: "cannot be checked",
    help: isNewer
      ? "a later version of ngraph has written it: update ngraph"
      : "write the file again: `ngc tools sync`",
  });
}

/** NG408 as a warning: an argument that the schema of a tool does not name, where the schema says nothing about others. */
export function unstatedToolArgument(
  place: Place,
  facts: { server: string; tool: string; argument: string; similar: string | undefined; known: readonly string[] },
): Diagnostic {
  const { server, tool, argument, similar, known } = facts;
  return diagnostic(
    "NG408",
    place,
    `the tool ${quoted(tool)} of ${quoted(server)} does not name the argument \`${argument}\``,
    {
      severity: "warning",
      label: "the server may ignore it",
      help:
        similar === undefined
          ? `it names ${listNames(known)}`
          : `an argument with a similar name exists: \`${similar}\``,
    },
  );
}

/** NG105 as a warning: the lock file does not have a server. `ngraph.json` may have it. */
export function unknownServer(
  place: Place,
  facts: { server: string; path: string; similar: string | undefined; known: readonly string[] },
): Diagnostic {
  const { server, path, similar, known } = facts;
  return diagnostic("NG105", place, `${path} has no tools of an MCP server ${quoted(server)}`, {
    severity: "warning",
    label: "not checked",
    help:
      similar === undefined
        ? `\`ngc tools sync\` writes the tools of the servers in ngraph.json${known.length === 0 ? "" : ` (now: ${listNames(known)})`}`
        : `a server with a similar name exists: ${quoted(similar)}`,
  });
}

/** NG105: an MCP server has no tool with the name. */
export function unknownServerTool(
  place: Place,
  facts: { server: string; tool: string; path: string; similar: string | undefined; known: readonly string[] },
): Diagnostic {
  const { server, tool, path, similar, known } = facts;
  const tools = known.length === 0 ? "it has none" : `it has ${listNames(known)}`;
  return diagnostic("NG105", place, `the MCP server ${quoted(server)} has no tool ${quoted(tool)}`, {
    label: "not one of its tools",
    notes: [`${path} states the tools. \`ngc tools sync\` reads them again`],
    help: similar === undefined ? tools : `a tool with a similar name exists: ${quoted(similar)}`,
  });
}

/** NG114: a call of an MCP tool without arguments that the tool needs. */
export function missingToolArguments(
  place: Place,
  facts: { server: string; tool: string; missing: readonly string[] },
): Diagnostic {
  const { server, tool, missing } = facts;
  return diagnostic(
    "NG114",
    place,
    `the tool ${quoted(tool)} of the MCP server ${quoted(server)} needs ${listNames(missing)}`,
    {
      label: "missing here",
      help: `add them: \`arguments: { ${missing.slice(0, 3).join(", ")}${missing.length > 3 ? ", …" : ""} }\``,
    },
  );
}

/** A name of another program, which may have any characters. */
function quoted(name: string): string {
  return `\`${name}\``;
}
