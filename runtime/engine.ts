/** The engine: runs a table in super-steps (execution.md, sections 2 to 8). */
export { createEngine } from "./engine/create-engine.ts";
