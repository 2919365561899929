/** Paths, intrinsic functions and payload templates of Amazon States Language with JSONPath. */
import { isObject, literal, quoted, recordKey, type Source } from "../imported.ts";
import { atom, compound, fitting, operand, parsePath, Unsaid, valueAt, type Said, type Scope } from "./said.ts";
import type { Kind, Shape } from "./shape.ts";

/** A path or a call of an intrinsic function: `$.order`, `$$.Map.Item.Value`, `$name`, `States.Format('{}', $.id)`. @throws Unsaid */
export function sayPathExpression(text: string, expected: Kind, scope: Scope, isRequired = false): Said {
  const trimmed = text.trim();
  if (trimmed.startsWith("States.")) return new Intrinsics(trimmed, scope).all();
  return sayPath(trimmed, expected, scope, isRequired);
}

function sayPath(text: string, expected: Kind, scope: Scope, isRequired: boolean): Said {
  const { name, path } = parsePath(text);
  if (name === "$") return sayContext(path.map(String).join("."), scope);
  if (name === undefined) return valueAt(scope.root, path, expected, scope, isRequired);
  return valueAt({ channel: scope.variable(name), path: [] }, path, expected, scope);
}

/** A value of the context object. @throws Unsaid */
export function sayContext(path: string, scope: Scope): Said {
  const known = scope.context.get(path);
  if (known !== undefined) return known;
  const outer = [...scope.context.keys()].find((key) => path.startsWith(`${key}.`));
  if (outer === undefined) throw new Unsaid(`a graph has no context object: \`$$.${path}\``);
  const inner = path.slice(outer.length);
  return atom(`${scope.helper("at")}(${scope.context.get(outer)!.text}, ${quoted(`$${inner}`)})`, "any");
}

