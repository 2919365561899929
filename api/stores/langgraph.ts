/** `ngraph/stores/langgraph`: LangGraph JS keeps its checkpoints and its long-term memory in our stores. Needs the package `@langchain/langgraph-checkpoint`. */
export { LangGraphSaver } from "../../adapters/langgraph/langgraph-saver.ts";
export { LangGraphStore, type LangGraphStoreOptions } from "../../adapters/langgraph/langgraph-store.ts";
