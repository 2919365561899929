/** `ngraph/stores/langgraph`: LangGraph JS keeps its checkpoints in our stores. Needs the package `@langchain/langgraph-checkpoint`. */
export { LangGraphSaver } from "../../adapters/langgraph/langgraph-saver.ts";