const PLACEHOLDER = /\\([{}'\\])|\{\}/g;

class Intrinsics {
  readonly #text: string;
  readonly #scope: Scope;
  #at = 0;
  #depth = 0;

  constructor(text: string, scope: Scope) {
    this.#text = text;
    this.#scope = scope;
  }

  all(): Said {
    const said = this.#call();
    if (this.#at < this.#text.length) throw new Unsaid(`\`${this.#text}\` is not a call of an intrinsic function`);
    return said;
  }

  #take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text);
    if (found === null) return undefined;
    this.#at = pattern.lastIndex;
    return found[1] ?? found[0];
  }

  #call(): Said {
    const name = this.#take(/\s*(States\.\w+)\s*\(\s*/y);
    if (name === undefined) throw new Unsaid(`\`${this.#text}\` is not a call of an intrinsic function`);
    if (++this.#depth > 20) throw new Unsaid("the calls nest more than 20 levels deep");
    const values: { readonly said: (kind: Kind) => Said; readonly text?: string }[] = [];
    while (this.#take(/\s*\)\s*/y) === undefined) {
      if (values.length > 0 && this.#take(/\s*,\s*/y) === undefined)
        throw new Unsaid(`\`${this.#text}\` is not a call of an intrinsic function`);
      values.push(this.#argument());
    }
    this.#depth--;
    return this.#meaning(
      name,
      values.map(({ said }) => said),
      values[0]?.text,
    );
  }

  #argument(): { readonly said: (kind: Kind) => Said; readonly text?: string } {
    const text = this.#take(/'((?:[^'\\]|\\.)*)'/y);
    if (text !== undefined) return { said: () => atom(quoted(text.replace(/\\(.)/g, "$1")), "string"), text };
    const plain = this.#take(/-?\d+(?:\.\d+)?|true\b|false\b|null\b/y);
    if (plain !== undefined) {
      const kind = /^[tf]/.test(plain) ? "bool" : plain === "null" ? "json" : "float";
      return { said: () => (plain.startsWith("-") ? compound(plain, kind) : atom(plain, kind)) };
    }
    const path = this.#take(/\$(?:\$|\w+)?(?:\.[^.[\]\s(),*?@'"]+|\[(?:'(?:[^'\\]|\\.)*'|[^\]])*\])*/y);
    if (path !== undefined) return { said: (kind) => sayPath(path, kind, this.#scope, kind !== "json") };
    const inner = this.#call();
    return { said: () => inner };
  }

  #meaning(name: string, values: readonly ((kind: Kind) => Said)[], format: string | undefined): Said {
    const scope = this.#scope;
    const value = (index: number, kind: Kind): Said => {
      const said = values[index]?.(kind);
      if (said === undefined) throw new Unsaid(`\`${name}\` has too few arguments`);
      return fitting(said, kind, scope);
    };
    // A list has no type: a function reads it.
    const list = (index: number): Said => {
      const said = value(index, "json");
      return said.kind === "any" || said.text.startsWith("[")
        ? said
        : atom(`${scope.helper("untyped")}(${said.text})`, "any");
    };
    switch (name) {
      case "States.Format": {
        if (format === undefined) throw new Unsaid("the first argument of `States.Format` is a text");
        let next = 1;
        const parts = format.replace(/[`$]/g, "\\$&").replace(PLACEHOLDER, (_, escaped: string | undefined) => {
          if (escaped !== undefined) return escaped === "\\" ? "\\\\" : escaped;
          return `\${${value(next++, "json").text}}`;
        });
        return atom(`\`${parts.replace(/\n/g, "\\n")}\``, "string");
      }
      case "States.Array":
        return atom(`[${values.map((_, index) => value(index, "json").text).join(", ")}]`, "json");
      case "States.ArrayContains":
        return compound(`${operand(value(1, "json"))} in ${operand(list(0))}`, "bool");
      case "States.ArrayLength":
        return atom(`len(${list(0).text})`, "float");
      case "States.ArrayGetItem":
        return atom(`${operand(list(0))}[${value(1, "float").text}]`, "json");
      case "States.ArrayRange":
        return atom(
          `range(${rounded(value(0, "float"))}, ${rounded(value(1, "float"))} + 1, ${rounded(value(2, "float"))})`,
          "json",
        );
      case "States.ArrayUnique":
        return atom(`unique(${list(0).text})`, "json");
      case "States.StringToJson":
        return atom(`fromJson(${value(0, "string").text})`, "json");
      case "States.JsonToString":
        return atom(`toJson(${value(0, "json").text})`, "string");
      case "States.MathAdd":
        return compound(`${operand(value(0, "float"))} + ${operand(value(1, "float"))}`, "float");
      case "States.StringSplit":
        return atom(`split(${value(0, "string").text}, ${value(1, "string").text})`, "json");
      default:
        throw new Unsaid(`the language has no function like \`${name}\``);
    }
  }
}

/** A payload template: an object whose fields with `.$` at the end are paths. @throws Unsaid */
export function sayTemplate(source: Source, scope: Scope, target?: Target, depth = 0): Said {
  if (depth > 40) throw new Unsaid("the template nests more than 40 levels deep");
  const { value } = source;
  if (Array.isArray(value)) {
    const items = source.items().map((item) => sayTemplate(item, scope, undefined, depth + 1).text);
    return into(target, atom(`[${items.join(", ")}]`, "json"), scope);
  }
  if (!isObject(value)) return into(target, sayLiteral(source), scope);
  const fields = source.entries().map(([name, field]) => {
    const plain = name.endsWith(".$") ? name.slice(0, -2) : name;
    const inner = target === undefined ? undefined : { path: [...target.path, plain] };
    if (plain === name) return [name, sayTemplate(field, scope, inner, depth + 1)] as const;
    return [plain, into(inner, sayPathExpression(field.text(), "json", scope), scope)] as const;
  });
  return record(fields);
}

/** The place in the data where a value is stored. */
export interface Target {
  readonly path: readonly string[];
}

/** The value, with the type that its place in the data has. */
export function into(target: Target | undefined, said: Said, scope: Scope): Said {
  if (target === undefined || target.path.length === 0) return said;
  scope.used.note(target.path, said.kind);
  const shape: Shape | undefined = scope.shape?.find(target.path);
  if (shape === undefined || said.kind === "any") return said;
  if (shape.isRecord && said.kind === "json") return atom(`${scope.helper("untyped")}(${said.text})`, "any");
  return fitting(said, shape.kind, scope);
}

export function record(fields: readonly (readonly [name: string, value: Said])[]): Said {
  const parts = fields.map(([name, said]) => `${recordKey(name)}: ${said.text}`);
  return atom(parts.length === 0 ? "{}" : `{ ${parts.join(", ")} }`, "json");
}

/** A value without paths. */
export function sayLiteral(source: Source): Said {
  const { value } = source;
  const text = literal(source);
  const kind =
    typeof value === "string"
      ? "string"
      : typeof value === "number"
        ? "float"
        : typeof value === "boolean"
          ? "bool"
          : "json";
  return text.startsWith("-") ? compound(text, kind) : atom(text, kind);
}

/** An int for a number, as the functions of the state language round it. */
function rounded({ text }: Said): string {
  return /^-?\d+$/.test(text) ? text : `round(${text})`;
}
