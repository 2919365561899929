/** What calls of models have used: tokens, and their cost in the unit of the reports (US dollars by convention). */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cost: number;
}

/** The usage that a value describes: fields that are absent count as 0. `undefined` if it is no usage. */
export function readUsage(value: unknown): Usage | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const { inputTokens = 0, outputTokens = 0, cost = 0, ...others } = value as Record<string, unknown>;
  if (Object.keys(others).length > 0) return undefined;
  const amounts = [inputTokens, outputTokens, cost];
  if (!amounts.every((each) => typeof each === "number" && Number.isFinite(each) && each >= 0)) return undefined;
  return { inputTokens: Number(inputTokens), outputTokens: Number(outputTokens), cost: Number(cost) };
}
