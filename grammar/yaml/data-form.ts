/** Plain YAML data as literals. */
import { badLiteral } from "../../diagnostics/catalog/syntax.ts";
import type { Expr, LiteralType, RecordField } from "../ast.ts";
import { plainNumber } from "../format/literal-text.ts";
import { complain, placeIn, wrongKind, type Form, type FormReader } from "./form.ts";
import { leadingZero } from "../literals.ts";
import { entrySpan, type YamlMap, type YamlNode, type YamlScalar } from "./yaml-tree.ts";

/** Any YAML value. */
export const dataForm: Form<Expr> = {
  expected: "a value",
  schema: () => ({}),
  read: readData,
};

function readData(node: YamlNode, reader: FormReader): Expr | undefined {
  switch (node.kind) {
    case "broken":
      return undefined;
    case "scalar":
      return literalFromScalar(node, reader);
    case "list": {
      const items = node.items.map((item) => readData(item, reader));
      const read = items.filter((item) => item !== undefined);
      return read.length === items.length ? { kind: "List", span: node.span, items: read } : undefined;
    }
    case "map":
      return readRecord(node, reader);
  }
}

function readRecord(node: YamlMap, reader: FormReader): Expr | undefined {
  const fields: RecordField[] = [];
  for (const entry of node.entries) {
    const value = readData(entry.value, reader);
    if (value === undefined) return undefined;
    const name = { kind: "Key", span: entry.keyNode.span, name: entry.key, quoted: needsQuotes(entry.key) } as const;
    fields.push({ kind: "RecordField", span: entrySpan(entry), name, value });
  }
  return { kind: "Record", span: node.span, fields };
}

/** Whether a field name must be written in quotes. */
export function needsQuotes(name: string): boolean {
  return !/^[A-Za-z_]\w*$/.test(name);
}

/** Converts a scalar to the literal of the text spelling. */
export function literalFromScalar(node: YamlScalar, reader: FormReader): Expr | undefined {
  const { span, value } = node;
  switch (typeof value) {
    case "string":
      return { kind: "String", span, value };
    case "boolean":
      return { kind: "Bool", span, value };
    case "number":
      return numberLiteral(node, value, reader);
    default:
      return { kind: "Null", span };
  }
}

/** A scalar as a pattern of a `match` arm. */
export const patternForm: Form<LiteralType> = {
  expected: "a literal: a string, a number, true, false or null",
  schema: () => ({ type: ["string", "number", "boolean", "null"] }),
  read(node, reader) {
    if (node.kind !== "scalar") return wrongKind(node, reader, "a literal: a string, a number, true, false or null");
    const { span, value } = node;
    if (typeof value !== "number") return { kind: "LiteralType", span, value };
    const number = spelledNumber(node, value, reader);
    if (number === undefined) return undefined;
    return { kind: "LiteralType", span, value, ...(number.isFloat ? { isFloat: true } : {}) };
  },
};

function numberLiteral(node: YamlScalar, value: number, reader: FormReader): Expr | undefined {
  const number = spelledNumber(node, value, reader);
  if (number === undefined) return undefined;
  const { span } = node;
  const literal = { kind: "Number", span, value: Math.abs(value), isFloat: number.isFloat, raw: number.raw } as const;
  return value < 0 || Object.is(value, -0) ? { kind: "Unary", span, operator: "-", operand: literal } : literal;
}

/** The digits of a number without its sign. They are kept as in YAML if the text spelling allows them (not `0x1F`). */
function spelledNumber(
  node: YamlScalar,
  value: number,
  reader: FormReader,
): { readonly raw: string; readonly isFloat: boolean } | undefined {
  const digits = node.written.replace(/^[+-]/, "");
  const isFloat = !/^0[xo]/.test(digits) && /[.eE]/.test(digits === "" ? String(value) : digits);
  if (!isFloat && !Number.isSafeInteger(value)) {
    return complain(
      reader,
      badLiteral(placeIn(reader, node.span), {
        message: "this whole number is too large to be exact",
        help: `the largest is ${Number.MAX_SAFE_INTEGER}; write it as a string, or as a float`,
      }),
    );
  }
  // YAML 1.1 reads `010` as 8.
  if (/^0\d/.test(digits)) return complain(reader, leadingZero(placeIn(reader, node.span), digits));
  const isPlain = /^(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(digits) && Number(digits) === Math.abs(value);
  return { raw: isPlain ? digits : plainNumber(Math.abs(value), isFloat), isFloat };
}
