import type { Json } from "../value/json.ts";
import { expressionParts } from "./expression-depth.ts";
import type { Expression } from "./expression.ts";

/** The names of the secrets that expressions read. */
export function secretsIn(expressions: readonly Expression[]): ReadonlySet<string> {
  const names = new Set<string>();
  const open = [...expressions];
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    if (part.op === "secret") names.add(part.name);
    for (const each of expressionParts(part)) open.push(each);
  }
  return names;
}

/** Whether an expression reads a secret. */
export function readsSecret(expression: Expression): boolean {
  return secretsIn([expression]).size > 0;
}

/** Whether the secrets of an expression stand alone, in templates, lists and records: `nameSecrets` can store it. */
export function namesSecrets(expression: Expression): boolean {
  if (!readsSecret(expression)) return true;
  switch (expression.op) {
    case "secret":
      return true;
    case "template":
      return expression.parts.every((part) => typeof part === "string" || namesSecrets(part));
    case "list":
      return expression.items.every((item) => !("spread" in item) && namesSecrets(item));
    case "record":
      return expression.fields.every((field) => !("spread" in field) && namesSecrets(field.value));
    default:
      return false;
  }
}

/**
 * An expression with its secrets by name and everything else evaluated.
 *
 * @param evaluate evaluates a part without secrets
 * @throws TypeError if a secret is an operand: the value of the part contains the secret in a form that is not known
 */
export function nameSecrets(expression: Expression, evaluate: (part: Expression) => Json): Expression {
  if (!readsSecret(expression)) return { op: "const", value: evaluate(expression) };
  const inner = (part: Expression): Expression => nameSecrets(part, evaluate);
  switch (expression.op) {
    case "secret":
      return expression;
    case "template":
      return { op: "template", parts: expression.parts.map((part) => (typeof part === "string" ? part : inner(part))) };
    case "list":
      return { op: "list", items: expression.items.map((item) => inner(withoutSpread(item))) };
    case "record":
      return {
        op: "record",
        fields: expression.fields.map((field) => {
          const { name, value } = withoutSpread(field);
          return { name, value: inner(value) };
        }),
      };
    default:
      throw new TypeError("its arguments compute with a secret, which cannot be stored by name");
  }
}

function withoutSpread<T extends object>(part: T | { readonly spread: Expression }): T {
  if ("spread" in part) throw new TypeError("its arguments spread a secret, which cannot be stored by name");
  return part;
}
