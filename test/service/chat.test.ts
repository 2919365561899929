/** Chats with the AI SDK's own transport and reader of messages. */
import { DefaultChatTransport, readUIMessageStream, type UIMessage } from "ai";
import { expect, test } from "vitest";
import { deferred } from "../support/deferred.ts";
import { tableOf } from "../support/graph.ts";
import { checkedService } from "./checked-service.ts";

const TABLE = tableOf(
  `graph chat {
  input question: string
  output reply: string
  output verdict: "yes" | "no"
  node draft = write(question) into reply
  node sure = ask(\`Send \${reply}?\`, choices: ["yes", "no"]) into verdict
  start -> draft -> sure -> end
}`,
  ["write"],
);

function chatService() {
  return checkedService({
    graphs: [
      {
        table: TABLE,
        functions: {
          write: async (question: unknown, context: unknown) => {
            if (question === "fail") throw new Error("no ink");
            const { emit } = context as { emit: (data: string, options: { kind: string }) => void };
            for (const part of ["<b>re: ", String(question), "</b>"]) emit(part, { kind: "token" });
            return `re: ${String(question)}`;
          },
        },
      },
    ],
  });
}

function chatWith({ service }: ReturnType<typeof chatService>, body: object = {}) {
  const messages: UIMessage[] = [];
  const transport = new DefaultChatTransport({
    api: "http://localhost/graphs/chat/chat",
    body,
    fetch: (async (input: string, init: RequestInit) => service.fetch(new Request(input, init))) as typeof fetch,
  });
  return async (text: string, chatId = "c1"): Promise<{ message: UIMessage | undefined; errors: unknown[] }> => {
    messages.push({ id: `u${messages.length}`, role: "user", parts: [{ type: "text", text }] });
    const stream = await transport.sendMessages({
      trigger: "submit-message",
      chatId,
      messageId: undefined,
      messages,
      abortSignal: undefined,
    });
    let message: UIMessage | undefined;
    const errors: unknown[] = [];
    for await (const each of readUIMessageStream({ stream, onError: (error) => errors.push(error) })) message = each;
    if (message !== undefined) messages.push(message);
    return { message, errors };
  };
}

const textsOf = (message: UIMessage | undefined): string[] =>
  (message?.parts ?? []).flatMap((part) => (part.type === "text" ? [part.text] : []));

test("a message starts a run whose tokens are text; its question is answered by the next message", async () => {
  const checked = chatService();
  const say = chatWith(checked);
  const first = await say("why?");
  expect(first.errors).toEqual([]);
  expect(textsOf(first.message)).toEqual(["<b>re: why?</b>", "Send re: why??"]);
  expect(first.message?.parts).toContainEqual(
    expect.objectContaining({ type: "data-pause", data: expect.objectContaining({ node: "sure" }) as unknown }),
  );
  const second = await say("yes");
  expect(second.message?.parts).toContainEqual({
    type: "data-result",
    data: { thread: "c1", status: "completed", output: { reply: "re: why?", verdict: "yes" } },
  });
  // The chat continues with another run of its thread.
  expect(textsOf((await say("and now?")).message)[0]).toBe("<b>re: and now?</b>");
  expect((await checked.get("/threads/c1")).body).toMatchObject({ status: "paused" });
});

test("a wrong answer, a run that fails and a wrong request are errors of the chat", async () => {
  const checked = chatService();
  const say = chatWith(checked);
  await say("why?", "c2");
  await expect(say("perhaps", "c2").then(({ errors }) => errors.join())).rejects.toThrow("NG_BAD_ANSWER");
  const failed = await chatWith(checked)("fail", "c3");
  expect(failed.errors.join()).toContain("NG_NODE_FAILED: node `draft` failed: no ink");
  await expect(chatWith(checked, { input: "other" })("x", "c4")).rejects.toThrow("names the input for the text");
  for (const messages of [
    [],
    "x",
    [null],
    [{ role: "assistant", parts: [] }],
    [{ role: "user", parts: [{ type: "text" }] }],
  ]) {
    const { status, body } = await checked.post("/graphs/chat/chat", { id: "c5", messages });
    expect([status, (body as { code: string }).code]).toEqual([422, "bad-field"]);
  }
});

test("a chat of one principal is not seen by another", async () => {
  const checked = checkedService({
    graphs: [{ table: TABLE, functions: { write: (question: unknown) => String(question) } }],
    authenticate: async (request) => ({ name: request.headers.get("x-user") ?? "none" }),
    authorize: ({ principal, thread }) => thread === null || thread.startsWith(`${principal.name}-`),
  });
  const body = { id: "ada-1", messages: [{ role: "user", parts: [{ type: "text", text: "secret" }] }] };
  expect((await checked.post("/graphs/chat/chat", body, { "x-user": "ada" })).status).toBe(200);
  const { status } = await checked.post("/graphs/chat/chat", body, { "x-user": "eve" });
  expect(status).toBe(404);
});

