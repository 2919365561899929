/**
 * The lookahead of the parser: a state machine for each decision, built from `lookahead-table.ts` when the decision is
 * first met.
 *
 * The table is computed from the recorded grammar by Chevrotain's `getLookaheadPaths` (LL(2)). Recording takes longer
 * than reading a small file, so it happens in a test that compares the table, not at start.
 */
import type { IToken } from "chevrotain";
import * as t from "../lexer/tokens.ts";
import { decisionName } from "./decisions.ts";
import { LOOKAHEAD_TABLE } from "./lookahead-table.ts";

/** The alternatives that are left after some tokens. */
export interface LookaheadState {
  /** The first alternative that has matched; `undefined` if more tokens are needed. */
  accepted: number | undefined;
  /** Next states by word, for identifiers that are words of the grammar here. */
  readonly words: Map<string, LookaheadState>;
  /** Next state for all other identifiers. */
  identifier: LookaheadState | undefined;
  /** Next states by the index of the token type. */
  readonly types: (LookaheadState | undefined)[];
  isFinal: boolean;
}

type Path = readonly string[];

const TYPES = new Map<string, readonly t.TokenType[]>(
  t.VOCABULARY.map((type) => [
    type.name,
    type.isParent === true ? t.VOCABULARY.filter((member) => member.CATEGORIES?.includes(type)) : [type],
  ]),
);

const states: (LookaheadState | undefined)[] = [];

/** The first state of a decision. */
export function lookaheadOf(decision: number): LookaheadState {
  let state = states[decision];
  if (state === undefined) {
    const name = decisionName(decision);
    const alternatives = (name === undefined ? undefined : LOOKAHEAD_TABLE[name]) ?? [];
    const paths = alternatives.flatMap((texts, alternative) =>
      texts.map((text) => ({ path: text.split(" "), alternative })),
    );
    state = stateOf(paths);
    states[decision] = state;
  }
  return state;
}

function stateOf(paths: readonly { readonly path: Path; readonly alternative: number }[]): LookaheadState {
  const state: LookaheadState = {
    accepted: undefined,
    words: new Map(),
    identifier: undefined,
    types: [],
    isFinal: paths.every(({ path }) => path.length === 0),
  };
  const after = (matches: (token: string) => boolean): LookaheadState | undefined => {
    const rest = paths.filter(({ path }) => path[0] !== undefined && matches(path[0]));
    return rest.length === 0
      ? undefined
      : stateOf(rest.map(({ path, alternative }) => ({ path: path.slice(1), alternative })));
  };
  for (const { path, alternative } of paths) {
    const [first] = path;
    if (first === undefined) state.accepted = Math.min(state.accepted ?? alternative, alternative);
    else if (first.startsWith("'")) {
      const word = first.slice(1, -1);
      if (!state.words.has(word)) {
        const next = after((token) => token === first || token === t.Identifier.name);
        if (next !== undefined) state.words.set(word, next);
      }
    } else if (first === t.Identifier.name) state.identifier ??= after((token) => token === first);
    else {
      for (const type of TYPES.get(first) ?? []) {
        const index = type.tokenTypeIdx ?? 0;
        state.types[index] ??= after((token) => TYPES.get(token)?.includes(type) === true);
      }
    }
  }
  return state;
}

/** The state after one more token. */
export function advance(state: LookaheadState, token: IToken): LookaheadState | undefined {
  if (token.tokenType !== t.Identifier) return state.types[token.tokenTypeIdx];
  return state.words.get(token.image) ?? state.identifier;
}
