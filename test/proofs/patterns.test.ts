import { describe, expect, it } from "vitest";
import { checkText } from "../checks/support/check-text.ts";

/**
 * The classic workflow patterns (W. van der Aalst and others) and patterns of agents. Each has its correct verdict: its
 * errors and warnings, and whether it is proven sound (NG310).
 */
const PATTERNS: readonly (readonly [name: string, findings: readonly string[], sound: boolean, graph: string])[] = [
  [
    "sequence",
    [],
    true,
    `node a = act()
    node b = act()
    node c = act()
    start -> a -> b -> c -> end`,
  ],
  [
    "parallel split and synchronization",
    [],
    true,
    `node a = act()
    node b = act()
    node c = act()
    node d = act()
    start -> a -> b, c  all(b, c) -> d -> end`,
  ],
  [
    "exclusive choice and simple merge",
    [],
    true,
    `state k: "x" | "y"
    node a = check() into k
    node b = act()
    node c = act()
    node d = act()
    start -> a  a -> match k { "x" -> b "y" -> c }  any(b, c) -> d  d -> end`,
  ],
  [
    "multi choice and general synchronizing merge (OR-join)",
    [],
    true,
    `state k: bool = false
    state l: bool = false
    node a = check() into k
    node e = check() into l
    node b = act()
    node c = act()
    node c2 = act()
    node d = act()
    start -> a -> e
    e -> b when k
    e -> c when l
    e -> d when !k && !l
    c -> c2
    settled(b, c2) -> d
    d -> end`,
  ],
  [
    "multi choice, merged without waiting",
    ["NG316"],
    false,
    `state x: bool = false
    state y: bool = false
    node a = check() into { x, y }
    node b = act()
    node c = act()
    node d = act()
    start -> a  a -> b when x  a -> c when y  a -> d otherwise  any(b, c) -> d  d -> end`,
  ],
  [
    "multi choice, barrier over both",
    ["NG302"],
    false,
    `state x: bool = false
    state y: bool = false
    node a = check() into { x, y }
    node b = act()
    node c = act()
    node d = act()
    start -> a  a -> b when x  a -> c when y  a -> d otherwise  all(b, c) -> d  d -> end`,
  ],
  [
    "synchronizing merge: who is skipped signals too",
    [],
    true,
    `state x: bool = false
    state y: bool = false
    node a = check() into { x, y }
    node askB = "" into skip
    node askC = "" into skip2
    state skip: string = ""
    state skip2: string = ""
    node b = act(skip)
    node c = act(skip2)
    node noB = act()
    node noC = act()
    node d = act()
    start -> a  a -> askB, askC  askB -> b when x askB -> noB otherwise  askC -> c when y  askC -> noC otherwise all(any(b, noB), any(c, noC)) -> d  d -> end`,
  ],
  [
    "multi merge",
    ["NG307"],
    false,
    `node a = act()
    node b = act()
    node b2 = act()
    node c = act()
    node d = act()
    start -> a -> b, c  b -> b2  any(b2, c) -> d  d -> end`,
  ],
  [
    "arbitrary cycle with exit",
    [],
    true,
    `limit steps 50
    state ok: bool = false
    node a = act()
    node b = check() into ok
    start -> a -> b  b -> a when !ok  b -> end otherwise`,
  ],
  [
    "implicit termination",
    [],
    true,
    `node a = act()
    node b = act()
    node c = act()
    node d = act()
    start -> a -> b, c  b -> d`,
  ],
  [
    "multiple instances",
    [],
    true,
    `input docs: string[]
    output notes: string[] reduce append
    node every = act(doc) for doc in docs into notes
    node sum = act(notes)
    start -> every -> sum -> end`,
  ],
  [
    "deferred choice",
    [],
    true,
    `state v: "yes" | "no"
    node a = act()
    node q = ask("Go?") into v
    node b = act()
    start -> a -> q  q -> match v { "yes" -> b "no" -> end }  b -> end`,
  ],
  [
    "structured loop, counted",
    [],
    true,
    `state n: int = 0
    node a = act()
    node count = n + 1 into n
    start -> a -> count  count -> a when n < 5  count -> end otherwise`,
  ],
  [
    "loop around a fork and join",
    [],
    true,
    `state n: int = 0
    node f = n + 1 into n
    node a = act()
    node b = act()
    node j = act()
    start -> f -> a, b all(a, b) -> j  j -> f when n < 3 j -> end otherwise`,
  ],
  [
    "generalized and join",
    [],
    true,
    `node a = act()
    node h = act()
    node b = act()
    node j = act()
    start -> a, b  a -> h on error  all(any(a, h), b) -> j  j -> end`,
  ],
  [
    "cancel case",
    [],
    true,
    `state ok: bool = false
    node a = check() into ok
    node b = act()
    node stop = fail("no")
    start -> a  a -> b when ok a -> stop otherwise b -> end`,
  ],
  [
    "supervisor",
    [],
    true,
    `limit steps 50
    memory log: string[] reduce append
    node boss = act(log) { goes writer, coder, end }
    node writer = act() into log
    node coder = act() into log
    start -> boss  any(writer, coder) -> boss`,
  ],
  [
    "map reduce by send",
    [],
    true,
    `output parts: string[] reduce append
    node plan = act() { goes worker }
    node worker = act() into parts
    node join = act(parts)
    start -> plan  worker -> join  join -> end`,
  ],
  [
    "reflection",
    [],
    true,
    `output text: string
    state note: string = ""
    state rounds: int = 0
    node write = act(note) into text
    node reflect = act(text) into note
    node count = rounds + 1 into rounds
    start -> write -> count  count -> reflect when rounds < 4  count -> end otherwise reflect -> write`,
  ],
  [
    "human approval",
    [],
    true,
    `output mail: string
    state v: "send" | "edit" | "drop"
    node draft = llm("write") into mail { timeout 30s }
    node approve = ask(mail) into v
    node send = http("https://x.test", method: "POST", body: mail) { timeout 10s idempotent }
    start -> draft -> approve approve -> match v { "send" -> send "edit" -> draft "drop" -> end } send -> end
    assert approve before send`,
  ],
  [
    "retry by error edge",
    [],
    true,
    `state n: int = 0
    node work = act()
    node again = n + 1 into n
    node giveUp = fail("three times")
    start -> work -> end  work -> again on error  again -> work when n < 3  again -> giveUp otherwise`,
  ],
  [
    "saga",
    [],
    true,
    `node book = act()
    node pay = act()
    node unbook = act()
    node done = act()
    start -> book -> pay -> done -> end  pay -> unbook on error  unbook -> end`,
  ],
  [
    "debate",
    [],
    true,
    `state n: int = 0
    output pro: string = ""
    output con: string = ""
    node a = act(con) into pro
    node b = act(pro) into con
    node judge = n + 1 into n
    start -> a, b all(a, b) -> judge  judge -> a, b when n < 3 judge -> end otherwise`,
  ],
  [
    "race of two, first wins",
    ["NG307"],
    false,
    `node a = act()
    node b = act()
    node slow = act()
    node c = act()
    start -> a, b  b -> slow  any(a, slow) -> c  c -> end`,
  ],
  [
    "two tools and a timeout handler",
    ["NG302", "NG316"],
    false,
    `node a = act() {timeout 5s}
    node b = act() {timeout 5s}
    node h = act()
    node j = act()
    start -> a, b  a -> h on error  b -> h on error  all(a, b) -> j  any(j, h) -> end`,
  ],
  [
    "side branch in loop",
    [],
    true,
    `limit steps 40
    state ok: bool = false
    node draft = act()
    node log = act()
    node judge = check() into ok
    start -> draft -> log, judge  judge -> draft when !ok  judge -> end otherwise`,
  ],
  [
    "nested fork",
    [],
    true,
    `node a = act()
    node b = act()
    node c = act()
    node d = act()
    node e = act()
    node f = act()
    node g = act()
    start -> a -> b, c  b -> d, e  all(d, e) -> f  all(f, c) -> g  g -> end`,
  ],
  [
    "waits for conditional arms",
    [],
    true,
    `state k: "x" | "y"
    node a = check() into k
    node b = act()
    node c = act()
    node e = act()
    node d = act() { waits b, c }
    start -> a, b  a -> match k { "x" -> c "y" -> e, c }  b -> d  c -> d  any(d, e) -> end`,
  ],
  [
    "chat",
    ["NG204"],
    false,
    `memory messages: string[] reduce append
    state q: string
    output reply: string
    node user = ask("?") into q
    node answer = act(messages, q) into { reply, messages }
    start -> user -> answer -> user`,
  ],
  [
    "router",
    [],
    true,
    `state r: "a" | "b" | "c"
    node route = llm("which") into r {timeout 10s}
    node a = act()
    node b = act()
    node c = act()
    start -> route  route -> match r { "a" -> a "b" -> b "c" -> c } any(a, b, c) -> end`,
  ],
  [
    "exclusive by conditions",
    [],
    true,
    `state s: float = 0
    node a = check() into s
    node b = act()
    node c = act()
    node d = act()
    start -> a  a -> b when s < 0.5  a -> c when s >= 0.5  any(b, c) -> d  d -> end`,
  ],
  [
    "while with flag",
    [],
    true,
    `limit steps 30
    state done: bool = false
    node a = check() into done
    start -> a  a -> match done { true -> end false -> a }`,
  ],
  [
    "poll beside work",
    ["NG205"],
    false,
    `limit steps 60
    state ready: bool = false
    node work = check() into ready
    node poll = sleep(1s)
    node use = act()
    start -> work, poll  poll -> poll when !ready  poll -> use otherwise  use -> end`,
  ],
];

describe.each(PATTERNS)("%s", (_name, findings, sound, graph) => {
  const checked = checkText(`graph pattern {\n${graph}\n}`);
  it(findings.length === 0 ? "has nothing wrong with it" : `gives ${findings.join(", ")}`, () => {
    expect(checked.findings).toEqual(findings);
  });
  it(sound ? "is proven sound" : "is not proven sound", () => {
    expect(checked.proofs.includes("NG310")).toBe(sound);
  });
});
