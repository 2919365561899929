/**
 * One state machine as one graph. A machine has one state at a time, whose output is the input of the next: here it is the channel
 * `data`. Branches of a Parallel and items of a Map are called graphs.
 */
import { comment, ImportError, isObject, Names, type Source } from "../imported.ts";
import type { FileText } from "./file-text.ts";
import { Unsaid } from "./said.ts";
import type { Shape } from "./shape.ts";

export type Query = "JSONPath" | "JSONata";

/** What a machine inside of another one takes from it. */
export interface Outer {
  readonly depth: number;
  readonly query: Query;
  /** The type of the data, if the input of the machine has it. */
  readonly shape?: Shape | undefined;
  readonly isTyped: boolean;
  /** Whether the machine around has the variable. */
  readonly hasVariable: (name: string) => boolean;
}

export interface WrittenMachine {
  readonly graph: string;
  /** Variables of the machine around that the graph takes as inputs: their names in the source, and in the graph. */
  readonly captured: ReadonlyMap<string, string>;
}

/** A state with the names of its nodes. */
export interface State {
  readonly name: string;
  readonly source: Source;
  readonly type: string;
  readonly node: string;
}

const TYPES: ReadonlySet<string> = new Set(["Task", "Pass", "Choice", "Wait", "Succeed", "Fail", "Parallel", "Map"]);

export class Machine {
  readonly file: FileText;
  readonly local = new Names(["data", "input", "item", "index", "begin", "at", "put", "time", "raise", "kindOf"]);
  readonly states = new Map<string, State>();
  readonly shape: Shape;
  readonly isTyped: boolean;
  readonly query: Query;
  readonly outer: Outer | undefined;
  readonly captured = new Map<string, string>();
  readonly channels: string[] = [];
  readonly nodes: string[] = [];
  readonly edges: string[] = [];
  readonly #variables: Map<string, string>;
  #notes: string[] = [];

  constructor(source: Source, file: FileText, outer: Outer | undefined) {
    this.file = file;
    this.outer = outer;
    const query = source.field("QueryLanguage").value ?? outer?.query ?? "JSONPath";
    if (query !== "JSONPath" && query !== "JSONata") throw source.field("QueryLanguage").wrong("JSONPath or JSONata");
    this.query = query;
    for (const [name, state] of source.field("States").entries()) {
      const type = state.field("Type").text();
      if (!TYPES.has(type)) throw new ImportError(state.field("Type").at, `\`${type}\` is not a type of a state`);
      this.states.set(name, { name, source: state, type, node: this.local.of("node", name) });
    }
    this.#variables = new Map();
    for (const { source: state } of this.states.values())
      for (const name of assignedIn(state)) this.#variables.set(name, this.local.of("variable", name));
    for (const channel of this.#variables.values()) this.channels.push(`  state ${channel}: json = null`);
    this.shape = outer?.shape ?? file.shapeAt(source.at);
    this.isTyped =
      (outer?.isTyped ?? true) &&
      this.shape.isRecord &&
      ![...this.states.values()].some((state) => yieldsOther(state, this.queryOf(state)));
  }

  queryOf(state: State): Query {
    const own = state.source.field("QueryLanguage");
    if (own.value === undefined) return this.query;
    if (own.value !== "JSONPath" && own.value !== "JSONata") throw own.wrong("JSONPath or JSONata");
    return own.value;
  }

  hasVariable(name: string): boolean {
    return this.#variables.has(name) || this.outer?.hasVariable(name) === true;
  }

  /** The channel of a variable. @throws Unsaid */
  variable(name: string): string {
    const own = this.#variables.get(name) ?? this.captured.get(name);
    if (own !== undefined) return own;
    if (this.outer?.hasVariable(name) !== true) throw new Unsaid(`no state assigns the variable \`$${name}\``);
    const channel = this.local.of("variable", name);
    this.captured.set(name, channel);
    return channel;
  }

  /** Records a change. Its comment stands above the next node or edge. */
  change(at: string, message: string): void {
    this.#notes.push(comment(this.file.changes.add(at, message), "//", "  "));
  }

  say(text: string): void {
    this.#notes.push(comment(text, "///", "  "));
  }

  node(text: string): void {
    this.nodes.push(...this.#taken(), `  node ${text}`);
  }

  edge(text: string): void {
    this.edges.push(...this.#taken(), `  ${text}`);
  }

  #taken(): string[] {
    const notes = this.#notes;
    this.#notes = [];
    // Documentation stands directly above its declaration.
    return [...notes.filter((note) => !note.startsWith("  ///")), ...notes.filter((note) => note.startsWith("  ///"))];
  }

  get restOfNotes(): string[] {
    return this.#taken();
  }

  state(name: Source): State {
    const found = this.states.get(name.text());
    if (found === undefined) throw new ImportError(name.at, `\`${name.text()}\` is not a state of this machine`);
    return found;
  }
}

function assignedIn(state: Source): string[] {
  const from = (source: Source): string[] =>
    source
      .field("Assign")
      .entries()
      .map(([name]) => (name.endsWith(".$") ? name.slice(0, -2) : name));
  return [
    ...from(state),
    ...state.field("Choices").items().flatMap(from),
    ...state.field("Catch").items().flatMap(from),
  ];
}

/** States whose results have unknown types. */
const REPLACING: ReadonlySet<string> = new Set(["Task", "Map", "Parallel"]);

/** Whether the output of a state may be another value than a record. */
function yieldsOther({ source, type }: State, query: Query): boolean {
  const output = source.field("Output");
  if (query === "JSONata") {
    if (output.isPresent) return !isObject(output.value);
    return REPLACING.has(type);
  }
  for (const field of ["InputPath", "OutputPath"]) {
    const { value } = source.field(field);
    const hasNewInput =
      field === "InputPath" &&
      (source.field("Parameters").isPresent || !["Pass", "Choice", "Wait", "Succeed"].includes(type));
    if (typeof value === "string" && value !== "$" && !hasNewInput) return true;
  }
  const replaces = (source.field("ResultPath").value ?? "$") === "$" && source.field("ResultPath").value !== null;
  if (!replaces || source.field("ResultSelector").isPresent) return false;
  if (REPLACING.has(type)) return true;
  const result = source.field("Result");
  return type === "Pass" && result.isPresent && !isObject(result.value);
}
