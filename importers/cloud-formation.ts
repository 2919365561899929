/** Templates of CloudFormation and SAM: they are not imported, but they may have state machines, which are. */
import { isObject, type JsonValue } from "./imported.ts";

const MACHINES: ReadonlySet<unknown> = new Set(["AWS::Serverless::StateMachine", "AWS::StepFunctions::StateMachine"]);

/** Where a template has its state machines; `undefined` for a document that is no template. */
export function helpForTemplate(value: JsonValue): string | undefined {
  if (!isObject(value)) return undefined;
  const resources = value["Resources"];
  if (!isObject(resources)) return undefined;
  const machines = Object.entries(resources).flatMap(([name, resource]): readonly string[] => {
    if (!isObject(resource) || !MACHINES.has(resource["Type"])) return [];
    const properties = resource["Properties"];
    if (!isObject(properties)) return [];
    const uri = properties["DefinitionUri"];
    if (typeof uri === "string") return [`the file ${uri}`];
    return ["Definition", "DefinitionString"].flatMap((key) =>
      key in properties ? [`$.Resources.${name}.Properties.${key}`] : [],
    );
  });
  const [first] = machines;
  if (first === undefined) return "it has no state machine with a definition, which could be imported";
  const more = machines.length === 1 ? "" : `, and ${machines.length - 1} more`;
  const own = first.startsWith("$") ? "write it to a file of its own" : "import that file";
  return `its state machine is ${first}${more}: ${own}`;
}
