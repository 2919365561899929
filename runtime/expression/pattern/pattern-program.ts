/**
 * A pattern as a nondeterministic automaton (Thompson's construction), run as a deterministic automaton that is built lazily.
 * It does not backtrack: at worst each instruction is visited once for each character.
 */
import { isPatternProblem, parsePattern } from "./parse-pattern.ts";
import { isWordCodePoint, type CodePointSet, type PatternNode, type PatternProblem } from "./pattern-node.ts";

/** Maximum number of instructions of one program. `x{n,m}` is expanded into m copies of `x`. */
const MAX_INSTRUCTIONS = 2000;
/** Maximum number of cached states. At this number the cache is cleared, and states are built again. */
const MAX_STATES = 1000;

type Instruction =
  | { readonly kind: "set"; readonly set: CodePointSet; next: number }
  | { readonly kind: "split"; next: number; other: number }
  | { readonly kind: "assert"; readonly at: "start" | "end" | "boundary" | "inside"; next: number }
  | { readonly kind: "match" };

export interface PatternProgram {
  readonly instructions: readonly Instruction[];
  readonly start: number;
  /** The first code point of each class, ascending. All code points of a class are in the same sets of the pattern. */
  readonly classes: readonly number[];
  /** Class of each ASCII character. */
  readonly ascii: readonly number[];
  readonly states: StateCache;
}

/** A state of the deterministic automaton: instructions that wait for a character; next states by class and context. */
interface State {
  readonly waiting: readonly number[];
  readonly next: (State | "match" | undefined)[];
}
interface StateCache {
  first: State;
  readonly byKey: Map<string, State>;
}

/** Compiles a pattern to a program. Returns a problem if the pattern is not accepted or needs too many instructions. */
export function compilePattern(pattern: string): PatternProgram | PatternProblem {
  const node = parsePattern(pattern);
  if (isPatternProblem(node)) return node;
  const instructions: Instruction[] = [{ kind: "match" }];
  const start = emit(node, 0, instructions);
  if (start === undefined) {
    return { message: `the pattern needs more than ${MAX_INSTRUCTIONS} instructions: repeat less`, offset: 0 };
  }
  const classes = classify(instructions);
  const first: State = { waiting: [start], next: [] };
  return {
    instructions,
    start,
    classes,
    ascii: Array.from({ length: 128 }, (_, code) => findClass(classes, code)),
    states: { first, byKey: new Map([[String(start), first]]) },
  };
}

/** Whether the pattern occurs in the text. */
export function runPattern(program: PatternProgram, text: string): boolean {
  let state = program.states.first;
  let before = false;
  for (let at = 0; at < text.length;) {
    const code = text.codePointAt(at) as number;
    const word = isWordCodePoint(code);
    const context = (at === 0 ? 1 : 0) | (word === before ? 0 : 2);
    const kind = code < 128 ? (program.ascii[code] as number) : findClass(program.classes, code);
    const key = kind * 4 + context;
    const next = (state.next[key] ??= step(program, state, code, context));
    if (next === "match") return true;
    state = next;
    before = word;
    at += code > 0xffff ? 2 : 1;
  }
  const context = (text.length === 0 ? 1 : 0) | (before ? 2 : 0) | 4;
  return close(program, state.waiting, context) === "match";
}

/** Emits `node`, last part first, with the exit `next`. Returns its entry, or `undefined` at `MAX_INSTRUCTIONS`. */
function emit(node: PatternNode, next: number, into: Instruction[]): number | undefined {
  if (into.length >= MAX_INSTRUCTIONS) return undefined;
  switch (node.kind) {
    case "set":
      return into.push({ kind: "set", set: node.set, next }) - 1;
    case "assert":
      return into.push({ kind: "assert", at: node.at, next }) - 1;
    case "sequence": {
      let entry: number | undefined = next;
      for (let i = node.parts.length - 1; i >= 0 && entry !== undefined; i--) {
        entry = emit(node.parts[i] as PatternNode, entry, into);
      }
      return entry;
    }
    case "choice": {
      let entry = emit(node.parts.at(-1) as PatternNode, next, into);
      for (let i = node.parts.length - 2; i >= 0 && entry !== undefined; i--) {
        const other = entry;
        const branch = emit(node.parts[i] as PatternNode, next, into);
        entry = branch === undefined ? undefined : into.push({ kind: "split", next: branch, other }) - 1;
      }
      return entry;
    }
    case "repeat":
      return emitRepeat(node, next, into);
  }
}

