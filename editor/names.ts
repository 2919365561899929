/**
 * The names of a file: where each is declared and used, and what it means. Reads the syntax tree, so a file with errors has names, too, and
 * both spellings give the same.
 */
import type { Span } from "../diagnostics/source.ts";
import type * as Ast from "../grammar/ast.ts";
import { toolNamesIn } from "../compiler/bind/bind-tools.ts";
import { axesOf } from "../grammar/matrix-axes.ts";

export type NameKind =
  | "function"
  | "graph"
  | "plan"
  | "type"
  | "constant"
  | "secret"
  | "channel"
  | "derived"
  | "node"
  | "task"
  | "pool"
  | "variable"
  | "builtin"
  | "library";

/** One place of a name. */
export interface NameUse {
  readonly name: string;
  readonly span: Span;
  readonly kind: NameKind;
  readonly role: "declaration" | "import" | "read" | "write" | "call" | "target";
  /** What the name means: equal for all places that mean the same, in all files. */
  readonly target: string;
  /**
   * `{ reply }` is short for `{ reply: reply }`. `field`: this place is the part before the colon, `value`: the part behind it. A new name needs
   * the long form.
   */
  readonly short?: "field" | "value";
  /** `{ reply: text }` and `f as draft` are one name where both parts have the same: the whole, and the name of the other part. */
  readonly pair?: NamePair;
  /** `into: [reply, score]` of YAML, which has no place for a second name: the whole list, and its names. */
  readonly list?: { readonly span: Span; readonly names: readonly string[] };
}

export interface NamePair {
  readonly span: Span;
  readonly other: string;
}

/** A file that an import names. */
export interface ImportedFile {
  readonly path: string;
  readonly isGraph: boolean;
  /** What a graph file declares under a name; `undefined` if it declares nothing. */
  kindOf(name: string): NameKind | undefined;
}

/** What built-in nodes and functions of the library are called. */
export interface BuiltinNames {
  isNode(name: string): boolean;
  isLibrary(name: string): boolean;
}

/** A graph or plan: the scope of its channels, nodes and tasks. */
interface Unit {
  readonly path: string;
  readonly name: string;
  /** Absent for a unit of another file, whose names are not known here. */
  readonly declaration?: Ast.GraphDecl | Ast.PlanDecl;
  readonly isPlan: boolean;
}

interface Meaning {
  readonly kind: NameKind;
  readonly target: string;
  readonly unit?: Unit;
}

/** How a name is written with another one. */
type Form = Pick<NameUse, "short" | "pair" | "list">;

type Locals = ReadonlyMap<string, string>;
const NO_LOCALS: Locals = new Map();

/** The identity of a name that a file declares outside of its graphs. */
export function fileTarget(path: string, name: string): string {
  return `${path}\n${name}`;
}

/** The identity of a channel, node or task. */
export function unitTarget(path: string, unit: string, space: "channel" | "node" | "pool", name: string): string {
  return `${path}\n${unit}\n${space}\n${name}`;
}

/**
 * All names of a file, in source order.
 *
 * @param imported the file of a specifier; `undefined` for packages and missing files
 */
export function collectNames(
  file: Ast.File,
  path: string,
  imported: (specifier: string) => ImportedFile | undefined,
  builtins: BuiltinNames,
): readonly NameUse[] {
  const collector = new Collector(path, imported, builtins);
  collector.readFile(file);
  return collector.uses.sort((a, b) => a.span.start - b.span.start || a.span.end - b.span.end);
}

class Collector {
  readonly uses: NameUse[] = [];
  readonly #path: string;
  readonly #imported: (specifier: string) => ImportedFile | undefined;
  readonly #builtins: BuiltinNames;
  readonly #file = new Map<string, Meaning>();
  #unit: Unit | undefined;
  /** The text, if it is YAML. */
  #yaml: string | undefined;
  /** Channels and derived names of the unit. */
  #values = new Map<string, NameKind>();
  #steps = new Set<string>();

  constructor(path: string, imported: (specifier: string) => ImportedFile | undefined, builtins: BuiltinNames) {
    this.#path = path;
    this.#imported = imported;
    this.#builtins = builtins;
  }

