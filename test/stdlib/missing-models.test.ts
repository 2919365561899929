/** Models that are unknown or have no API key are found before a run. */
import { describe, expect, test } from "vitest";
import { refuseMissingModels } from "../../cli/run/refuse-missing-models.ts";
import { compile } from "../../compiler/index.ts";
import { problemOfModel, type LlmOptions } from "../../stdlib/nodes/llm.ts";

const OPTIONS: LlmOptions = {
  models: {
    default: { provider: "anthropic", model: "big" },
    small: { provider: "openai", model: "tiny", secret: "TEAM_KEY" },
    local: { provider: "openai-compatible", baseUrl: "http://localhost:1/v1", model: "free" },
  },
  secrets: (name) => (name === "TEAM_KEY" ? "k" : undefined),
};

test.each([
  [undefined, "the model `big` of anthropic needs an API key: set the environment variable ANTHROPIC_API_KEY"],
  ["small", undefined],
  ["local", undefined],
  ["larg", '`llm` does not know the model "larg" (known models: default, small, local)'],
])("the model %s", (model, problem) => {
  expect(problemOfModel(model, OPTIONS)).toBe(problem);
});

describe("the models of a graph", () => {
  const refused = (text: string): string | undefined => {
    const { tables, diagnostics } = compile(text, { path: "g.ngraph" });
    expect(diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
    try {
      refuseMissingModels([...tables.values()].at(-1)!, { problemOfModel: (name) => problemOfModel(name, OPTIONS) });
      return undefined;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  };
  const INNER = 'graph inner { output o: string  node deep = llm("a", model: "none") into o  start -> deep }\n';

  test("are checked, also in graphs and plans that are called", () => {
    expect(refused('graph g { output o: string  node a = llm("a") into o  start -> a }')).toContain(
      "the node `a` of `g` cannot call its model: the model `big` of anthropic needs an API key",
    );
    expect(refused(`${INNER}graph g { output o: string  node a = inner() into { o }  start -> a }`)).toContain(
      "the node `deep` of `inner`",
    );
    expect(refused(`${INNER}plan p { task a = inner() }`)).toContain("the node `deep` of `inner`");
    expect(refused('plan p { task a = llm("a", model: "none") }')).toContain("the node `a` of `p`");
  });

  test("that exist, and computed ones, are not refused", () => {
    expect(
      refused('graph g { output o: string  node a = llm("a", model: "small") into o  start -> a }'),
    ).toBeUndefined();
    expect(
      refused("graph g { input m: string  output o: string  node a = llm(m, model: m) into o  start -> a }"),
    ).toBeUndefined();
  });
});
