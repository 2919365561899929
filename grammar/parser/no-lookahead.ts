import { LLkLookaheadStrategy, type ILookaheadStrategy } from "chevrotain";

/**
 * Chevrotain computes a lookahead function for every option, repetition and alternation when a parser is built, which
 * is most of the cost of building one. This parser decides by gates of its own (`maybe`, `repeat`, `choose`), so none
 * is ever called. A test builds the parser with Chevrotain's own strategy and all its validations.
 */
export function noLookahead(): ILookaheadStrategy {
  const strategy: ILookaheadStrategy = new LLkLookaheadStrategy({ maxLookahead: 1 });
  const unused = (): never => {
    throw new Error("a rule asked for Chevrotain's lookahead: use `maybe`, `repeat` or `choose`");
  };
  strategy.buildLookaheadForAlternation = () => unused;
  strategy.buildLookaheadForOptional = () => unused;
  return strategy;
}
