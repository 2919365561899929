/** Channels, nodes, tasks and edges as YAML. */
import type {
  ChannelDecl,
  EdgeDecl,
  Expr,
  Identifier,
  LiteralType,
  NodeDecl,
  Output,
  Policy,
  TaskDecl,
} from "../ast.ts";
import { plainNumber } from "../format/literal-text.ts";
import { axesOf } from "../matrix-axes.ts";
import { yamlList, yamlMap, type YamlValue } from "./emit-yaml.ts";
import { edgeText, expressionText, forText, outputText, typeText } from "./expression-text.ts";
import { docEntry, type Entry, type Writing } from "./writing.ts";
import { dataValue } from "./write-data.ts";

export function channelValue(channel: ChannelDecl, { source }: Writing): YamlValue {
  const type = typeText(channel.type, source);
  const { doc, initial, reducer, was } = channel;
  if (doc === undefined && initial === undefined && reducer === undefined && was === undefined) return type;
  const entries: Entry[] = [["type", type]];
  if (initial !== undefined) {
    const data = dataValue(initial);
    entries.push(data === undefined ? ["expr", expressionValue(initial, source)] : ["default", data]);
  }
  if (reducer !== undefined) entries.push(["reduce", reducer.name]);
  if (was !== undefined) entries.push(["was", nameList(was)]);
  return yamlMap([...entries, ...docEntry(doc)]);
}

export function nodeValue(node: NodeDecl, writing: Writing): YamlValue {
  return yamlMap([
    ...docEntry(node.doc),
    ...callEntries(node.call, writing),
    ...eachEntry(node.each, writing),
    ...outputEntry(node.output, writing),
    ...policyEntries(node.policies, writing),
  ]);
}

export function taskValue(task: TaskDecl, writing: Writing): YamlValue {
  return yamlMap([
    ...docEntry(task.doc),
    ...callEntries(task.call, writing),
    ...eachEntry(task.each, writing),
    ...afterEntries(task),
    ...(task.isFinal === true ? [["finally", true] as const] : []),
    ...(task.condition === undefined ? [] : [["when", expressionValue(task.condition, writing.source)] as const]),
    ...outputEntry(task.output, writing),
    ...policyEntries(task.policies, writing),
  ]);
}

