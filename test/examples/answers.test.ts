/** `examples/answers`, in both spellings, with a local server instead of a model. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createEngine } from "../../api/create-engine.ts";
import { compileFile } from "../../api/index.ts";
import type { Table } from "../../runtime/table/table.ts";
import { createFile } from "../../stdlib/nodes/file.ts";
import { createLlm } from "../../stdlib/nodes/llm.ts";
import { startModelServer, type ModelServer } from "../support/model-server.ts";

let server: ModelServer;
let isRelevant: (prompt: string) => boolean;
let verdicts: string[];
let drafts: number;

beforeEach(async () => {
  drafts = 0;
  server = await startModelServer(({ body }) => {
    const prompt = (body.messages.at(-1) as { content: string }).content;
    const choice = (answer: string | undefined) => ({ text: JSON.stringify({ answer }) });
    if (prompt.startsWith("Does this note help")) return choice(isRelevant(prompt) ? "relevant" : "other");
    if (prompt.startsWith("Do the notes support")) return choice(verdicts.shift());
    drafts++;
    return { text: `Draft ${drafts}: within 30 days.` };
  });
});
afterEach(() => server.close());

describe.each(["ngraph", "yaml"])("answers as %s", (spelling) => {
  const run = async () => {
    const { table } = await compileFile(`examples/answers/answers.${spelling}`);
    expect(table?.effects).toEqual(["files", "model", "net"]);
    const builtins = {
      llm: createLlm({ baseUrl: server.openai, model: "small" }),
      file: createFile({ root: "examples/answers" }),
    };
    return createEngine(table as Table, { builtins }).run({ question: "How long can I return a lamp?" });
  };

  test("answers from the notes that a model selects, and drafts again what the notes do not support", async () => {
    isRelevant = (prompt) => prompt.includes("# Returns");
    verdicts = ["unsupported", "supported"];
    const { error, output } = await run();
    expect(error).toBeNull();
    expect(output).toEqual({ answer: "Draft 2: within 30 days.", sources: ["notes/returns.md"] });
    const draft = server.requests.find(({ body }) => JSON.stringify(body.messages).includes("Answer in two sentences"));
    expect(JSON.stringify(draft?.body.messages)).toContain("The shop pays for the parcel");
    expect(JSON.stringify(draft?.body.messages)).not.toContain("Opening hours");
  });

  test("gives up without notes, and after three drafts", async () => {
    isRelevant = () => false;
    expect((await run()).output).toEqual({ answer: "The notes do not answer this question.", sources: [] });
    expect(drafts).toBe(0);
    isRelevant = () => true;
    verdicts = ["unsupported", "unsupported", "unsupported"];
    const { output } = await run();
    expect(output).toEqual({
      answer: "The notes do not answer this question.",
      sources: ["notes/opening.md", "notes/returns.md"],
    });
    expect(drafts).toBe(3);
  });
});
