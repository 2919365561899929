/** The parts of an imported file that its graphs share: names, functions and stubs. */
import { Changes, comment, Names, quoted } from "../imported.ts";
import type { Helper } from "./said.ts";
import { Shape } from "./shape.ts";

interface FileFunction {
  readonly name: string;
  readonly isExpression: boolean;
  readonly notes: readonly string[];
}

export class FileText {
  readonly globals = new Names(HELPERS);
  readonly changes = new Changes();
  readonly graphs: string[] = [];
  readonly types: string[] = [];
  /** Of each machine, by its place: the types are known after the first pass. */
  readonly #shapes: Map<string, Shape>;
  readonly #functions = new Map<string, FileFunction>();
  readonly #helpers = new Set<Helper>();
  readonly #typeNames = new Map<Shape, string>();

  constructor(shapes: Map<string, Shape>) {
    this.#shapes = shapes;
  }

  shapeAt(place: string): Shape {
    const shape = this.#shapes.get(place) ?? new Shape();
    this.#shapes.set(place, shape);
    return shape;
  }

  /** The name of the type of a machine's data. */
  typeOf(shape: Shape, graph: string): string {
    const known = this.#typeNames.get(shape);
    if (known !== undefined) return known;
    const name = this.globals.fresh(`${graph[0]!.toUpperCase()}${graph.slice(1)}Data`);
    this.#typeNames.set(shape, name);
    this.types.push(`type ${name} = ${shape.type}`);
    return name;
  }

  helper(name: Helper): string {
    this.#helpers.add(name);
    return name;
  }

  /** The function of a task. Tasks with the same resource share it. */
  task(resource: string, note: string): string {
    const name = this.globals.of("function", resource);
    if (!this.#functions.has(name)) this.#functions.set(name, { name, isExpression: false, notes: [note] });
    return name;
  }

  /** A function for an expression that the language cannot say. */
  expression(wish: string, notes: readonly string[]): string {
    const name = this.globals.fresh(wish);
    this.#functions.set(name, { name, isExpression: true, notes });
    return name;
  }

  text(module: string, header: readonly string[]): string {
    const functions = [...this.#functions.keys(), ...[...this.#helpers].sort()];
    const imports = functions.length === 0 ? "" : `import { ${functions.join(", ")} } from ${quoted(module)}`;
    return `${[header.map((line) => comment(line)).join("\n"), imports, this.types.join("\n"), ...this.graphs]
      .filter((part) => part !== "")
      .join("\n\n")}\n`;
  }

  stubs(): string | undefined {
    if (this.#functions.size + this.#helpers.size === 0) return undefined;
    const bodies = [...this.#functions.values()].map(({ name, isExpression, notes }) => {
      const missing = `throw new Error(${quoted(`${name} is not written yet`)});`;
      const head = notes.map((note) => comment(note)).join("\n");
      return isExpression
        ? `${head}\nexport function ${name}(names: Record<string, unknown>): any {\n  ${missing}\n}`
        : `${head}\nexport async function ${name}(input: unknown): Promise<any> {\n  ${missing}\n}`;
    });
    const helpers = [...this.#helpers].sort().map((name) => HELPER_TEXT[name]);
    return `${["// The functions of the graphs: a task receives its input and returns its result.", ...bodies, ...helpers].join("\n\n")}\n`;
  }
}

const HELPERS: readonly Helper[] = ["at", "put", "kindOf", "time", "millisecondsUntil", "raise", "untyped"];

/** The functions that the graphs need beside the tasks, in full. */
const HELPER_TEXT: Readonly<Record<Helper, string>> = {
  at: `/** The value at a path such as \`$.order.items[0]\`; \`null\` if there is none. */
export function at(value: unknown, path: string): any {
  let found: any = value;
  for (const [, field, index, name] of path.matchAll(/\\.([A-Za-z_]\\w*)|\\[(\\d+)\\]|\\[("(?:[^"\\\\]|\\\\.)*")\\]/g)) {
    if (typeof found !== "object" || found === null) return null;
    const key = field ?? index ?? JSON.parse(name!);
    found = Object.hasOwn(found, key) ? found[key] : null;
  }
  return found ?? null;
}`,
  untyped: `/** The value without its type: the run checks that it fits where it is written. */
export function untyped(value: unknown): any {
  return value;
}`,
  put: `/** A copy of the value with another value at a path such as \`$.order.result\`. Fields that are missing are made. */
export function put(value: any, path: string, result: unknown): any {
  const keys = [...path.matchAll(/\\.([A-Za-z_]\\w*)|\\[(\\d+)\\]|\\[("(?:[^"\\\\]|\\\\.)*")\\]/g)].map(
    ([, field, index, name]) => field ?? (index === undefined ? JSON.parse(name!) : Number(index)),
  );
  const replace = (current: any, depth: number): any => {
    if (depth === keys.length) return result;
    const key = keys[depth];
    if (Array.isArray(current) && typeof key === "number") {
      return current.map((item, index) => (index === key ? replace(item, depth + 1) : item));
    }
    const fields = typeof current === "object" && current !== null && !Array.isArray(current) ? current : {};
    const inner = Object.hasOwn(fields, key) ? fields[key] : {};
    return Object.fromEntries([...Object.entries(fields), [String(key), replace(inner, depth + 1)]]);
  };
  return replace(value, 0);
}`,
  kindOf: `/** The kind of a JSON value. */
export function kindOf(value: unknown): "null" | "boolean" | "number" | "string" | "list" | "record" {
  if (value === null || value === undefined) return "null";
  if (Array.isArray(value)) return "list";
  return typeof value === "object" ? "record" : (typeof value as "boolean" | "number" | "string");
}`,
  time: `/** A timestamp as milliseconds, so that timestamps of different zones compare. */
export function time(timestamp: string | null): number {
  const milliseconds = Date.parse(String(timestamp));
  if (Number.isNaN(milliseconds)) throw new Error(\`not a timestamp: \${timestamp}\`);
  return milliseconds;
}`,
  millisecondsUntil: `/** The time from now to a timestamp; 0 if it has passed. */
export function millisecondsUntil(timestamp: string): number {
  const milliseconds = Date.parse(timestamp);
  if (Number.isNaN(milliseconds)) throw new Error(\`not a timestamp: \${timestamp}\`);
  return Math.max(0, milliseconds - Date.now());
}`,
  raise: `/** Fails with the name of an error, which error edges of the calling graph read. */
export function raise(failure: { error: string; cause: string }): never {
  throw Object.assign(new Error(failure.cause), { name: failure.error });
}`,
};
