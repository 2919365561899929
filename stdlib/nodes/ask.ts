import type { BuiltinNode } from "../../runtime/context.ts";
import type { Json } from "../../runtime/json.ts";

/**
 * `ask("Send this?", choices: ["send", "again"])`: pauses the run until somebody answers. The pause carries
 * `{ question, choices?, details? }`; an answer that is none of the choices is asked for again, with `rejected` saying what
 * was given.
 */
export const ask: BuiltinNode = ({ question = null, choices, details }, context) => {
  const payload = {
    question,
    ...(choices === undefined ? {} : { choices }),
    ...(details === undefined ? {} : { details }),
  };
  let answer = context.interrupt<Json>(payload);
  while (Array.isArray(choices) && !choices.includes(answer)) {
    answer = context.interrupt<Json>({ ...payload, rejected: answer });
  }
  return answer;
};
