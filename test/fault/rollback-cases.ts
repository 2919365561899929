/** Graphs with `undo`, and what a rollback of each of them must undo. */

export interface RollbackCase {
  readonly name: string;
  readonly text: string;
  /** Labels of the functions that throw. */
  readonly failing: readonly string[];
  /** Labels whose undo throws when it is called for the first time. */
  readonly failingUndos?: readonly string[];
  /** The arguments of all undos, in the order of the rollback. The first one is the result: a label. */
  readonly expected: readonly (readonly unknown[])[];
  /** Labels of results in a called graph. If the call has ended, its own undo replaces theirs; its result is `call …`. */
  readonly replaced?: readonly string[];
  /** A first run ends before. The run that dies is a fork that continues from the checkpoint after this node. */
  readonly forkAfter?: string;
  /** The graph undoes its own part first: the head of this namespace rolls back. */
  readonly namespace?: string;
}

const CHILD = `graph child { output a: string | null  output b: string | null
  node makeA = reserve("a") into a { undo cancel(a) }  node makeB = reserve("b") into b { undo cancel(b) }
  start -> makeA -> makeB -> end }`;

const TRIP = `output first: string | null  output refs: string[] = [] reduce append
  output n: int = 0  output l: string | null  output r: string | null  output c: string | null
  node one = reserve("first", n) into first { undo cancel(first, n) }
  node every = reserve(\`item-\${n}-\${x}\`) for x in [1, 2] into refs { undo cancel(refs, x, n) }
  node count = n + 1 into n
  node left = reserve("left") into l { undo cancel(l, r) }
  node right = reserve("right") into r { undo cancel(r, l) }
  node call = child() into { a: c }
  node bad = reserve("bad")
  start -> one -> every -> count  count -> every when n < 2  count -> left, right, call otherwise
  all(left, right, call) -> bad  bad -> end`;

const TRIP_UNDOS = [
  ["b"],
  ["a"],
  ["right", null],
  ["left", null],
  [["item-1-2"], 2, 1],
  [["item-1-1"], 1, 1],
  [["item-0-2"], 2, 0],
  [["item-0-1"], 1, 0],
  ["first", 0],
] as const;

export const ROLLBACK_CASES: readonly RollbackCase[] = [
  {
    name: "an edge leads to rollback after branches, a loop, items and a called graph",
    text: `${CHILD} graph trip { ${TRIP}  bad -> rollback on error }`,
    failing: ["bad"],
    expected: TRIP_UNDOS,
  },
  {
    name: "engine.rollback of a failed run, with an undo that fails at first",
    text: `${CHILD} graph trip { ${TRIP} }`,
    failing: ["bad"],
    failingUndos: ["left"],
    expected: TRIP_UNDOS,
  },
  {
    name: "a step fails before its results are applied, and a called graph before its end",
    text: `graph child { output a: string | null  output b: string | null
      node makeA = reserve("a") into a { undo cancel(a) }  node makeB = reserve("b") into b { undo cancel(b) }
      start -> makeA -> makeB -> end }
      graph g { output l: string | null  output c: string | null  output r: string[] = [] reduce append
      node left = reserve("left") into l { undo cancel(l) }  node call = child() into { b: c }
      node right = reserve(x) for x in ["r1", "r2"] into r { undo cancel(r, x) }
      start -> left, call, right }`,
    failing: ["b"],
    expected: [[["r2"], "r2"], [["r1"], "r1"], ["a"], ["left"]],
  },
  {
    name: "the updates of a step collide, so that its results are dropped",
    text: `graph g { output l: string | null
      node left = reserve("left") into l { undo cancel(l) }  node right = reserve("right") into l { undo cancel(l) }
      start -> left, right }`,
    failing: [],
    expected: [["right"], ["left"]],
  },
  {
    name: "a called graph rolls back its own part, then its caller; a `finally` part follows",
    text: `graph child { output a: string | null  output b: string | null
      node makeA = reserve("a") into a { undo cancel(a) }  node makeB = reserve("b") into b { undo cancel(b) }
      node bad = reserve("bad")  start -> makeA -> makeB -> bad -> end  bad -> rollback on error }
      graph g { output l: string | null  output c: string | null  output how: string = ""
      node left = reserve("left") into l { undo cancel(l) }  node call = child() into { a: c }
      node close = outcome?.status ?? "" into how
      start -> left -> call -> end  call -> rollback on error  finally -> close }`,
    failing: ["bad"],
    expected: [["b"], ["a"], ["left"]],
    namespace: "call",
  },
  {
    name: "the undo of a call replaces those of the called graph; a barrier leads to rollback, and sends are dropped",
    text: `${CHILD} graph g { output l: string | null  output c: string | null  output d: string | null
      node left = reserve("left") into l { undo cancel(l) }  node call = child() into { a: c } { undo cancel(\`call \${c}\`) }
      node spread = spread() { goes worker }  node worker = reserve("worker") into d
      start -> left, call  all(left, call) -> spread  all(left, spread) -> rollback }`,
    failing: [],
    expected: [["call a"], ["left"]],
    replaced: ["b", "a"],
  },
  {
    name: "a paused thread with a secret in the arguments",
    text: `secret TOKEN
      graph g { output l: string | null  output yes: string | null
      node left = reserve("left") into l { undo cancel(l, { auth: \`Bearer \${TOKEN}\`, ref: l }) }
      node wait = ask("sure?") into yes  start -> left -> wait -> end }`,
    failing: [],
    expected: [["left", { auth: "Bearer SECRET", ref: "left" }]],
  },
  {
    name: "a fork undoes what the branch before it has left, and nothing twice",
    text: `graph g { output x: string | null  output y: string | null  output z: string | null
      node one = reserve("one") into x { undo cancel(x) }  node two = reserve("two") into y { undo cancel(y) }
      node three = reserve("three") into z { undo cancel(z) }  node bad = reserve("bad")
      start -> one -> two -> three -> bad -> end  bad -> rollback on error }`,
    failing: ["bad"],
    failingUndos: ["two"],
    // Both branches. `one` belongs to both, and is undone before the fork.
    expected: [["three"], ["three"], ["two"], ["two"], ["one"]],
    forkAfter: "one",
  },
];
