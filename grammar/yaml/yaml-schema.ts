import { graphForm, headerForm, planForm, testForm } from "./document-forms.ts";
import type { Definitions, JsonSchema } from "./form.ts";

/** The identity of the schema. */
const ID = "urn:ngraph:yaml";

/**
 * The JSON Schema (2020-12) of one YAML document, for editors, generated from the forms of the reader. It checks less
 * than the reader (an expression is a string), and never refuses what the reader accepts.
 */
export function yamlSchema(): JsonSchema {
  const definitions: Definitions = new Map();
  const graph = graphForm.schema(definitions);
  const plan = planForm.schema(definitions);
  const test = testForm.schema(definitions);
  const header = headerForm.schema(definitions);
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $id: ID,
    title: "ngraph",
    description: "A graph, a plan or a test as YAML, or the imports, types and secrets of a file.",
    // `if` selects the schema by key. With `anyOf`, an editor would report a mistake in a graph as a missing plan.
    if: { type: "object", required: ["graph"] },
    // eslint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
    then: graph,
    else: {
      if: { type: "object", required: ["plan"] },
      // eslint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
      then: plan,
      else: {
        if: { type: "object", required: ["test"] },
        // eslint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
        then: test,
        else: { anyOf: [header, { type: "null" }, graph, plan, test] },
      },
    },
    $defs: Object.fromEntries([...definitions].toSorted(([a], [b]) => (a < b ? -1 : 1))),
  };
}
