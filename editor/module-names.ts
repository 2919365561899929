/** Places of a name in a TypeScript or JavaScript module, by its scopes. Modules are parsed, never run. */
import { parseModule } from "../compiler/modules/parse-module.ts";
import type { Span } from "../diagnostics/source.ts";

/** One place of a name that belongs to the module's own scope: a declaration, an import, an export or a use. */
export interface ModulePlace {
  readonly span: Span;
  /**
   * `plain`: the identifier alone. `short`: `{ f }` in an object or a pattern, which needs `f: g` for another name. `imported`, `exported`, `source`:
   * the part of a specifier that another module knows, where the specifier has two names. `member`: `f` in `all.f`, where `all` is a namespace.
   */
  readonly kind: "plain" | "short" | "imported" | "exported" | "source" | "member";
  /** The module that a specifier or a namespace names. */
  readonly from?: string;
  /** `f: g` of an object or a pattern, which is short where both names are the same. */
  readonly pair?: { readonly span: Span; readonly other: string };
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && typeof (value as { type?: unknown }).type === "string";
}

function childrenOf(node: Node): Node[] {
  const found: Node[] = [];
  for (const [key, value] of Object.entries(node)) {
    if (key === "loc" || key.endsWith("Comments") || key === "extra" || key === "errors") continue;
    for (const each of Array.isArray(value) ? (value as unknown[]) : [value]) if (isNode(each)) found.push(each);
  }
  return found;
}

const FUNCTIONS =
  /^(?:FunctionDeclaration|FunctionExpression|ArrowFunctionExpression|ObjectMethod|Class(?:Private)?Method|TSDeclareFunction|TSDeclareMethod|TSFunctionType|TSConstructorType|TSMethodSignature|TSCallSignatureDeclaration|TSConstructSignatureDeclaration)$/;
const BLOCKS =
  /^(?:BlockStatement|ForStatement|ForInStatement|ForOfStatement|SwitchStatement|StaticBlock|TSModuleBlock|CatchClause)$/;
/** Declarations with an `id`. */
const DECLARATIONS =
  /^(?:FunctionDeclaration|TSDeclareFunction|ClassDeclaration|TSEnumDeclaration|TSTypeAliasDeclaration|TSInterfaceDeclaration|TSModuleDeclaration)$/;
/** Nodes whose `key`, `label` or `name` is not a name of a scope. */
const KEYED =
  /^(?:ObjectProperty|ObjectMethod|ClassProperty|ClassMethod|ClassAccessorProperty|TSPropertySignature|TSMethodSignature|TSDeclareMethod)$/;

/** Whether a pattern binds a name: `{ a, b: [c] }` binds a and c. */
function binds(pattern: unknown, name: string): boolean {
  if (!isNode(pattern)) return false;
  if (pattern.type === "Identifier") return pattern["name"] === name;
  if (pattern.type === "ObjectProperty") return binds(pattern["value"], name);
  if (pattern.type === "AssignmentPattern") return binds(pattern["left"], name);
  if (pattern.type === "TSParameterProperty") return binds(pattern["parameter"], name);
  return /Pattern$|^RestElement$/.test(pattern.type) && childrenOf(pattern).some((part) => binds(part, name));
}

function nameOf(node: unknown): string | undefined {
  if (!isNode(node)) return undefined;
  const name = node["name"] ?? node["value"];
  return typeof name === "string" ? name : undefined;
}

const nodeAt = (node: Node, key: string): Node | undefined => (isNode(node[key]) ? node[key] : undefined);
const listAt = (node: Node, key: string): readonly unknown[] => (Array.isArray(node[key]) ? node[key] : []);

/** All places of a name in the scope of a module; `undefined` if the module cannot be read. */
export function placesInModule(text: string, path: string, name: string): readonly ModulePlace[] | undefined {
  const program = parseModule(text, path);
  if (program === undefined) return undefined;
  const reader = new PlaceReader(name);
  reader.visit(program as unknown as Node, []);
  return reader.places();
}

/** The property whose value is a name. */
function pairOf(property: Node, value: Node): Pick<ModulePlace, "pair"> {
  const key = nodeAt(property, "key");
  const isPlain = property["computed"] !== true && key?.type === "Identifier";
  return isPlain ? { pair: { span: { start: key.start, end: value.end }, other: nameOf(key) ?? "" } } : {};
}

class PlaceReader {
  readonly #name: string;
  readonly #places: ModulePlace[] = [];
  /** Parts of the text in which the name means something else. */
  readonly #shadows: Span[] = [];
  /** Namespaces by their local name: `import * as all from "./nodes.ts"`. */
  readonly #namespaces = new Map<string, string>();

  constructor(name: string) {
    this.#name = name;
  }

  places(): readonly ModulePlace[] {
    const isHidden = ({ span, kind }: ModulePlace): boolean =>
      (kind === "plain" || kind === "short") &&
      this.#shadows.some(({ start, end }) => span.start >= start && span.end <= end);
    return this.#places.filter((place) => !isHidden(place)).sort((a, b) => a.span.start - b.span.start);
  }

