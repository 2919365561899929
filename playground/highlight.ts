/** Colours of `.ngraph` text. The words come from the grammar; a word is a keyword where a statement or a clause begins. */
import { StreamLanguage, type StringStream } from "@codemirror/language";
import { CLAUSE_WORDS, RESERVED_WORDS } from "../grammar/words.ts";

interface State {
  /** In a template: the depth of braces of each `${…}` around the place; a template without one has -1. */
  readonly templates: number[];
  /** A name follows: after `node`, `graph` and such. */
  isName: boolean;
}

const RESERVED = new Set<string>(RESERVED_WORDS);
const WORDS = new Set([
  ...CLAUSE_WORDS,
  "from",
  "type",
  "as",
  "over",
  "error",
  "all",
  "any",
  "settled",
  "ran",
  "never",
]);
const ATOMS = new Set(["true", "false", "null"]);
const TYPES = new Set(["string", "int", "float", "bool", "json", "list", "map"]);
const DECLARES = new Set(["node", "graph", "plan", "task", "type", "const", "secret"]);

export const ngraphLanguage = StreamLanguage.define<State>({
  name: "ngraph",
  startState: () => ({ templates: [], isName: false }),
  copyState: ({ templates, isName }) => ({ templates: [...templates], isName }),
  token,
  languageData: { commentTokens: { line: "//" }, closeBrackets: { brackets: ["(", "[", "{", '"', "`"] } },
});

function token(stream: StringStream, state: State): string | null {
  const { templates } = state;
  if (templates.at(-1) === -1) return templateToken(stream, templates);
  if (stream.eatSpace()) return null;
  if (stream.match("///")) return (stream.skipToEnd(), "comment");
  if (stream.match("//")) return (stream.skipToEnd(), "comment");
  if (stream.match("`")) return (templates.push(-1), "string");
  if (stream.match(/^"(?:[^"\\]|\\.)*"?/)) return "string";
  if (stream.match(/^\d[\w.]*/)) return "number";
  if (stream.match(/^[-=]>|^=>/)) return "operator";
  const word = stream.match(/^[A-Za-z_]\w*/);
  if (Array.isArray(word)) return wordToken(word[0], stream, state);
  const character = stream.next();
  const depth = templates.at(-1);
  if (depth !== undefined && character === "{") templates[templates.length - 1] = depth + 1;
  if (depth !== undefined && character === "}") {
    if (depth === 0) templates.pop();
    else templates[templates.length - 1] = depth - 1;
    return depth === 0 ? "string" : null;
  }
  return null;
}

function templateToken(stream: StringStream, templates: number[]): string {
  if (stream.match("${")) return (templates.push(0), "string");
  if (stream.match("`")) return (templates.pop(), "string");
  if (stream.match(/^(?:[^`$\\]|\\.|\$(?!\{))+/) === null) stream.next();
  return "string";
}

function wordToken(word: string, stream: StringStream, state: State): string {
  const { isName } = state;
  state.isName = DECLARES.has(word);
  if (isName) return "variableName.definition";
  const isField = stream.string[stream.start - 1] === "." || /^\s*:/.test(stream.string.slice(stream.pos));
  if (isField) return "propertyName";
  if (ATOMS.has(word)) return "atom";
  if (RESERVED.has(word) || WORDS.has(word)) return "keyword";
  if (TYPES.has(word)) return "typeName";
  return /^\s*\(/.test(stream.string.slice(stream.pos)) ? "variableName.function" : "variableName";
}
