/** Interface, errors: `JSON.stringify` of an error keeps its message, code, cause and place. */
import { describe, expect, test } from "vitest";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { engineOf } from "../support/graph.ts";

const plain = (error: unknown): unknown => JSON.parse(JSON.stringify({ error })).error;

describe("errors serialise", () => {
  test("the error of a failed node", async () => {
    const fail = (): never => {
      throw new Error("no route to host");
    };
    const text = `graph g { output out: string[] = [] reduce append  state xs: string[] = ["a"]
      node every = fail(x) for x in xs into out { tries 2 backoff 1ms }  start -> every }`;
    const { error } = await engineOf(text, { fail }, { store: new MemoryStore() }).run({}, { thread: "t" });
    expect(plain(error)).toEqual({
      name: "NodeError",
      code: "NG_NODE_FAILED",
      message: "node `every` failed at item 0 after 2 attempts: no route to host",
      cause: "no route to host",
      nodeId: "every",
      attempts: 2,
      items: [0],
      threadId: "t",
    });
  });

  test("without the values of secrets", async () => {
    const text = "secret KEY\ngraph g { output n: int = 0  node a = fail(KEY) into n  start -> a }";
    const fail = (key: string): never => {
      throw new Error(`the key ${key} is not valid`);
    };
    const { error } = await engineOf(text, { fail }, { secrets: { KEY: "s3cr3t-value" } }).run({});
    expect(JSON.stringify(error)).not.toContain("s3cr3t-value");
    expect(plain(error)).toMatchObject({ cause: "the key [secret KEY] is not valid" });
  });

  test("an error of a thread, with its details, and one of a run", async () => {
    const store = new MemoryStore();
    const engine = engineOf("graph g { output n: int = 0  node a = 1 into n  start -> a }", {}, { store });
    await engine.run({}, { thread: "t" });
    const other = engineOf("graph h { output n: int = 0  node a = 1 into n  start -> a }", {}, { store });
    const drift = await other.run({}, { thread: "t" }).catch((thrown: unknown) => thrown);
    expect(plain(drift)).toMatchObject({
      name: "ThreadError",
      code: "NG_DRIFT",
      threadId: "t",
      details: ["the graph was `g`"],
      message: expect.stringContaining("belongs to graph `g`") as string,
    });
    const controller = new AbortController();
    controller.abort(new Error("enough"));
    const { error } = await engine.run({}, { thread: "u", signal: controller.signal });
    expect(plain(error)).toMatchObject({ name: "RunError", code: "NG_CANCELLED", cause: "enough" });
  });

  test("a cause that cannot be read is omitted", async () => {
    const fail = (): never => {
      // eslint-disable-next-line @typescript-eslint/only-throw-error
      throw Proxy.revocable({}, {}).proxy;
    };
    const { error } = await engineOf("graph g { output n: int = 0  node a = fail() into n  start -> a }", { fail }).run(
      {},
    );
    expect(plain(error)).toMatchObject({ code: "NG_NODE_FAILED", nodeId: "a" });
  });
});
