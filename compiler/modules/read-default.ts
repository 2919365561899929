/** What the default of a parameter without a type says about the parameter. */
import type { LoadedModule } from "../load/load-module.ts";
import { findLocal } from "./find-declaration.ts";
import { isTypeScript, type FunctionNode, type Initialiser, type TsType } from "./parse-module.ts";

export interface ParameterDefault {
  /** The type that TypeScript infers; `undefined` if only TypeScript knows it. */
  readonly type: TsType | undefined;
  /** Whether the parameter may be the context: its default is absent, no object, or an object like the context. */
  readonly mayBeContext: boolean;
}

const NO_DEFAULT: ParameterDefault = { type: undefined, mayBeContext: true };

/** Maximum number of constants between a parameter and the value of its default. */
const MAX_STEPS = 20;

const KEYWORDS: Readonly<Record<string, string>> = {
  StringLiteral: "TSStringKeyword",
  TemplateLiteral: "TSStringKeyword",
  NumericLiteral: "TSNumberKeyword",
  BooleanLiteral: "TSBooleanKeyword",
};

/** The names of `NodeContext` that a default or a pattern for a context may have. */
const CONTEXT_NAMES: ReadonlySet<string> = new Set(
  "signal step attempt thread failure idempotencyKey context item expects interrupt goto send stop memory usage emit allowedHosts".split(
    " ",
  ),
);

/** Reads `limit = 3`, `limit = LIMIT` and `{ signal } = {}`. */
export function readDefault(whole: FunctionNode["params"][number], module: LoadedModule): ParameterDefault {
  if (whole.type !== "AssignmentPattern") return NO_DEFAULT;
  const { left, right } = whole;
  if (left.type === "ObjectPattern" && hasContextName(left)) return NO_DEFAULT;
  const found = readValue(right, module, 0);
  // `{}` has no member that a body in TypeScript could read: it is no default for a context there.
  return isEmpty(right) && !isTypeScript(module.path) ? NO_DEFAULT : found;
}

function readValue(value: Initialiser, module: LoadedModule, steps: number): ParameterDefault {
  switch (value.type) {
    case "NullLiteral":
      return NO_DEFAULT;
    case "ParenthesizedExpression":
    case "TSNonNullExpression":
    case "TSSatisfiesExpression":
      return readValue(value.expression, module, steps);
    case "TSAsExpression":
      return isConst(value.typeAnnotation)
        ? readValue(value.expression, module, steps)
        : { type: value.typeAnnotation, mayBeContext: true };
    case "UnaryExpression":
      return value.operator === "-" ? readValue(value.argument, module, steps) : { ...NO_DEFAULT, mayBeContext: false };
    case "ObjectExpression":
      return { type: undefined, mayBeContext: hasContextName(value) };
    case "Identifier":
      return readConstant(value.name, module, steps);
    default: {
      const keyword = KEYWORDS[value.type];
      return { type: keyword === undefined ? undefined : ({ type: keyword } as TsType), mayBeContext: false };
    }
  }
}

/** A constant of the module has the type of its declaration, or that of its value. */
function readConstant(name: string, module: LoadedModule, steps: number): ParameterDefault {
  if (name === "undefined") return NO_DEFAULT;
  const found = steps < MAX_STEPS ? findLocal(module, name) : undefined;
  for (const statement of found?.module === module ? found.statements : []) {
    if (statement.type !== "VariableDeclaration" || statement.kind !== "const") continue;
    for (const { id, init } of statement.declarations) {
      if (id.type !== "Identifier" || id.name !== name) continue;
      if (id.typeAnnotation?.type === "TSTypeAnnotation") {
        return { type: id.typeAnnotation.typeAnnotation, mayBeContext: true };
      }
      if (init !== null && init !== undefined) return readValue(init, module, steps + 1);
    }
  }
  return { type: undefined, mayBeContext: false };
}

function isConst(type: TsType): boolean {
  return type.type === "TSTypeReference" && type.typeName.type === "Identifier" && type.typeName.name === "const";
}

function isEmpty(value: Initialiser): boolean {
  return value.type === "ObjectExpression" && value.properties.length === 0;
}

function hasContextName({ properties }: { readonly properties: readonly object[] }): boolean {
  return properties.some((property) => {
    const { key } = property as { readonly key?: { readonly type: string; readonly name?: string } };
    return key?.type === "Identifier" && CONTEXT_NAMES.has(key.name ?? "");
  });
}
