/**
 * Mistakes that the proofs could make, at least one for each construct of the language; each is a mutation of the compiler's
 * source text (`test/support/mutate.ts`). A change to the code moves the mutation point along.
 */
import { before, mutation, swap, type Mutation } from "../../support/mutate.ts";

export interface PlantedMistake {
  readonly name: string;
  /** Files are relative to `compiler/`. */
  readonly mutations: readonly Mutation[];
  /** Graphs in which it can show. */
  readonly where?: RegExp;
}

const BEHAVIOUR = "explore/node-behaviour.ts";
const BUILD = "control/build-net.ts";
const DATA = "explore/data-model.ts";
const ENVIRONMENT = "explore/environment.ts";
const EVALUATE = "explore/evaluate-abstractly.ts";
const NUMBERS = "explore/number-set.ts";
const COMBINE = "explore/combine-routes.ts";
const FIRE = "explore/fire-barriers.ts";
const LISTS = "explore/list-facts.ts";
const JUMPS = "explore/jump-outcomes.ts";
const OUTCOMES = "explore/outcomes.ts";
const RANKS = "explore/ranked-loops.ts";
const STEPS = "explore/step-transitions.ts";
const WORST_CASE = "checks/worst-case.ts";
const WRITTEN = "control/unwritten.ts";

const GOES = /\bgoes /;
const CHOICE = / when | match /;

