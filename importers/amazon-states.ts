/** State machines of Amazon States Language, JSON or YAML, with paths (JSONPath) and with JSONata. */
import { isObject, type Imported, type JsonValue, type Source } from "./imported.ts";
import { FileText } from "./asl/file-text.ts";
import { writeMachine } from "./asl/write-machine.ts";
import type { Shape } from "./asl/shape.ts";

export function isAmazonStates(value: JsonValue | undefined): boolean {
  return isObject(value) && "StartAt" in value && "States" in value;
}

/** @throws ImportError */
export function importAmazonStates(source: Source, name: string, module: string): Imported {
  const shapes = new Map<string, Shape>();
  const write = (): FileText => {
    const file = new FileText(shapes);
    writeMachine(source, name, file);
    return file;
  };
  // The first pass finds the fields that the states use, which the types of the second consist of.
  write();
  const file = write();
  const stubs = file.stubs();
  return { text: file.text(module, []), ...(stubs === undefined ? {} : { stubs }), changes: file.changes.list };
}
