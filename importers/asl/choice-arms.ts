/** The rules of a Choice, as the arms of a `match`. */
import { quoted, type Source } from "../imported.ts";
import { sayRule } from "./conditions.ts";
import { jsonataOf, sayJsonata } from "./jsonata.ts";
import type { State } from "./machine.ts";
import { atom } from "./said.ts";
import { plainOutput, variablesOf, writeData } from "./state-data.ts";
import type { StateEdges } from "./state-edges.ts";
import { DATA, rootOf, sayOrCall, scopeOf } from "./state-values.ts";

/** The arms of a Choice, with nodes for what they write. */
export function writeArms(edges: StateEdges, state: State): readonly string[] {
  const { machine } = edges;
  const { source, node, name } = state;
  const query = machine.queryOf(state);
  const choices = source.field("Choices").items();
  if (choices.length === 0) throw source.field("Choices").wrong("rules");
  const scope = scopeOf(
    machine,
    state,
    {},
    query === "JSONPath" ? rootOf(machine, state, scopeOf(machine, state)) : DATA,
  );
  const leave = (rule: Source, target: State): string => {
    const variables = variablesOf(machine, state, rule, scope, query);
    const output = plainOutput(machine, state, query === "JSONata" && rule.field("Output").isPresent ? rule : source);
    if (variables.length === 0 && output === undefined) return edges.target(target);
    const after = machine.local.fresh(`${node}_output`);
    writeData(machine, after, output, variables, scopeOf(machine, state));
    machine.edge(`${after} -> ${edges.target(target)}`);
    return after;
  };
  const arms = choices.map((rule) => {
    const said = sayOrCall(machine, rule, `${node}_rule`, scope, () => {
      if (query === "JSONPath") return sayRule(rule, scope);
      const condition = rule.field("Condition");
      if (condition.value === true || condition.value === false) return atom(String(condition.value), "bool");
      const text = jsonataOf(condition.value);
      if (text === undefined) throw condition.wrong("an expression in {% … %}");
      return sayJsonata(text, scope, "bool");
    });
    return `${said.text} -> ${leave(rule, machine.state(rule.field("Next")))}`;
  });
  const fallback = source.field("Default");
  if (fallback.isPresent) return [...arms, `else -> ${leave(source, machine.state(fallback))}`];
  const none = machine.local.fresh(`${node}_none`);
  machine.node(`${none} = fail(${quoted(`States.NoChoiceMatched: no rule of ${name} holds`)})`);
  machine.edge(`${none} -> end`);
  return [...arms, `else -> ${none}`];
}
