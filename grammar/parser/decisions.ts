/**
 * The decisions of the grammar: each place where the parser chooses between alternatives, takes an optional part or
 * repeats one. `lookahead-table.ts` holds the tokens that select each alternative. A decision has one number in the
 * whole grammar, because a recorded production carries a number and no name.
 */
const NAMES = [
  // File
  "item",
  "importType",
  "importAs",
  "statement",
  "graphWas",
  "planStatement",
  "planSetting",
  "failureMode",
  // Types
  "leadingPipe",
  "unionMember",
  "listSuffix",
  "typeAtom",
  "mapEnd",
  "literal",
  "minus",
  "optionalField",
  "key",
  // Expressions
  "choice",
  "binaryOperator",
  "prefix",
  "prefixOperator",
  "postfix",
  "postfixKind",
  "memberDot",
  "property",
  "primary",
  "call",
  "argumentName",
  "argumentNameKind",
  "nextFor",
  "forIndex",
  "forCondition",
  "recordValue",
  "templatePart",
  "templatePartKind",
  // Policies
  "policy",
  "backoff",
  "backoffMax",
  "cacheFor",
  "cacheInputs",
  "cacheVariables",
  "cacheTools",
  "pauseWhen",
  "undoPolicies",
  "undoPolicy",
  "touchesRead",
  "poolCount",
  "inputPath",
  "touchedPath",
  "variableName",
  "toolCommand",
  "outputPath",
  // Declarations
  "channelRole",
  "initial",
  "reducer",
  "channelWas",
  "each",
  "matrix",
  "into",
  "policies",
  "output",
  "outputSet",
  "outputOptional",
  "outputChannel",
  "fieldSet",
  "finalTask",
  "after",
  "trigger",
  "need",
  "needWord",
  "nextNeed",
  "nextNeedWord",
  "taskCondition",
  // Edges
  "chainLink",
  "rightSide",
  "source",
  "member",
  "onError",
  "guard",
  "guardKind",
  "match",
  "patterns",
  "pattern",
  "conditionArm",
  // Limits and assertions
  "limit",
  "limitKind",
  "limitValue",
  "assertion",
  "assertEach",
  // Tests
  "testCases",
  "testItem",
  "mock",
  "answerThen",
  "mockThen",
  "mockAfter",
  "signalName",
  "signalThen",
  "expectation",
  "nextStep",
  "step",
  "laterStep",
] as const;

export type DecisionName = (typeof NAMES)[number];

/** The number of each decision, from 1. */
export const D = Object.fromEntries(NAMES.map((name, index) => [name, index + 1])) as Readonly<
  Record<DecisionName, number>
>;

/** The name of a decision; `undefined` for the loops with recovery, which are numbered from `FIRST_LOOP` on. */
export function decisionName(number: number): DecisionName | undefined {
  return NAMES[number - 1];
}

/**
 * Lists in brackets, bodies and lists of names decide by hand, because they recover from errors: their numbers begin
 * here.
 */
export const FIRST_LOOP = 150;