  #add(node: Node, kind: ModulePlace["kind"], more: Pick<ModulePlace, "from" | "pair"> = {}): void {
    this.#places.push({ span: { start: node.start, end: node.start + this.#name.length }, kind, ...more });
  }

  visit(node: Node, path: readonly Node[]): void {
    this.#bind(node, path);
    if (node.type === "ImportDeclaration") return this.#import(node);
    if (node.type === "ExportNamedDeclaration" && listAt(node, "specifiers").length > 0) return this.#export(node);
    if (node.type === "Identifier" || node.type === "JSXIdentifier") this.#identifier(node, path[path.length - 1]);
    const inner = [...path, node];
    const key = KEYED.test(node.type) && node["computed"] !== true ? node["key"] : undefined;
    for (const child of childrenOf(node)) if (child !== key) this.visit(child, inner);
  }

  #import(node: Node): void {
    const from = nameOf(node["source"]) ?? "";
    for (const part of listAt(node, "specifiers")) {
      if (!isNode(part)) continue;
      const [imported, local] = [nodeAt(part, "imported"), nodeAt(part, "local")];
      if (part.type === "ImportNamespaceSpecifier") this.#namespaces.set(nameOf(local) ?? "", from);
      const isBoth = imported?.start === local?.start;
      if (imported?.type === "Identifier" && nameOf(imported) === this.#name)
        this.#add(imported, isBoth ? "plain" : "imported", { from });
      if (local !== undefined && nameOf(local) === this.#name && (imported === undefined || !isBoth))
        this.#add(local, "plain");
    }
  }

  #export(node: Node): void {
    const from = nameOf(node["source"]);
    for (const part of listAt(node, "specifiers")) {
      if (!isNode(part)) continue;
      const [local, exported] = [nodeAt(part, "local"), nodeAt(part, "exported")];
      const isBoth = local?.start === exported?.start;
      const isLocal = local?.type === "Identifier" && nameOf(local) === this.#name;
      if (isLocal) this.#add(local, from === undefined ? "plain" : "source", from === undefined ? {} : { from });
      if (!isBoth && exported?.type === "Identifier" && nameOf(exported) === this.#name)
        this.#add(exported, "exported", from === undefined ? {} : { from });
    }
  }

  #identifier(node: Node, parent: Node | undefined): void {
    if (node["name"] !== this.#name || parent === undefined) return;
    const is = (key: string): boolean => parent[key] === node;
    switch (parent.type) {
      case "MemberExpression":
      case "OptionalMemberExpression":
      case "JSXMemberExpression":
        if (is("property") && parent["computed"] !== true) return this.#member(node, nodeAt(parent, "object"));
        break;
      case "TSQualifiedName":
        if (is("right")) return this.#member(node, nodeAt(parent, "left"));
        break;
      case "ObjectProperty":
        if (parent["shorthand"] === true) return this.#add(node, "short");
        if (is("value")) return this.#add(node, "plain", pairOf(parent, node));
        break;
      case "AssignmentPattern":
        // `{ f = 1 }`: the property has the key at the same place.
        if (is("left") && this.#isShorthandDefault.has(parent)) return this.#add(node, "short");
        break;
      case "LabeledStatement":
      case "BreakStatement":
      case "ContinueStatement":
      case "MetaProperty":
      case "TSImportType":
      case "ImportAttribute":
      case "TSNamedTupleMember":
        if (!is("body") && !is("elementType")) return;
        break;
      case "TSEnumMember":
        if (is("id")) return;
        break;
      case "JSXAttribute":
        return;
      default:
    }
    // `<f>` is an element of the page.
    if (node.type === "JSXIdentifier" && /^[a-z]/.test(this.#name)) return;
    this.#add(node, "plain");
  }

  readonly #isShorthandDefault = new Set<Node>();

  #member(node: Node, object: Node | undefined): void {
    const from = this.#namespaces.get(nameOf(object) ?? "");
    if (from !== undefined) this.#add(node, "member", { from });
  }

  /** Notes where a declaration inside of the module gives the name another meaning. */
  #bind(node: Node, path: readonly Node[]): void {
    const hide = (scope: Node | undefined, from = scope?.start): void => {
      if (scope !== undefined && scope.type !== "Program") this.#shadows.push({ start: from ?? 0, end: scope.end });
    };
    const around = (test: RegExp): Node | undefined => path.findLast(({ type }) => test.test(type));
    const block = (): Node | undefined => path.findLast(({ type }) => BLOCKS.test(type) || FUNCTIONS.test(type));
    const name = this.#name;
    if (FUNCTIONS.test(node.type)) {
      const parameters = [...listAt(node, "params"), ...listAt(node, "parameters")];
      // A declaration's own name is one of the scope around it.
      const own = nodeAt(node, "id") ?? nodeAt(node, "key");
      if (parameters.some((each) => binds(each, name))) hide(node, own?.end);
    }
    if (/^(?:Function|Class)Expression$/.test(node.type) && nameOf(node["id"]) === name) hide(node);
    if (DECLARATIONS.test(node.type) && nameOf(node["id"]) === name) hide(block());
    if (node.type === "CatchClause" && binds(node["param"], name)) hide(node);
    if (node.type === "VariableDeclaration") {
      const isBound = listAt(node, "declarations").some((each) => isNode(each) && binds(each["id"], name));
      if (isBound) hide(node["kind"] === "var" ? around(FUNCTIONS) : block());
    }
    if (node.type === "TSTypeParameter" && nameOf(node) === name) {
      const owner = path.findLast(({ type }) => !/^TS(?:TypeParameterDeclaration|InferType)$/.test(type));
      hide(path[path.length - 1]?.type === "TSInferType" ? around(/^TSConditionalType$/) : owner);
    }
    if (node.type === "TSMappedType" && (node["key"] === name || nameOf(node["key"]) === name)) hide(node);
    if (node.type === "ObjectProperty" && node["shorthand"] === true) {
      const value = nodeAt(node, "value");
      if (value?.type === "AssignmentPattern") this.#isShorthandDefault.add(value);
    }
  }
}
