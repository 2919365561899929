/** The program of docs/langgraph.md runs, and a second program continues with its file. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { fencedBlocks } from "../docs/fenced-blocks.ts";

const here = dirname(fileURLToPath(import.meta.url));

test("docs/langgraph.md", async () => {
  const directory = mkdtempSync(join(tmpdir(), "ngraph-langgraph-"));
  const page = join(here, `page-${process.pid}.generated.mts`);
  onTestFinished(() => {
    rmSync(directory, { recursive: true, force: true });
    rmSync(page, { force: true });
  });
  const [program] = fencedBlocks(readFileSync(join(here, "../../docs/langgraph.md"), "utf8"));
  const given = `import { AIMessage, HumanMessage } from "@langchain/core/messages";
    const messages = [new HumanMessage("hello")];
    const answer = () => ({ messages: [new AIMessage("hello to you")] });`;
  const text = program!.text
    .replace('"ngraph/stores/langgraph"', '"../../adapters/langgraph/langgraph-saver.ts"')
    .replace('"ngraph/stores/sqlite"', '"../../runtime/stores/sqlite.ts"')
    .replace('"runs.db"', JSON.stringify(join(directory, "runs.db")));
  writeFileSync(page, `${given}\n${text}\nexport { app, checkpointer };`);
  const talk = async (run: number): Promise<unknown[]> => {
    const { app } = (await import(/* @vite-ignore */ `${pathToFileURL(page).href}?run=${run}`)) as {
      app: { getState(config: object): Promise<{ values: { messages: unknown[] } }> };
    };
    return (await app.getState({ configurable: { thread_id: "42" } })).values.messages;
  };
  const classesOf = (found: unknown[]) => found.map((message) => (message as object).constructor.name);
  const first = await talk(1);
  expect(classesOf(first)).toEqual(["HumanMessage", "AIMessage"]);
  expect(first[0]).toBeInstanceOf(HumanMessage);
  expect(first[1]).toBeInstanceOf(AIMessage);
  expect(classesOf(await talk(2))).toEqual(["HumanMessage", "AIMessage", "HumanMessage", "AIMessage"]);
});