/** A key for each word. YAML has each key once, so names under a repeated word move to its first place. */
function afterEntries({ after, trigger, needs }: TaskDecl): readonly Entry[] {
  const groups = new Map<string, Identifier[]>();
  for (const [at, name] of after.entries()) {
    const need = trigger === "mixed" ? (needs?.[at] ?? "all") : trigger;
    const key = need === "all" ? "after" : `after ${need}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [name]);
    else group.push(name);
  }
  return [...groups].map(([key, names]) => [key, nameList(names)]);
}

export function policiesValue(policies: readonly Policy[], writing: Writing): YamlValue {
  return yamlMap(policyEntries(policies, writing));
}

/** An expression as a string; numbers, booleans and null as YAML scalars. */
export function expressionValue(expr: Expr, source: Writing["source"]): YamlValue {
  const data = expr.kind === "String" ? undefined : dataValue(expr);
  const isScalar = data !== undefined && (typeof data !== "object" || data === null || data.kind === "raw");
  return isScalar ? data : expressionText(expr, source);
}

/** A record of plain data as a map. */
function recordValue(expr: Expr): YamlValue | undefined {
  return expr.kind === "Record" ? dataValue(expr) : undefined;
}

/** `call` with `args` and `with` where they can express the call, else `expr`. */
function callEntries(call: Expr, { source }: Writing): Entry[] {
  const fallback: Entry[] = [["expr", expressionValue(call, source)]];
  if (call.kind !== "Call") return fallback;
  const entries: Entry[] = [["call", call.callee.name]];
  const named = call.args.findIndex(({ name }) => name !== undefined);
  const positional = named === -1 ? call.args : call.args.slice(0, named);
  const byName = named === -1 ? [] : call.args.slice(named);
  const names = new Set(byName.map(({ name }) => name?.name));
  if (byName.some(({ name }) => name === undefined) || names.size < byName.length) return fallback;
  // The trailing arguments with plain data are written under `with`.
  let split = byName.length;
  while (split > 0 && dataValue(byName[split - 1]?.value as Expr) !== undefined) split -= 1;
  const expressions = byName.slice(0, split);
  const values = expressions.map(({ name, value }) => [name?.name ?? "", expressionValue(value, source)] as const);
  const listed = positional.map(({ value }) => expressionValue(value, source));
  if (positional.length > 0) {
    entries.push(["args", yamlList(expressions.length > 0 ? [...listed, yamlMap(values)] : listed)]);
  } else if (expressions.length > 0) entries.push(["args", yamlMap(values)]);
  if (split < byName.length) {
    const data = byName.slice(split).map(({ name, value }) => [name?.name ?? "", dataValue(value) ?? null] as const);
    entries.push(["with", yamlMap(data)]);
  }
  return entries;
}

function eachEntry(each: NodeDecl["each"] | TaskDecl["each"], { source }: Writing): Entry[] {
  if (each === undefined) return [];
  if ("kind" in each) return [["for", forText(each, source)]];
  const [first = "", ...others] = axesOf(each).map(
    ({ item, list }) => `${item.name} in ${expressionText(list, source)}`,
  );
  return [["for", others.length === 0 ? first : yamlList([first, ...others])]];
}

function outputEntry(output: Output | undefined, writing: Writing): Entry[] {
  if (output === undefined) return [];
  if (output.kind === "ChannelOutput" && output.set !== true) return [["into", output.channel.name]];
  // A YAML map has no place for `set` and `?`.
  if (output.kind === "ChannelOutput" || output.fields.some(({ optional, set }) => optional === true || set === true)) {
    return [["into", outputText(output, writing.source)]];
  }
  const entries = output.fields.map(({ field, channel }): Entry => [field.name, channel.name]);
  if (new Set(entries.map(([field]) => field)).size < entries.length) {
    writing.lose("a field that goes into two channels: only the last is kept", output.span);
  }
  return [["into", yamlMap([...new Map(entries)])]];
}

export function nameList(names: readonly Identifier[]): YamlValue {
  return yamlList(names.map(({ name }) => name));
}

// Policies --------------------------------------------------------------------------------------------

function policyEntries(policies: readonly Policy[], writing: Writing): Entry[] {
  const entries = new Map<string, YamlValue>();
  for (const policy of policies) {
    for (const [key, value] of policyValues(policy, writing)) {
      const before = entries.get(key);
      if (before === undefined) entries.set(key, value);
      else if (MANY.has(key)) entries.set(key, yamlList([...listed(before), ...listed(value)]));
      else writing.lose(`\`${key}\` is given twice`, policy.span);
    }
  }
  return [...entries];
}

/** Policies that may occur several times: their values form a list. */
const MANY = new Set(["pause", "done when", "pool", "touches", "reads", "outputs"]);

function listed(value: YamlValue): readonly YamlValue[] {
  return typeof value === "object" && value !== null && value.kind === "list" ? value.items : [value];
}

function policyValues(policy: Policy, writing: Writing): Entry[] {
  const { source } = writing;
  switch (policy.kind) {
    case "Tries": {
      const { backoff } = policy;
      const entries: Entry[] = [["tries", policy.attempts.value]];
      if (backoff !== undefined) {
        entries.push([
          "backoff",
          backoff.max === undefined ? backoff.min.raw : `${backoff.min.raw}..${backoff.max.raw}`,
        ]);
      }
      return entries;
    }
    case "Timeout":
      return [["timeout", policy.duration.raw]];
    case "Within":
      return [["within", policy.duration.raw]];
    case "Cache": {
      const lists = CACHE_LISTS.flatMap((key) => {
        const list = policy[key];
        return list === undefined ? [] : [[key, yamlList(list.map(({ value }) => value))] as const];
      });
      if (lists.length === 0) return [["cache", policy.duration?.raw ?? true]];
      const duration = policy.duration === undefined ? [] : [["for", policy.duration.raw] as const];
      return [["cache", yamlMap([...duration, ...lists])]];
    }
    case "MaxParallel":
      return [["max parallel", policy.count.value]];
    case "AllowFailure":
      return [["allow failure", true]];
    case "Waits":
      return [["waits", nameList(policy.nodes)]];
    case "Goes":
      return [["goes", nameList(policy.nodes)]];
    case "Was":
      return [["was", nameList(policy.names)]];
    case "Pause":
      return [["pause", policy.when]];
    case "Idempotent":
      return [["idempotent", true]];
    case "Undo": {
      if (policy.policies.length === 0) return [["undo", expressionValue(policy.call, source)]];
      return [["undo", yamlMap([...callEntries(policy.call, writing), ...policyEntries(policy.policies, writing)])]];
    }
    case "Touches":
      return [[policy.mode === "read" ? "reads" : "touches", yamlList(policy.paths.map(({ value }) => value))]];
    case "Alone":
      return [["alone", true]];
    case "DoneWhen":
      return [["done when", expressionValue(policy.check, source)]];
    case "Pool":
      return [
        ["pool", policy.count === undefined ? policy.name.name : yamlMap([[policy.name.name, policy.count.value]])],
      ];
    case "Estimate":
      return [["estimate", policy.duration.raw]];
    case "Cwd":
      return [["cwd", expressionValue(policy.path, source)]];
    case "Env":
      return [["env", recordValue(policy.values) ?? expressionValue(policy.values, source)]];
    case "Worktree":
      return [["worktree", true]];
    case "Outputs":
      return [["outputs", yamlList(policy.paths.map(({ value }) => value))]];
    case "Interactive":
      return [["interactive", true]];
  }
}

