/** The parts of an imported file that its graphs share: names, functions and stubs. */
import { Changes, comment, Names, quoted } from "../imported.ts";
import { HELPER_TEXT, HELPERS, type Helper } from "./stub-functions.ts";
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
