/** The part of JSONata that the language can say: paths, operators, conditions, lists, objects, and common functions. */
import { isObject, quoted, type Source } from "../imported.ts";
import { into, record, sayContext, sayLiteral, type Target } from "./json-path.ts";
import { atom, compound, fitting, operand, Unsaid, valueAt, type Path, type Said, type Scope } from "./said.ts";
import type { Kind } from "./shape.ts";

/** The expression in `{% … %}`; `undefined`: the text is no expression. */
export function jsonataOf(value: unknown): string | undefined {
  return typeof value === "string" ? /^\{%([^]*)%\}$/.exec(value)?.[1]?.trim() : undefined;
}

/** A value whose texts in `{% … %}` are expressions. @throws Unsaid */
export function sayJsonataValue(source: Source, scope: Scope, target?: Target, depth = 0): Said {
  if (depth > 40) throw new Unsaid("the value nests more than 40 levels deep");
  const { value } = source;
  const expression = jsonataOf(value);
  if (expression !== undefined) return into(target, sayJsonata(expression, scope), scope);
  if (Array.isArray(value)) {
    const items = source.items().map((item) => sayJsonataValue(item, scope, undefined, depth + 1).text);
    return into(target, atom(`[${items.join(", ")}]`, "json"), scope);
  }
  if (!isObject(value)) return into(target, sayLiteral(source), scope);
  return record(
    source.entries().map(([name, field]) => {
      const inner = target === undefined ? undefined : { path: [...target.path, name] };
      return [name, sayJsonataValue(field, scope, inner, depth + 1)] as const;
    }),
  );
}

/** @throws Unsaid */
export function sayJsonata(text: string, scope: Scope, expected: Kind = "json"): Said {
  const parser = new Jsonata(text, scope);
  const said = parser.all(expected);
  return expected === "bool" ? truth(said, scope) : fitting(said, expected, scope);
}

/** A condition: a missing value does not hold. */
function truth(said: Said, scope: Scope): Said {
  const isLiteral = said.text === "true" || said.text === "false";
  if (said.kind === "bool" && (!said.isAtom || isLiteral)) return said;
  return compound(`${operand(fitting(said, "bool", scope))} == true`, "bool");
}

/** A part that has not been said yet: its type follows from its use. */
type Part = (expected: Kind, isRequired?: boolean) => Said;

