/** Node functions of `react.ngraph`. The model and the tools are stubs: they run offline and always answer alike. */

export interface ToolCall {
  id: string;
  name: "population" | "calculator";
  input: string;
}

export interface Message {
  role: "user" | "assistant" | "tool";
  content: string;
  /** Of a tool's message: the call that it answers. */
  call?: string;
}

/** The reply of the model: a message, and either tool calls or the answer. */
export interface Reply {
  message: Message;
  calls: ToolCall[];
  answer?: string;
}

/** A model that looks up two cities, adds their populations, and then answers. */
export async function callModel(messages: readonly Message[]): Promise<Reply> {
  const results = messages.filter(({ role }) => role === "tool").map(({ content }) => content);
  if (results.length === 0) {
    const calls: ToolCall[] = ["Paris", "Berlin"].map((input, at) => ({ id: `call-${at}`, name: "population", input }));
    return { message: { role: "assistant", content: "I look both up." }, calls };
  }
  if (results.length === 2) {
    const call: ToolCall = { id: "call-2", name: "calculator", input: results.join(" + ") };
    return { message: { role: "assistant", content: "Now I add them." }, calls: [call] };
  }
  const answer = `Together they have ${results[2] ?? "?"} inhabitants.`;
  return { message: { role: "assistant", content: answer }, calls: [], answer };
}

const POPULATION: Readonly<Record<string, number>> = { Paris: 2_100_000, Berlin: 3_700_000 };

/** Runs one tool call, and returns its result as a message. */
export async function callTool({ id, name, input }: ToolCall): Promise<Message> {
  const result =
    name === "population"
      ? (POPULATION[input] ?? 0)
      : input.split(" + ").reduce((total, each) => total + Number(each), 0);
  return { role: "tool", content: String(result), call: id };
}
