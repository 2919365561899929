import type { Usage } from "../interface/usage.ts";

export const NO_USAGE: Usage = Object.freeze({ inputTokens: 0, outputTokens: 0, cost: 0 });

/** The sum of both. */
export function addUsage(a: Usage, b: Usage): Usage {
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cost: a.cost + b.cost,
  };
}