function emitRepeat(
  node: Extract<PatternNode, { kind: "repeat" }>,
  next: number,
  into: Instruction[],
): number | undefined {
  let entry: number | undefined = next;
  if (node.max === Infinity) {
    const loop: Extract<Instruction, { kind: "split" }> = { kind: "split", next, other: next };
    const at = into.push(loop) - 1;
    const body = emit(node.part, at, into);
    if (body === undefined) return undefined;
    loop.next = body;
    entry = at;
  } else {
    for (let i = node.min; i < node.max; i++) {
      const body: number | undefined = emit(node.part, entry, into);
      if (body === undefined) return undefined;
      entry = into.push({ kind: "split", next: body, other: next }) - 1;
    }
  }
  for (let i = 0; i < node.min; i++) {
    const body: number | undefined = emit(node.part, entry, into);
    if (body === undefined) return undefined;
    if (body === entry) break; // The body is empty. Nested repetitions such as `((){1000}){1000}` would take long.
    entry = body;
  }
  return entry;
}

/** Epsilon closure: follows instructions that take no character. Returns the reached `set` instructions, or "match". */
function close(program: PatternProgram, waiting: readonly number[], context: number): readonly number[] | "match" {
  const seen = new Set<number>();
  const open = [...waiting];
  const result: number[] = [];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (seen.has(at)) continue;
    seen.add(at);
    const instruction = program.instructions[at] as Instruction;
    if (instruction.kind === "match") return "match";
    if (instruction.kind === "set") result.push(at);
    else if (instruction.kind === "split") open.push(instruction.next, instruction.other);
    else if (holds(instruction.at, context)) open.push(instruction.next);
  }
  return result;
}

function holds(assertion: "start" | "end" | "boundary" | "inside", context: number): boolean {
  if (assertion === "start") return (context & 1) !== 0;
  if (assertion === "end") return (context & 4) !== 0;
  return ((context & 2) !== 0) === (assertion === "boundary");
}

function step(program: PatternProgram, state: State, code: number, context: number): State | "match" {
  const closed = close(program, state.waiting, context);
  if (closed === "match") return "match";
  // The search is not anchored: an attempt may start at every character.
  const waiting = new Set([program.start]);
  for (const at of closed) {
    const instruction = program.instructions[at];
    if (instruction?.kind === "set" && contains(instruction.set, code)) waiting.add(instruction.next);
  }
  return intern(
    program.states,
    [...waiting].sort((a, b) => a - b),
  );
}

function intern(cache: StateCache, waiting: readonly number[]): State {
  const key = waiting.join();
  const known = cache.byKey.get(key);
  if (known !== undefined) return known;
  if (cache.byKey.size >= MAX_STATES) {
    cache.byKey.clear();
    cache.first = { waiting: cache.first.waiting, next: [] };
    cache.byKey.set(cache.first.waiting.join(), cache.first);
  }
  const state: State = { waiting, next: [] };
  cache.byKey.set(key, state);
  return state;
}

function classify(instructions: readonly Instruction[]): readonly number[] {
  const starts = new Set([0]);
  for (const instruction of instructions) {
    if (instruction.kind !== "set") continue;
    for (let i = 0; i < instruction.set.length; i += 2) {
      starts.add(instruction.set[i] as number);
      starts.add((instruction.set[i + 1] as number) + 1);
    }
  }
  return [...starts].sort((a, b) => a - b);
}

function findClass(classes: readonly number[], code: number): number {
  let low = 0;
  let high = classes.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((classes[middle] as number) <= code) low = middle;
    else high = middle - 1;
  }
  return low;
}

function contains(set: CodePointSet, code: number): boolean {
  for (let i = 0; i < set.length; i += 2) {
    if (code >= (set[i] as number) && code <= (set[i + 1] as number)) return true;
  }
  return false;
}
