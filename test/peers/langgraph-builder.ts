/** Small programs of LangGraph JS for the tests of the deviations. */
import { Annotation, END, START, StateGraph } from "@langchain/langgraph";

export interface Values {
  readonly log: string[];
  readonly value?: unknown;
}
export interface Config {
  readonly signal: AbortSignal;
}
export type Body = (state: Values, config: Config) => unknown;
export interface Interrupted {
  readonly __interrupt__: readonly { readonly id: string }[];
}
export interface Snapshot {
  readonly values: Values;
  readonly next: readonly string[];
  readonly metadata: { readonly step: number };
}
export interface App {
  invoke(input: object | null, config?: object): Promise<Values>;
  stream(input: object | null, config?: object): Promise<AsyncIterable<Readonly<Record<string, unknown>>>>;
  getState(config: object): Promise<Snapshot>;
  getStateHistory(config: object): AsyncIterable<Snapshot>;
  updateState(config: object, values: object, asNode?: string): Promise<object>;
}
/** The builder of LangGraph without its types for names of nodes: several programs use unknown names. */
export interface Builder {
  addNode(name: string, body: unknown, options?: object): Builder;
  addEdge(from: string | readonly string[], to: string): Builder;
  addConditionalEdges(from: string, path: () => unknown, targets?: readonly string[] | object): Builder;
  compile(options?: object): App;
}

export const State = Annotation.Root({
  log: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
  value: Annotation<unknown>,
});
export const thread = { configurable: { thread_id: "t" } };
export const newGraph = (): Builder => new StateGraph(State) as unknown as Builder;
export const logs =
  (name: string): Body =>
  () => ({ log: [name] });
export const ignore = (): void => {};
export const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Builds a graph whose nodes write their names, except for those that `bodies` declares. */
export function build(
  edges: readonly (readonly [string | readonly string[], string])[],
  bodies: Record<string, unknown> = {},
) {
  const names = new Set([...edges.flat(2), ...Object.keys(bodies)]);
  const graph = newGraph();
  for (const name of names) if (name !== START && name !== END) graph.addNode(name, bodies[name] ?? logs(name));
  for (const [from, to] of edges) graph.addEdge(from, to);
  return graph;
}

export async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}