/** Quick depth plants every tenth mistake, beginning with the first. */
export const PLANTED_MISTAKES: readonly PlantedMistake[] = [
  {
    name: "an empty `for` writes",
    mutations: [mutation(DATA, "empty-for", `return false;`)],
    where: / for item in .* into /,
  },
  {
    name: "a list that `[1, 2]` is appended to grows by one item",
    mutations: [mutation(LISTS, "appended-items", swap("appended.count", "1"))],
    where: /len\(grown\)/,
  },
  {
    name: "of several targets only the first is signalled",
    mutations: [
      mutation(
        COMBINE,
        "signalled-places",
        `if (place !== undefined && place !== END_TARGET && places.size === 0) places.add(place);`,
      ),
    ],
  },
  {
    name: "the last arm of a match on values is never taken",
    mutations: [mutation(COMBINE, "value-arms", `disjoint.branches.slice(0, -1)`, "right")],
    where: / match [^{ ]+ \{/,
  },
  {
    name: "`else` of a match on conditions is never taken",
    mutations: [mutation(COMBINE, "condition-arms", `branches.slice(0, -1)`, "right")],
    where: / match \{/,
  },
  {
    name: "`otherwise` is never taken",
    mutations: [mutation(COMBINE, "otherwise", `return [];`)],
    where: / otherwise$/m,
  },
  {
    name: "a `when` that holds is always taken",
    mutations: [
      mutation(
        COMBINE,
        "when-passed",
        `if (passed !== undefined && taken === undefined) next.push({ ...passed, ...mergedWith(item, undefined) });`,
      ),
    ],
    where: / when /,
  },
  {
    name: "a condition always has a value",
    mutations: [mutation(COMBINE, "condition-without-value", `void withoutValue;`)],
    where: /10 \//,
  },
  {
    name: "error edges are dropped",
    mutations: [
      mutation(
        OUTCOMES,
        "error-edges",
        `node.errorRouting !== undefined && node.fails === "perhaps" && node.alwaysFails`,
        "test",
      ),
    ],
    where: / on error/,
  },
  {
    name: "a `goto` to one node is dropped",
    mutations: [mutation(OUTCOMES, "goto-one", `void singleJumps;`)],
    where: GOES,
  },
  {
    name: "`send` is dropped",
    mutations: [mutation(JUMPS, "sent-nodes", `const sent = [[]] as readonly (readonly number[])[];`)],
    where: GOES,
  },
  {
    name: "a node that jumps always writes",
    mutations: [mutation(DATA, "optional-write", swap("node.goes !== undefined || ", ""))],
    where: GOES,
  },
  {
    name: "an exclusive `goto` leaves the other routes of its step alone",
    mutations: [mutation(STEPS, "exclusive-jump", `false`, "test")],
    where: GOES,
  },
  {
    name: "`stop` is dropped",
    mutations: [
      mutation(JUMPS, "stop", `const canStop = false;`),
      mutation(OUTCOMES, "goto-one", swap("found.push", "if (each.places.length > 0) found.push")),
    ],
    where: /goes [^}]*end/,
  },
  {
    name: "all conditions on `error` of a step speak of one failure",
    mutations: [mutation(STEPS, "steady-term", `const isSteady = true;`)],
    where: /on error when/,
  },
  {
    name: "a barrier keeps its signals when it fires",
    mutations: [mutation(FIRE, "barrier-cleared", `void marked.delete;`)],
    where: /all\(|waits/,
  },
  {
    name: "a barrier fires when one member has signalled",
    mutations: [
      mutation(
        FIRE,
        "barrier-complete",
        swap("areMarked(barrier, marked)", "barrier.members.some((member) => marked.has(member.place))"),
      ),
    ],
    where: /all\(|waits/,
  },
  {
    name: "a `settled` barrier fires with its first signal",
    mutations: [mutation("explore/settled-barriers.ts", "settled-reach", `void isHeld; return settled.barriers;`)],
    where: /settled\(/,
  },
  {
    name: "signals that meet are not noticed",
    mutations: [mutation(STEPS, "collisions", swap("fired, collisions,", "fired, collisions: NO_COLLISIONS,"))],
  },
  {
    name: "of `any(a, b)` only the first can fill the member",
    mutations: [mutation(BUILD, "barrier-members", swap("[...nodes,", "[...nodes.slice(0, 1),"))],
    where: /any\(/,
  },
  {
    name: "`waits` takes signals from every node",
    mutations: [
      mutation(
        BUILD,
        "gate-signals",
        `if (member === undefined) return [{ place: places.barriers[gate]!.members[0]!.place, node, origin }];`,
      ),
    ],
    where: /waits /,
  },
  {
    name: "a failed node counts as finished",
    mutations: [mutation(STEPS, "failed-flag", `const bit = undefined as number | undefined;`)],
    where: /assert (eventually|n\d+ before)[^]* on error|on error[^]*assert (eventually|n\d+ before)/,
  },
  {
    name: "an input has its default in every run",
    mutations: [
      mutation(
        DATA,
        "input-values",
        swap("return declared", "return channel.initial === undefined ? declared : valueSetOfJson(channel.initial)"),
      ),
    ],
    where: /^ *input \w+: .*=/m,
  },
  {
    name: "memory starts with its default in every run",
    mutations: [mutation(DATA, "memory-values", `return start;`)],
    where: /^ *memory /m,
  },
  {
    name: "a channel without a reducer keeps its first value",
    mutations: [mutation(ENVIRONMENT, "plain-write", `return current;`)],
    where: CHOICE,
  },
  {
    name: "`reduce last` takes the first writer",
    mutations: [mutation(ENVIRONMENT, "last-write", `return values[0] ?? current;`)],
    where: /reduce last/,
  },
  {
    name: "`reduce sum` forgets what was there",
    mutations: [mutation(ENVIRONMENT, "sum-write", swap("addKnown(before, value", "addKnown(value, value"))],
    where: /reduce sum/,
  },
  {
    name: "`reduce min` and `max` keep the start value",
    mutations: [mutation(ENVIRONMENT, "least-write", `return current;`)],
    where: /reduce (min|max)/,
  },
  {
    name: "an imported reducer keeps the start value",
    mutations: [mutation(ENVIRONMENT, "imported-write", `return current;`)],
    where: /reduce fold/,
  },
  {
    name: "states with other values are taken for the same",
    mutations: [mutation(STEPS, "state-key", `const key = places.join();`)],
    where: CHOICE,
  },
  {
    name: "a difference is a sum",
    mutations: [mutation(EVALUATE, "subtraction", swap(`expression.operator === "+"`, `expression.operator !== "??"`))],
    where: / - 1/,
  },
  {
    name: "`?:` has the value of its first branch",
    mutations: [mutation(EVALUATE, "conditional-value", swap("expression.else", "expression.then"))],
    where: / \? /,
  },
  {
    name: "sums of floats are those of real numbers",
    mutations: [
      mutation(
        NUMBERS,
        "rounded-sum",
        `result.push({ low, lowOpen: x.lowOpen || y.lowOpen, high, highOpen: x.highOpen || y.highOpen });`,
      ),
    ],
    where: /float/,
  },
  {
    name: "what a failed node should have written is not null",
    mutations: [mutation(WRITTEN, "written-by-failed", swap("done === 1", "done >= 0"))],
    where: / on error/,
  },
  {
    name: "retries are no calls",
    mutations: [mutation(WORST_CASE, "attempts", `const attempts = 1;`)],
    where: /(llm|http|shell|tool)\(.*tries/,
  },
  {
    name: "what a called graph calls is no call",
    mutations: [
      mutation(WORST_CASE, "called-graphs", `if (call.kind !== "plan" || node.tries === undefined) return new Map();`),
    ],
    where: /inner\(/,
  },
  {
    name: "no deadline passes",
    mutations: [mutation(BEHAVIOUR, "waiting-failure", before(`if (node.within !== undefined) return "never";`))],
    where: /within/,
  },
  {
    name: "each signal fits",
    mutations: [
      mutation(
        BEHAVIOUR,
        "waiting-failure",
        before(`if (node.call.kind === "builtin" && node.call.signature.name === "receive") return "never";`),
      ),
    ],
    where: /receive\(/,
  },
  {
    name: "a timer bounds a loop as an answer does",
    mutations: [
      mutation(
        BEHAVIOUR,
        "waiting-node",
        swap("call.signature.pauses === true", `(call.signature.pauses === true || call.signature.name === "sleep")`),
      ),
    ],
    where: /sleep\(/,
  },
  {
    name: "the reducer combines a write with `set`",
    mutations: [mutation(DATA, "replaced-channel", swap("replaced.has(channel.name) || ", ""))],
    where: /set \w+/,
  },
  {
    name: "a write with `set` conflicts with no other",
    mutations: [
      mutation(
        "checks/check-data.ts",
        "set-conflicts",
        `const conflicts = channel.reducer === undefined ? pairs : [];`,
      ),
    ],
    where: /set \w+/,
  },
  {
    name: "a result has its optional fields",
    mutations: [mutation(DATA, "optional-write", swap(" || isOptional", ""))],
    where: /\?[:, ]/,
  },
  {
    name: "`merge` by id removes no item",
    mutations: [
      mutation(
        BEHAVIOUR,
        "kept-items",
        swap(`reducer?.kind === "union"`, `reducer?.kind === "union" || reducer?.kind === "merge"`),
      ),
    ],
    where: /reduce merge/,
  },
  {
    name: "the condition of a `for` leaves out no item",
    mutations: [mutation(BEHAVIOUR, "item-condition", `void each.condition;`)],
    where: / for .* if /,
  },
  {
    name: "a derived name reads no channel",
    mutations: [mutation("bind/collect-names.ts", "derived-reads", `void next.value;`)],
    where: /derive /,
  },
  {
    name: "a node that jumps writes nothing",
    mutations: [mutation(DATA, "jump-write", before("if (node.goes !== undefined) return [];"))],
    where: GOES,
  },
  {
    name: "a definition outlives the values that it reads",
    mutations: [mutation("explore/definitions.ts", "killed-definition", `const kills: number[] = [];`)],
  },
  {
    name: "a list that a node replaces keeps its items",
    mutations: [mutation("control/filled-lists.ts", "replaced-list", `const replaced = new Set<string>();`)],
  },
  {
    name: "a condition that is not known to fail holds",
    mutations: [mutation(STEPS, "asserted-condition", `if (!isSure) return "never";`)],
    where: /assert .* at n\d+$/m,
  },
  {
    name: "runs continue after a broken assertion",
    mutations: [mutation(STEPS, "asserted-step", `const flags = 0;`)],
    where: /assert .* at n\d+$/m,
  },
  {
    name: "a counter that moves away from its bound reaches it",
    mutations: [
      mutation(RANKS, "rank-direction", swap("? PASSED_ABOVE : PASSED_BELOW", "? PASSED_BELOW : PASSED_ABOVE")),
    ],
    where: /count2? [<>]=? (most|len)/,
  },
  {
    name: "each way around a loop moves its counter",
    mutations: [mutation(RANKS, "rank-moves", `return true;`)],
    where: /count2? [<>]=? (most|len)/,
  },
  {
    name: "a node that runs again was signalled by itself",
    mutations: [mutation(RANKS, "rank-own-signals", `const own = readyOf(states[to]!);`)],
    where: /count2? [<>]=? (most|len)/,
  },
  {
    name: "a step that rolls back signals other nodes",
    mutations: [mutation(STEPS, "rolled-back", `false`, "test")],
    where: /-> rollback/,
  },
  {
    name: "a `for` whose items fail writes nothing",
    mutations: [mutation(OUTCOMES, "failed-items", `false`, "test")],
    where: /allow failure/,
  },
  {
    name: "a bound that the loop changes stays where it is",
    mutations: [mutation(RANKS, "rank-bound", `const written = new Set<number>();`)],
    where: /count2? [<>]=? (most|len)/,
  },
  {
    name: "what an expression appends last is any item",
    mutations: [mutation("explore/term-liveness.ts", "free-last-item", `const isFree = true;`)],
    where: /last\(notes\)/,
  },
  {
    name: "branches of one jump that meet in different steps are one",
    mutations: [mutation("explore/defects.ts", "double-runs", swap("defects.doubleRuns.length === 0", "true"))],
    where: GOES,
  },
];

const GROUPS = "explore/jump-groups.ts";

/** Searches for groups among few targets, too. The oracle of jumps uses it, because random graphs have few targets. */
export const GROUPS_OF_FEW: Mutation = mutation(GROUPS, "few-targets", "");

/** Mistakes in the groups of jump targets; they show only with `GROUPS_OF_FEW`. */
export const PLANTED_IN_GROUPS: readonly PlantedMistake[] = [
  {
    name: "branches that share a place are independent",
    mutations: [GROUPS_OF_FEW, mutation(GROUPS, "branches-meet", swap("meet(a.nodes, b.nodes) ||", ""))],
  },
];
