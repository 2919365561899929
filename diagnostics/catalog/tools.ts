/** Tools of models. */
import { diagnostic, type Diagnostic, type Place } from "../diagnostic.ts";

/** NG105: an item of `tools` or `approve` is not a name. */
export function notATool(place: Place, facts: { parameter: string }): Diagnostic {
  return diagnostic("NG105", place, `\`${facts.parameter}\` takes a list of imported functions`, {
    label: "not the name of a function",
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

/** NG105: the module does not declare the parameters of a tool. */
export function missingSignature(place: Place, facts: { name: string; module: string }): Diagnostic {
  return diagnostic("NG105", place, `the parameters of the tool \`${facts.name}\` are not known`, {
    label: "a model needs their names and types",
    help: `declare \`${facts.name}\` as a function with types in ${JSON.stringify(facts.module)}`,
  });
}
