import type { BuiltinNode, ExpectedType } from "../../runtime/interface/context.ts";
import type { FieldType, ValueType } from "../../runtime/table/value-type.ts";
import type { Json } from "../../runtime/value/json.ts";
import { NodeFailure } from "../node-failure.ts";

/**
 * `csv(text)`: the rows of a text of comma-separated values (RFC 4180). The first row names the columns. The result is one
 * record for each further row. If the type of the channel lists records, these columns are read, and their cells are converted to
 * `int`, `float` and `bool`. An empty cell is `null`, or is left out, where the type of the field accepts that. With
 * `header: false`, the result is one list of texts for each row. Empty lines are skipped.
 */
export const csv: BuiltinNode = ({ text, separator = ",", header = true }, context) => {
  const mark = String(separator);
  if (mark.length !== 1 || /["\r\n]/.test(mark)) {
    throw refusal(`\`separator\` of \`csv\` is one character, such as "," or ";", not ${JSON.stringify(mark)}`);
  }
  const rows = parseRows(String(text).replace(/^\uFEFF/, ""), mark);
  if (header === false) return rows.map(({ cells }) => cells);
  const [first, ...records] = rows;
  if (first === undefined) {
    throw refusal(
      "the text has no row: the first row of CSV names the columns (`header: false` reads rows without names)",
    );
  }
  const names = first.cells;
  const seen = new Set<string>();
  const repeated = names.find((name) => seen.size === seen.add(name).size);
  if (repeated !== undefined) {
    throw refusal(
      `two columns are named ${JSON.stringify(repeated)}: name them differently, or read with \`header: false\``,
    );
  }
  const columns = columnsOf(names, fieldsOf(context.expects), context.expects);
  return records.map(({ cells, line }) => {
    if (cells.length !== names.length) {
      const hint = cells.length > names.length ? "quote a cell that contains the separator" : "complete the row";
      throw refusal(`line ${line} has ${count(cells.length)}, and the first row has ${count(names.length)}: ${hint}`);
    }
    return Object.fromEntries(
      columns.flatMap(({ name, index, convert }) => {
        const cell = cells[index] ?? "";
        const value = convert(cell);
        if (value === MISFIT) {
          // The cell may hold a secret that is shorter than those that are redacted, so its text stays out.
          throw refusal(`line ${line}, column ${JSON.stringify(name)}: the cell does not have the type of the field`);
        }
        return value === undefined ? [] : [[name, value] as const];
      }),
    );
  });
};

interface Row {
  readonly cells: readonly string[];
  /** 1-based, of its first character. */
  readonly line: number;
}

function parseRows(text: string, separator: string): readonly Row[] {
  const rows: Row[] = [];
  let line = 1;
  let at = 0;
  while (at < text.length) {
    const cells: string[] = [];
    const start = line;
    for (;;) {
      let cell = "";
      const isQuoted = text[at] === '"';
      if (isQuoted) {
        const opened = line;
        for (at++; ;) {
          const end = text.indexOf('"', at);
          if (end === -1) throw refusal(`line ${opened}: the quote of a cell is not closed`);
          const part = text.slice(at, end);
          line += lineBreaks(part);
          cell += part;
          at = end + 1;
          if (text[at] !== '"') break;
          cell += '"';
          at++;
        }
        if (at < text.length && text[at] !== separator && text[at] !== "\n" && text[at] !== "\r") {
          throw refusal(
            `line ${line}: text follows the closing quote of a cell; a quote in a quoted cell is written twice`,
          );
        }
      } else {
        const from = at;
        while (at < text.length && text[at] !== separator && text[at] !== "\n" && text[at] !== "\r") at++;
        cell = text.slice(from, at);
      }
      cells.push(cell);
      if (text[at] === separator) {
        at++;
        continue;
      }
      if (cells.length > 1 || cell !== "" || isQuoted) rows.push({ cells, line: start });
      break;
    }
    if (at < text.length) {
      at += text.startsWith("\r\n", at) ? 2 : 1;
      line++;
    }
  }
  return rows;
}

function lineBreaks(text: string): number {
  return text.match(/\r\n|\r|\n/g)?.length ?? 0;
}

interface Column {
  readonly name: string;
  readonly index: number;
  /** `undefined`: the field is left out. */
  readonly convert: (cell: string) => Json | undefined | typeof MISFIT;
}

const MISFIT = Symbol("misfit");

function columnsOf(
  names: readonly string[],
  fields: readonly FieldType[] | undefined,
  expected: ExpectedType | undefined,
): readonly Column[] {
  if (fields === undefined) return names.map((name, index) => ({ name, index, convert: (cell) => cell }));
  return fields.flatMap(({ name, type, optional }) => {
    const index = names.indexOf(name);
    if (index === -1) {
      if (optional === true) return [];
      const known = names.map((each) => JSON.stringify(each)).join(", ");
      throw refusal(`the first row names no column ${JSON.stringify(name)}: its columns are ${known}`);
    }
    return [{ name, index, convert: converterOf(type, optional === true, expected?.types ?? []) }];
  });
}

/** The fields of the records that the graph expects; `undefined` if it expects other values. */
function fieldsOf(expected: ExpectedType | undefined): readonly FieldType[] | undefined {
  if (expected === undefined) return undefined;
  const lists = membersOf(expected.type, expected.types).flatMap((type) => (type.kind === "list" ? [type] : []));
  const records = lists.flatMap(({ item }) =>
    membersOf(item, expected.types).flatMap((type) => (type.kind === "record" ? [type] : [])),
  );
  return records.length === 1 ? records[0]?.fields : undefined;
}

/** The types of a union, with named types replaced by theirs. */
function membersOf(type: ValueType, types: ExpectedType["types"], seen: readonly string[] = []): readonly ValueType[] {
  if (type.kind === "union") return type.members.flatMap((member) => membersOf(member, types, seen));
  if (type.kind !== "ref" || seen.includes(type.name)) return [type];
  const named = types.find(({ name }) => name === type.name);
  return named === undefined ? [type] : membersOf(named.type, types, [...seen, type.name]);
}

function converterOf(type: ValueType, isOptional: boolean, types: ExpectedType["types"]): Column["convert"] {
  const members = membersOf(type, types);
  const accepts = (kind: ValueType["kind"]): boolean => members.some((member) => member.kind === kind);
  const literals = members.flatMap((member) => (member.kind === "literal" ? [member.value] : []));
  const acceptsText = accepts("string") || accepts("json") || accepts("opaque");
  return (cell) => {
    if (cell === "" && !accepts("string")) {
      if (accepts("null")) return null;
      if (isOptional) return undefined;
    }
    const literal = literals.find((value) => String(value) === cell);
    if (literal !== undefined) return literal;
    if (accepts("bool") && (cell === "true" || cell === "false")) return cell === "true";
    if ((accepts("int") || accepts("float")) && NUMBER.test(cell)) {
      const number = Number(cell);
      if (accepts("float") ? Number.isFinite(number) : Number.isSafeInteger(number)) return number;
    }
    return acceptsText ? cell : MISFIT;
  };
}

const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

function count(cells: number): string {
  return cells === 1 ? "1 cell" : `${cells} cells`;
}

function refusal(message: string): NodeFailure {
  return new NodeFailure(message, { retryable: false });
}