test("the answer to a question is a text wherever a text fits", async () => {
  const checked = checkedService({
    graphs: [
      {
        table: tableOf(`graph chat {
  input question: string
  output pick: "1" | "2"
  output note: string | null
  output count: int
  node which = ask("which?", choices: ["1", "2"]) into pick
  node why = ask("why?") into note
  node many = ask("how many?") into count
  start -> which -> why -> many -> end
}`),
      },
    ],
  });
  const say = chatWith(checked);
  for (const text of ["hello", "1", "42"]) expect((await say(text)).errors).toEqual([]);
  expect((await say("3")).message?.parts).toContainEqual({
    type: "data-result",
    data: { thread: "c1", status: "completed", output: { pick: "1", note: "42", count: 3 } },
  });
});

test("a message after a run that has failed begins another one; a graph with undos keeps it", async () => {
  const checked = chatService();
  await chatWith(checked)("fail");
  expect(textsOf((await chatWith(checked)("and now?")).message)[0]).toBe("<b>re: and now?</b>");
  const other = checkedService({
    graphs: [
      {
        table: tableOf(
          `graph chat {
  input question: string
  output reply: string
  node book = reserve(question) into reply { undo cancel(reply) }
  node last = write(reply) into reply
  start -> book -> last -> end
}`,
          ["reserve", "cancel", "write"],
        ),
        functions: {
          reserve: () => "seat",
          cancel: () => null,
          write: () => {
            throw new Error("no ink");
          },
        },
      },
    ],
  });
  await chatWith(other)("hello");
  await expect(chatWith(other)("again")).rejects.toThrow("NG_THREAD_BUSY");
});

test("a message that is sent twice does nothing the second time; another answer to it is a run of its own", async () => {
  const gate = deferred<void>();
  let runs = 0;
  const checked = checkedService({
    graphs: [
      {
        table: TABLE,
        functions: {
          write: async (question: unknown) => {
            runs++;
            if (question === "slow") await gate.promise;
            return `re: ${String(question)}`;
          },
        },
      },
    ],
  });
  const send = (id: string, text: string, more: object = {}) => {
    const body = { id: "c1", messages: [{ id, role: "user", parts: [{ type: "text", text }] }], ...more };
    return checked.post("/graphs/chat/chat", body);
  };
  const resultOf = ({ body }: Awaited<ReturnType<typeof send>>): unknown =>
    (body as string).split("\n").find((line) => line.includes('"data-result"'));
  const first = [send("m1", "slow")];
  await expect.poll(() => runs).toBe(1);
  // While the run works, and when it waits.
  first.push(send("m1", "slow"));
  gate.resolve();
  const [one, two] = (await Promise.all(first)).map(resultOf);
  expect(one).toContain('"status":"paused"');
  expect(two).toBe(one);
  expect(resultOf(await send("m1", "slow"))).toBe(one);
  const answered = resultOf(await send("m2", "yes"));
  expect(answered).toContain('"status":"completed"');
  expect(resultOf(await send("m2", "yes"))).toBe(answered);
  expect(runs).toBe(1);
  expect((await checked.get("/threads/c1")).body).toMatchObject({ status: "completed", metadata: {} });
  // An edited message keeps its id.
  expect(resultOf(await send("m2", "why?"))).toContain('"status":"paused"');
  expect(runs).toBe(2);
  await send("m3", "no");
  expect(resultOf(await send("m3", "no", { trigger: "regenerate-message" }))).toContain('"status":"paused"');
  expect(runs).toBe(3);
});

test("tokens that a slow client has missed are reported, and the outputs have the whole text", async () => {
  const checked = checkedService({
    graphs: [
      {
        table: tableOf(
          `graph chat { input question: string output reply: string
            node draft = write(question) into reply  start -> draft -> end }`,
          ["write"],
        ),
        functions: {
          write: (_: unknown, context: unknown) => {
            const { emit } = context as { emit: (data: string, options: { kind: string }) => void };
            for (let at = 0; at < 3_000; at++) emit(`${at} `, { kind: "token" });
            return "all of it";
          },
        },
      },
    ],
  });
  const { message } = await chatWith(checked)("why?");
  const dropped = message?.parts.find(({ type }) => type === "data-dropped") as { data: { count: number } } | undefined;
  expect(dropped?.data.count).toBeGreaterThan(900);
  expect(textsOf(message).at(-1)).toBe("all of it");
});

test("a client that leaves while a node works leaves no stream open", async () => {
  let finish = (): void => undefined;
  const working = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const checked = checkedService({
    graphs: [{ table: TABLE, functions: { write: () => working.then(() => "done") } }],
  });
  const messages = [{ role: "user", parts: [{ type: "text", text: "why?" }] }];
  const request = new Request("http://localhost/graphs/chat/chat", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ id: "c1", messages }),
  });
  const { body } = await checked.service.fetch(request);
  const open = async (): Promise<unknown> =>
    /ngraph_streams_open (\d)/.exec((await checked.get("/metrics")).body as string)?.[1];
  expect(await open()).toBe("1");
  const reader = body!.getReader();
  for (let chunk = 0; chunk < 2; chunk++) await reader.read();
  await reader.cancel();
  expect(await open()).toBe("0");
  finish();
});