  readFile(file: Ast.File): void {
    this.#yaml = file.spelling === "yaml" ? file.source.text : undefined;
    for (const item of file.items) this.#declareItem(item);
    for (const item of file.items) this.#item(item);
  }

  #declareItem(item: Ast.Item): void {
    const declare = (name: string, meaning: Meaning): void => {
      if (!this.#file.has(name)) this.#file.set(name, meaning);
    };
    switch (item.kind) {
      case "Import": {
        const from = this.#imported(item.from.value);
        for (const { imported, local, isType } of item.names) {
          if (from?.isGraph === true) {
            const kind = isType ? "type" : (from.kindOf(imported.name) ?? "graph");
            const unit: Unit = { path: from.path, name: imported.name, isPlan: kind === "plan" };
            declare(local.name, {
              kind,
              target: fileTarget(from.path, imported.name),
              ...(kind === "graph" || kind === "plan" ? { unit } : {}),
            });
          } else {
            const module = from?.path ?? item.from.value;
            declare(local.name, { kind: isType ? "type" : "function", target: fileTarget(module, imported.name) });
          }
        }
        break;
      }
      case "Graph":
      case "Plan": {
        const isPlan = item.kind === "Plan";
        const { name } = item.name;
        const unit: Unit = { path: this.#path, name, declaration: item, isPlan };
        declare(name, { kind: isPlan ? "plan" : "graph", target: fileTarget(this.#path, name), unit });
        break;
      }
      case "Type":
      case "Const":
      case "Secret":
        declare(item.name.name, { kind: KINDS[item.kind], target: fileTarget(this.#path, item.name.name) });
        break;
      default:
    }
  }

  #add(
    at: { readonly name: string; readonly span: Span },
    meaning: Meaning,
    role: NameUse["role"],
    form: Form = {},
  ): void {
    if (at.name === "") return;
    const { kind, target } = meaning;
    this.uses.push({ name: at.name, span: at.span, kind, role, target, ...form });
  }

  #item(item: Ast.Item): void {
    switch (item.kind) {
      case "Import":
        for (const { imported, local } of item.names) {
          const meaning = this.#file.get(local.name);
          if (meaning === undefined) continue;
          if (local.span.start === imported.span.start) {
            this.#add(imported, meaning, "import");
            continue;
          }
          // With `as`, the name in this file is another one.
          this.#add(imported, meaning, "import", { pair: pairOf(imported, local, local.name) });
          this.#add(local, meaning, "declaration", { pair: pairOf(imported, local, imported.name) });
        }
        break;
      case "Type":
        this.#ofFile(item.name, "declaration");
        this.#type(item.type);
        break;
      case "Secret":
        this.#ofFile(item.name, "declaration");
        break;
      case "Const":
        this.#ofFile(item.name, "declaration");
        this.#expression(item.value, NO_LOCALS);
        break;
      case "Graph":
      case "Plan":
        this.#ofFile(item.name, "declaration");
        this.#body(item);
        break;
      case "Test":
        this.#test(item);
        break;
      default:
    }
  }

  #ofFile(at: { readonly name: string; readonly span: Span }, role: NameUse["role"]): void {
    const meaning = this.#file.get(at.name);
    if (meaning !== undefined) this.#add(at, meaning, role);
  }

  #enter(unit: Unit | undefined): void {
    this.#unit = unit;
    this.#values = new Map();
    this.#steps = new Set();
    const statements: readonly (Ast.Statement | Ast.PlanStatement)[] = unit?.declaration?.statements ?? [];
    for (const statement of statements) {
      if (statement.kind === "Channel") this.#values.set(statement.name.name, "channel");
      else if (statement.kind === "Derive") this.#values.set(statement.name.name, "derived");
      else if (statement.kind === "Node" || statement.kind === "Task") this.#steps.add(statement.name.name);
    }
  }

  #value(at: { readonly name: string; readonly span: Span }, role: NameUse["role"], form?: Form): void {
    const kind = this.#values.get(at.name);
    const unit = this.#unit;
    if (unit === undefined || (kind === undefined && unit.declaration !== undefined)) return;
    const target = unitTarget(unit.path, unit.name, "channel", at.name);
    this.#add(at, { kind: kind ?? "channel", target }, role, form);
  }

  #step(at: Ast.Identifier, role: NameUse["role"] = "target"): void {
    const unit = this.#unit;
    if (unit === undefined || BOUNDARIES.has(at.name)) return;
    if (unit.declaration !== undefined && !this.#steps.has(at.name)) return;
    const target = unitTarget(unit.path, unit.name, "node", at.name);
    this.#add(at, { kind: unit.isPlan ? "task" : "node", target }, role);
  }

  #pool(at: Ast.Identifier, role: NameUse["role"]): void {
    const unit = this.#unit;
    if (unit === undefined) return;
    this.#add(at, { kind: "pool", target: unitTarget(unit.path, unit.name, "pool", at.name) }, role);
  }

  #body(declaration: Ast.GraphDecl | Ast.PlanDecl): void {
    this.#enter({
      path: this.#path,
      name: declaration.name.name,
      declaration,
      isPlan: declaration.kind === "Plan",
    });
    for (const statement of declaration.statements) this.#statement(statement);
    this.#enter(undefined);
  }

  #statement(statement: Ast.Statement | Ast.PlanStatement): void {
    switch (statement.kind) {
      case "Channel":
        this.#value(statement.name, "declaration");
        this.#type(statement.type);
        if (statement.initial !== undefined) this.#expression(statement.initial, NO_LOCALS);
        if (statement.reducer !== undefined) this.#ofFile(statement.reducer, "call");
        break;
      case "Derive":
        this.#value(statement.name, "declaration");
        this.#expression(statement.value, NO_LOCALS);
        break;
      case "Node": {
        this.#step(statement.name, "declaration");
        const locals = statement.each === undefined ? NO_LOCALS : this.#clause(statement.each, NO_LOCALS);
        this.#call(statement.call, locals, statement.output);
        this.#policies(statement.policies, locals);
        break;
      }
      case "Task": {
        this.#step(statement.name, "declaration");
        let locals = NO_LOCALS;
        for (const { item, list } of statement.each === undefined ? [] : axesOf(statement.each)) {
          this.#expression(list, NO_LOCALS);
          locals = this.#variable(item, locals);
        }
        for (const before of statement.after) this.#step(before);
        if (statement.condition !== undefined) this.#expression(statement.condition, locals);
        this.#call(statement.call, locals, statement.output);
        this.#policies(statement.policies, locals);
        break;
      }
      case "Assert":
        this.#step(statement.node);
        if (statement.other !== undefined) this.#step(statement.other);
        if (statement.condition !== undefined) this.#expression(statement.condition, NO_LOCALS);
        break;
      case "Edge":
        this.#edge(statement);
        break;
      case "PlanPool":
        this.#pool(statement.name, "declaration");
        break;
      default:
    }
  }

  #edge({ source, chain, to }: Ast.EdgeDecl): void {
    const sources =
      source.kind === "NodeList"
        ? source.nodes
        : source.members.flatMap((member) => (member.kind === "AnyOf" ? member.nodes : [member]));
    for (const node of [...sources, ...chain]) this.#step(node);
    switch (to.kind) {
      case "Targets":
        if (to.guard?.kind === "When") this.#expression(to.guard.condition, NO_LOCALS);
        for (const node of to.nodes) this.#step(node);
        break;
      case "MatchValue":
        this.#expression(to.subject, NO_LOCALS);
        for (const arm of to.arms) for (const node of arm.targets) this.#step(node);
        break;
      case "MatchCondition":
        for (const arm of to.arms) {
          if (arm.condition !== undefined) this.#expression(arm.condition, NO_LOCALS);
          for (const node of arm.targets) this.#step(node);
        }
        break;
    }
  }

  #policies(policies: readonly Ast.Policy[], locals: Locals): void {
    for (const policy of policies) {
      switch (policy.kind) {
        case "Waits":
        case "Goes":
          for (const node of policy.nodes) this.#step(node);
          break;
        case "Undo":
          this.#expression(policy.call, locals);
          break;
        case "DoneWhen":
          this.#expression(policy.check, locals);
          break;
        case "Cwd":
          this.#expression(policy.path, locals);
          break;
        case "Env":
          this.#expression(policy.values, locals);
          break;
        case "Pool":
          this.#pool(policy.name, "target");
          break;
        default:
      }
    }
  }

  /** The call of a node, with the channels that it writes. */
  #call(call: Ast.Expr, locals: Locals, output: Ast.Output | undefined): void {
    this.#expression(call, locals);
    if (output === undefined) return;
    if (output.kind === "ChannelOutput") return this.#value(output.channel, "write");
    const called = call.kind === "Call" ? this.#file.get(call.callee.name)?.unit : undefined;
    const first = this.#yaml?.[output.span.start] ?? "";
    // A map of YAML has both names; the text of an output in quotes may be short.
    const canBeShort = this.#yaml === undefined || /["']/.test(this.#yaml[output.span.start - 1] ?? "");
    const names = output.fields.map(({ field }) => field.name);
    const list = first === "[" || first === "-" ? { list: { span: output.span, names } } : {};
    for (const { field, channel } of output.fields) {
      const isShort = field.span.start === channel.span.start;
      const formOf = (part: "field" | "value", other: string): Form =>
        isShort ? { short: part, ...list } : canBeShort ? { pair: pairOf(field, channel, other) } : {};
      this.#value(channel, "write", formOf("value", field.name));
      if (called !== undefined) {
        const target = unitTarget(called.path, called.name, "channel", field.name);
        this.#add(field, { kind: "channel", target }, "read", formOf("field", channel.name));
      }
    }
  }

  #variable(at: Ast.Identifier, locals: Locals): Locals {
    const target = `${this.#path}\n@${at.span.start}`;
    this.#add(at, { kind: "variable", target }, "declaration");
    return new Map(locals).set(at.name, target);
  }

  #clause(clause: Ast.ForClause, locals: Locals): Locals {
    this.#expression(clause.list, locals);
    let inner = this.#variable(clause.item, locals);
    if (clause.index !== undefined) inner = this.#variable(clause.index, inner);
    if (clause.condition !== undefined) this.#expression(clause.condition, inner);
    return inner;
  }

  #expression(root: Ast.Expr, locals: Locals): void {
    const visit = (part: Ast.Expr): void => this.#expression(part, locals);
    switch (root.kind) {
      case "Template":
        for (const part of root.parts) if (part.kind !== "TemplateText") visit(part);
        break;
      case "List":
        for (const item of root.items) visit(item.kind === "Spread" ? item.value : item);
        break;
      case "Record":
        for (const field of root.fields) {
          if (field.kind === "Spread") visit(field.value);
          else if (field.value.kind === "Name") {
            const isShort = field.value.span.start === field.name.span.start;
            const pair = pairOf(field.name, field.value, field.name.name);
            this.#name(field.value, locals, isShort ? { short: "value" } : { pair });
          } else visit(field.value);
        }
        break;
      case "Comprehension": {
        let inner = locals;
        for (const clause of root.clauses) inner = this.#clause(clause, inner);
        this.#expression(root.value, inner);
        break;
      }
      case "Name":
        this.#name(root, locals);
        break;
      case "Member":
      case "NonNull":
        visit(root.object);
        break;
      case "Index":
        visit(root.object);
        visit(root.index);
        break;
      case "Unary":
        visit(root.operand);
        break;
      case "Binary":
        visit(root.left);
        visit(root.right);
        break;
      case "Conditional":
        visit(root.condition);
        visit(root.then);
        visit(root.otherwise);
        break;
      case "Call":
        this.#called(root, locals);
        break;
      default:
    }
  }

  #name(at: Ast.NameExpr, locals: Locals, form?: Form): void {
    const local = locals.get(at.name);
    if (local !== undefined) return this.#add(at, { kind: "variable", target: local }, "read", form);
    const meaning = this.#file.get(at.name);
    const isOwn = this.#unit !== undefined && (this.#values.has(at.name) || this.#unit.declaration === undefined);
    if (isOwn && (this.#values.has(at.name) || meaning === undefined)) return this.#value(at, "read", form);
    if (meaning !== undefined) this.#add(at, meaning, "read", form);
  }

  #called(call: Ast.CallExpr, locals: Locals): void {
    const { callee, args } = call;
    const meaning = this.#file.get(callee.name);
    // Tools of a model are functions and graphs, also where a channel has the same name.
    const tools = meaning === undefined ? toolNamesIn(call) : [];
    if (meaning !== undefined) this.#add(callee, meaning, "call");
    else if (STEP_CALLS.has(callee.name)) {
      for (const { value } of args) if (value.kind === "Name") this.#step({ ...value, kind: "Identifier" });
      return;
    } else if (this.#builtins.isNode(callee.name))
      this.#add(callee, { kind: "builtin", target: `builtin\n${callee.name}` }, "call");
    else if (this.#builtins.isLibrary(callee.name))
      this.#add(callee, { kind: "library", target: `library\n${callee.name}` }, "call");
    const unit = meaning?.unit;
    for (const { name, value } of args) {
      if (name !== undefined && unit !== undefined) {
        this.#add(name, { kind: "channel", target: unitTarget(unit.path, unit.name, "channel", name.name) }, "write");
      }
      if (tools.length === 0 || value.kind !== "List") this.#expression(value, locals);
      else
        for (const item of value.items) {
          const tool = tools.find((each) => each === item);
          if (tool !== undefined) this.#ofFile(tool, "call");
          else this.#expression(item.kind === "Spread" ? item.value : item, locals);
        }
    }
  }

  #type(type: Ast.TypeExpr): void {
    switch (type.kind) {
      case "NamedType":
        this.#ofFile(type, "read");
        break;
      case "ListType":
        this.#type(type.item);
        break;
      case "MapType":
        this.#type(type.value);
        break;
      case "RecordType":
        for (const field of type.fields) this.#type(field.type);
        break;
      case "UnionType":
        for (const member of type.members) this.#type(member);
        break;
      default:
    }
  }

  #test(test: Ast.TestDecl): void {
    this.#ofFile(test.subject, "read");
    this.#enter(this.#file.get(test.subject.name)?.unit);
    if (test.cases !== undefined) {
      this.#expression(test.cases, NO_LOCALS);
      for (const each of test.cases.kind === "List" ? test.cases.items : []) {
        if (each.kind !== "Record") continue;
        // A field with the name of an input is its value.
        for (const field of each.fields) if (field.kind === "RecordField") this.#value(field.name, "write");
      }
    }
    for (const item of test.items) this.#testItem(item);
    this.#enter(undefined);
  }

  #testItem(item: Ast.TestItem): void {
    const values = (list: readonly Ast.Expr[]): void => {
      for (const value of list) this.#expression(value, NO_LOCALS);
    };
    switch (item.kind) {
      case "Given":
        this.#value(item.channel, "write");
        values([item.value]);
        break;
      case "Mock":
        this.#step(item.node);
        values(item.results);
        break;
      case "MockFails":
      case "ExpectPausedAt":
        this.#step(item.node);
        break;
      case "Answer":
        this.#step(item.node);
        values(item.values);
        break;
      case "Signal":
        values(item.values);
        break;
      case "ExpectRan":
        for (const step of item.steps) for (const node of step) this.#step(node);
        break;
      case "ExpectNeverRan":
      case "ExpectUndone":
        for (const node of item.nodes) this.#step(node);
        break;
      case "Expect":
        values([item.condition]);
        break;
      default:
    }
  }
}

function pairOf({ span: { start } }: Spanned, { span: { end } }: Spanned, other: string): NamePair {
  return { span: { start, end }, other };
}

interface Spanned {
  readonly span: Span;
}

const KINDS = { Type: "type", Const: "constant", Secret: "secret", Graph: "graph", Plan: "plan" } as const;

/** What a file declares outside of its graphs, by name. */
export function kindsOf({ items }: Ast.File): ReadonlyMap<string, NameKind> {
  return new Map(
    items.flatMap((item) =>
      item.kind in KINDS && "name" in item ? [[item.name.name, KINDS[item.kind as keyof typeof KINDS]]] : [],
    ),
  );
}

/** Names of places without a node. */
const BOUNDARIES: ReadonlySet<string> = new Set(["start", "end", "finally", "rollback"]);

/** Functions whose arguments are names of nodes or tasks. */
const STEP_CALLS: ReadonlySet<string> = new Set(["status", "before"]);
