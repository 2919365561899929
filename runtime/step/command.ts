import { COMMAND, type Command } from "../interface/context.ts";

/** What `goto`, `send` and `stop` return. */
export const COMMAND_VALUE: Command = Object.freeze({ [COMMAND]: true as const });