const TOKEN =
  /\s*(?:\/\*(?:[^*]|\*(?!\/))*\*\/\s*)*((?:\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\$?[A-Za-z_]\w*|\$\$?|`[^`]*`|:=|!=|<=|>=|~>|\*\*|\.\.|[-+*/%&=<>?:()[\]{},.;^@#|!~])/y;

/** Operators by their precedence, the loosest first. */
const LEVELS: readonly (readonly string[])[] = [
  ["or"],
  ["and"],
  ["=", "!=", "<", "<=", ">", ">=", "in"],
  ["+", "-", "&"],
  ["*", "/", "%"],
];

class Jsonata {
  readonly #tokens: string[] = [];
  readonly #text: string;
  readonly #scope: Scope;
  #at = 0;
  #depth = 0;

  constructor(text: string, scope: Scope) {
    this.#text = text;
    this.#scope = scope;
    let end = 0;
    while (text.slice(end).trim() !== "") {
      TOKEN.lastIndex = end;
      const found = TOKEN.exec(text);
      if (found === null || this.#tokens.length > 5_000) throw this.#beyond();
      this.#tokens.push(found[1]!);
      end = TOKEN.lastIndex;
      if (/^\s*$/.test(text.slice(end, end + 1_000)) && end + 1_000 >= text.length) break;
    }
  }

  all(expected: Kind): Said {
    const part = this.#conditional();
    if (this.#at < this.#tokens.length) throw this.#beyond();
    return part(expected);
  }

  #beyond(): Unsaid {
    const token = this.#tokens[this.#at];
    const shown = this.#text.length > 80 ? `${this.#text.slice(0, 80)}…` : this.#text;
    return new Unsaid(
      `${token === undefined ? "the end" : `\`${token}\``} of the JSONata expression \`${shown}\` has no form in the language`,
    );
  }

  #is(token: string): boolean {
    if (this.#tokens[this.#at] !== token) return false;
    this.#at++;
    return true;
  }

  #need(token: string): void {
    if (!this.#is(token)) throw this.#beyond();
  }

  #conditional(): Part {
    if (++this.#depth > 30) throw new Unsaid("the JSONata expression nests more than 30 levels deep");
    const condition = this.#binary(0);
    if (!this.#is("?")) {
      this.#depth--;
      return condition;
    }
    const yes = this.#conditional();
    const no = this.#is(":") ? this.#conditional() : undefined;
    this.#depth--;
    return (expected) => {
      const first = yes(expected);
      const second = no?.(expected) ?? atom("null", "json");
      const kind = first.kind === second.kind ? first.kind : "json";
      return compound(`${operand(this.#bool(condition))} ? ${operand(first)} : ${operand(second)}`, kind);
    };
  }

  #bool(part: Part): Said {
    return truth(part("bool"), this.#scope);
  }

  #binary(level: number): Part {
    const operators = LEVELS[level];
    if (operators === undefined) return this.#unary();
    let left = this.#binary(level + 1);
    for (;;) {
      const operator = this.#tokens[this.#at];
      if (operator === undefined || !operators.includes(operator)) return left;
      this.#at++;
      left = this.#operation(operator, left, this.#binary(level + 1));
    }
  }

  #operation(operator: string, left: Part, right: Part): Part {
    const scope = this.#scope;
    const both = (symbol: string, kind: Kind, result: Kind): Said => {
      const [a, b] = [left, right].map((part) =>
        operand(kind === "bool" ? this.#bool(part) : fitting(part(kind, true), kind, scope)),
      );
      return compound(`${a} ${symbol} ${b}`, result);
    };
    return () => {
      switch (operator) {
        case "or":
          return both("||", "bool", "bool");
        case "and":
          return both("&&", "bool", "bool");
        case "=":
        case "!=": {
          // The type of a field follows from what it is compared with.
          const kind = [left("json"), right("json")]
            .map((said) => said.kind)
            .find((each) => each !== "json" && each !== "any");
          return compound(
            `${operand(left(kind ?? "json"))} ${operator === "=" ? "==" : "!="} ${operand(right(kind ?? "json"))}`,
            "bool",
          );
        }
        case "in":
          return compound(`${operand(left("json"))} in ${operand(this.#list(right))}`, "bool");
        case "&":
          return atom(`\`${[left, right].map((part) => this.#inTemplate(part)).join("")}\``, "string");
        case "<":
        case "<=":
        case ">":
        case ">=":
          return [left("json"), right("json")].some(({ kind }) => kind === "string")
            ? both(operator, "string", "bool")
            : both(operator, "float", "bool");
        default:
          return both(operator, "float", "float");
      }
    };
  }

  /** A part of a text. */
  #inTemplate(part: Part): string {
    const said = part("json");
    if (said.kind === "string" && said.text.startsWith("`")) return said.text.slice(1, -1);
    if (said.kind === "string" && said.text.startsWith('"')) {
      return (JSON.parse(said.text) as string)
        .replace(/[`$\\]/g, "\\$&")
        .replace(/\n/g, "\\n")
        .replace(/\r/g, "\\r");
    }
    return `\${${said.text}}`;
  }

  #list(part: Part): Said {
    const said = part("json");
    return said.kind === "any" || said.text.startsWith("[")
      ? said
      : atom(`${this.#scope.helper("untyped")}(${said.text})`, "any");
  }

  #unary(): Part {
    if (!this.#is("-")) return this.#path(this.#primary());
    const inner = this.#unary();
    return () => compound(`-${operand(fitting(inner("float", true), "float", this.#scope))}`, "float");
  }

  /** Fields behind a value that is no channel. */
  #path(value: Part): Part {
    const path = this.#segments();
    if (path.length === 0) return value;
    return () => valueAt({ channel: value("json").text, path: [] }, path, "json", this.#scope);
  }

  #segments(): Path {
    const path: (string | number)[] = [];
    for (;;) {
      if (this.#is(".")) {
        const name = this.#tokens[this.#at++];
        if (
          name === undefined ||
          !/^(?:[A-Za-z_]\w*|`[^`]*`|"[^]*"|'[^]*')$/.test(name) ||
          this.#tokens[this.#at] === "("
        ) {
          this.#at--;
          throw this.#beyond();
        }
        path.push(/^[A-Za-z_]/.test(name) ? name : name.startsWith("`") ? name.slice(1, -1) : textOf(name));
      } else if (this.#tokens[this.#at] === "[") {
        const index = this.#tokens[this.#at + 1] ?? "";
        if (!/^\d+$/.test(index) || this.#tokens[this.#at + 2] !== "]") throw this.#beyond();
        path.push(Number(index));
        this.#at += 3;
      } else return path;
    }
  }

  #primary(): Part {
    const token = this.#tokens[this.#at];
    if (token === undefined) throw this.#beyond();
    this.#at++;
    if (/^\d/.test(token)) return () => atom(/[eE]/.test(token) ? String(Number(token)) : token, "float");
    if (/^["']/.test(token)) {
      const text = quoted(textOf(token));
      return () => atom(text, "string");
    }
    if (token === "true" || token === "false") return () => atom(token, "bool");
    if (token === "null") return () => atom("null", "json");
    if (token === "(") {
      const inner = this.#conditional();
      this.#need(")");
      return inner;
    }
    if (token === "[") {
      const items = this.#list_of("]");
      return () => atom(`[${items.map((item) => item("json").text).join(", ")}]`, "json");
    }
    if (token === "{") return this.#object();
    if (/^\$[A-Za-z_]/.test(token)) {
      if (this.#is("(")) return this.#call(token, this.#list_of(")"));
      if (token === "$states") return this.#states();
      const path = this.#segments();
      const channel = this.#scope.variable(token.slice(1));
      return () => valueAt({ channel, path: [] }, path, "json", this.#scope);
    }
    this.#at--;
    throw this.#beyond();
  }

  #list_of(end: string): Part[] {
    const items: Part[] = [];
    if (this.#is(end)) return items;
    do items.push(this.#conditional());
    while (this.#is(","));
    this.#need(end);
    return items;
  }

  #object(): Part {
    const fields: (readonly [string, Part])[] = [];
    if (!this.#is("}")) {
      do {
        const name = this.#tokens[this.#at];
        if (name === undefined || !/^["']/.test(name)) throw this.#beyond();
        this.#at++;
        this.#need(":");
        fields.push([textOf(name), this.#conditional()]);
      } while (this.#is(","));
      this.#need("}");
    }
    return () => record(fields.map(([name, part]) => [name, part("json")] as const));
  }

  /** `$states.input`, `.result`, `.errorOutput` or `.context`, and fields of it. */
  #states(): Part {
    const before = this.#at;
    const [which, ...path] = this.#segments();
    const scope = this.#scope;
    if (which === "input") {
      return (expected, isRequired) => valueAt(scope.root, path, expected, scope, isRequired);
    }
    if (which === "result" && scope.result !== undefined) {
      const channel = scope.result;
      return () => valueAt({ channel, path: [] }, path, "json", scope);
    }
    if (which === "errorOutput" && scope.error !== undefined) {
      const { error } = scope;
      return () => valueAt({ channel: error.text, path: [] }, path, "json", scope);
    }
    if (which === "context") {
      const said = sayContext(path.map(String).join("."), scope);
      return () => said;
    }
    this.#at = before;
    throw this.#beyond();
  }

  #call(name: string, values: readonly Part[]): Part {
    const scope = this.#scope;
    const known = FUNCTIONS[name];
    if (known === undefined || !Object.hasOwn(FUNCTIONS, name) || !known.counts.includes(values.length)) {
      throw new Unsaid(`the language has no function like \`${name}\` of JSONata with ${values.length} arguments`);
    }
    if (name === "$exists") return () => compound(`${operand(values[0]!("json"))} != null`, "bool");
    return () => {
      const said = values.map((value, index) => {
        const kind = known.kinds[index] ?? known.kinds[0]!;
        if (kind === "bool") return this.#bool(value);
        return kind === "list" ? this.#list(value) : fitting(value(kind, kind !== "json"), kind, scope);
      });
      return known.say(said);
    };
  }
}

interface KnownFunction {
  readonly counts: readonly number[];
  readonly kinds: readonly (Kind | "list")[];
  readonly say: (values: readonly Said[]) => Said;
}

const call =
  (name: string, kind: Kind) =>
  (values: readonly Said[]): Said =>
    atom(`${name}(${values.map(({ text }) => text).join(", ")})`, kind);

const FUNCTIONS: Readonly<Record<string, KnownFunction>> = {
  $not: { counts: [1], kinds: ["bool"], say: ([value]) => compound(`!${operand(value!)}`, "bool") },
  $exists: { counts: [1], kinds: ["json"], say: ([value]) => value! },
  $count: { counts: [1], kinds: ["list"], say: call("len", "float") },
  $sum: { counts: [1], kinds: ["list"], say: call("sum", "float") },
  $max: { counts: [1], kinds: ["list"], say: call("max", "json") },
  $min: { counts: [1], kinds: ["list"], say: call("min", "json") },
  $distinct: { counts: [1], kinds: ["list"], say: call("unique", "json") },
  $reverse: { counts: [1], kinds: ["list"], say: call("reverse", "json") },
  $append: {
    counts: [2],
    kinds: ["list", "list"],
    say: ([a, b]) => atom(`[...${operand(a!)}, ...${operand(b!)}]`, "json"),
  },
  $uppercase: { counts: [1], kinds: ["string"], say: call("upper", "string") },
  $lowercase: { counts: [1], kinds: ["string"], say: call("lower", "string") },
  $trim: { counts: [1], kinds: ["string"], say: call("trim", "string") },
  $length: { counts: [1], kinds: ["string"], say: call("len", "float") },
  $contains: { counts: [2], kinds: ["string", "string"], say: call("contains", "bool") },
  $split: { counts: [2], kinds: ["string", "string"], say: call("split", "json") },
  $join: { counts: [2], kinds: ["list", "string"], say: call("join", "string") },
  $replace: { counts: [3], kinds: ["string", "string", "string"], say: call("replace", "string") },
  $string: { counts: [1], kinds: ["json"], say: ([value]) => atom(`\`\${${value!.text}}\``, "string") },
  $parse: { counts: [1], kinds: ["string"], say: call("fromJson", "json") },
  $abs: { counts: [1], kinds: ["float"], say: call("abs", "float") },
};

function textOf(token: string): string {
  const body = token
    .slice(1, -1)
    .replace(/\\(?:u([0-9a-fA-F]{4})|([^]))/g, (_, code: string | undefined, plain: string | undefined) => {
      if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16));
      return ESCAPES[plain ?? ""] ?? plain ?? "";
    });
  return body;
}

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", b: "\b", f: "\f" };