const CACHE_LISTS = ["inputs", "variables", "tools"] as const;

// Edges -----------------------------------------------------------------------------------------------

/** A string where it reads well; maps for edges with arms, conditions or documentation. */
export function edgeValue(edge: EdgeDecl, { source }: Writing): YamlValue {
  const { to } = edge;
  const isPlain = to.kind === "Targets" && to.guard?.kind !== "When";
  if (isPlain && edge.doc === undefined) return edgeText(edge, source);
  const entries: Entry[] = [...docEntry(edge.doc)];
  if (edge.source.kind === "NodeList") {
    const { nodes } = edge.source;
    entries.push(nodes.length === 1 ? ["from", oneOrList(nodes)] : ["any", nameList(nodes)]);
  } else {
    const members = edge.source.members.map((member) =>
      member.kind === "Identifier" ? member.name : yamlMap([["any", nameList(member.nodes)]]),
    );
    entries.push([edge.source.kind === "AllOf" ? "all" : "settled", yamlList(members)]);
  }
  if (edge.chain.length > 0) entries.push(["via", oneOrList(edge.chain)]);
  if (to.kind === "Targets") {
    entries.push(["to", oneOrList(to.nodes)]);
    if (to.onError) entries.push(["on error", true]);
    if (to.guard?.kind === "When") entries.push(["when", expressionValue(to.guard.condition, source)]);
    if (to.guard?.kind === "Otherwise") entries.push(["otherwise", true]);
    return yamlMap(entries);
  }
  if (to.kind === "MatchValue") {
    const arms = to.arms.map(({ patterns, targets }) =>
      armValue(patterns.length === 0 ? undefined : ["is", patternValue(patterns)], targets),
    );
    return yamlMap([...entries, ["match", expressionValue(to.subject, source)], ["arms", yamlList(arms)]], true);
  }
  const arms = to.arms.map(({ condition, targets }) =>
    armValue(condition === undefined ? undefined : ["when", expressionValue(condition, source)], targets),
  );
  return yamlMap([...entries, ["arms", yamlList(arms)]], true);
}

function armValue(head: Entry | undefined, targets: readonly Identifier[]): YamlValue {
  if (head === undefined) return yamlMap([["else", oneOrList(targets)]]);
  return yamlMap([head, ["to", oneOrList(targets)]]);
}

function oneOrList(names: readonly Identifier[]): YamlValue {
  const [only] = names;
  return names.length === 1 && only !== undefined ? only.name : nameList(names);
}

function patternValue(patterns: readonly LiteralType[]): YamlValue {
  const values = patterns.map(({ value, isFloat }): YamlValue => {
    if (typeof value !== "number") return value;
    const sign = value < 0 || Object.is(value, -0) ? "-" : "";
    return { kind: "raw", text: `${sign}${plainNumber(Math.abs(value), isFloat ?? false)}` };
  });
  return values.length === 1 ? (values[0] as YamlValue) : yamlList(values);
}
