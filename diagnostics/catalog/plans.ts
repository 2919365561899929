/** Plans: dependencies, paths, pools, and policies that tasks cannot have. */
import { diagnostic, type Diagnostic, type Fix, type Label, type Place } from "../diagnostic.ts";
import { listNames } from "../similar.ts";

/** NG701: no task can start. The message is part of the interface (promise 9.9). */
export function noRoots(place: Place, facts: { cycle?: readonly string[] | undefined; isEmpty: boolean }): Diagnostic {
  return diagnostic("NG701", place, "graph has no roots — cycle or malformed deps", {
    label: facts.isEmpty ? "there is no task" : "every task comes after another one",
    notes: facts.cycle === undefined ? [] : [`cycle: ${facts.cycle.join(" → ")}`],
    help: facts.isEmpty ? "declare one: `task build = shell(…)`" : "remove `after` from one task of the plan",
  });
}

/** NG702: tasks wait for each other. */
export function dependencyCycle(
  place: Place,
  facts: { cycle: readonly string[]; labels: readonly Label[] },
): Diagnostic {
  return diagnostic("NG702", place, `tasks wait for each other: ${facts.cycle.join(" → ")}`, {
    label: "this closes the cycle",
    labels: facts.labels,
    help: "remove one of these dependencies",
  });
}

/** NG703: `after` names no task. */
export function unknownDependency(
  place: Place,
  facts: { name: string; similar?: string | undefined; known: readonly string[]; isChannel: boolean },
): Diagnostic {
  const { name, similar, known } = facts;
  const fixes: readonly Fix[] =
    similar === undefined ? [] : [{ title: `rename to \`${similar}\``, edits: [{ span: place.span, text: similar }] }];
  return diagnostic("NG703", place, `unknown task \`${name}\``, {
    label: "no task has this name",
    help: facts.isChannel
      ? `\`${name}\` is a channel: name the task that writes it`
      : similar !== undefined
        ? `a task with a similar name exists: \`${similar}\``
        : known.length === 0
          ? `declare it: \`task ${name} = …\``
          : `the tasks are ${listNames(known)}`,
    fixes,
  });
}

/** NG703: `status` of something that is not a task, or of a task that may still run. */
export function statusOfTask(place: Place, facts: { message: string; label: string; help: string }): Diagnostic {
  return diagnostic("NG703", place, facts.message, { label: facts.label, help: facts.help });
}

/** NG704: a task depends on itself. */
export function selfDependency(place: Place, facts: { task: string }): Diagnostic {
  return diagnostic("NG704", place, `\`${facts.task}\` comes after itself: ${facts.task} → ${facts.task}`, {
    label: "it could never start",
    help: "remove it",
  });
}

/** NG704: a dependency appears twice. */
export function repeatedDependency(place: Place, facts: { task: string; name: string; first: Place }): Diagnostic {
  return diagnostic("NG704", place, `\`${facts.task}\` comes after \`${facts.name}\` twice`, {
    label: "stated again",
    labels: [{ ...facts.first, message: "first stated here" }],
    help: "keep one of them",
  });
}

/** NG705: the paths of a task overlap those of every task that could run beside it. */
export function neverBeside(place: Place, facts: { task: string; others: readonly string[] }): Diagnostic {
  return diagnostic(
    "NG705",
    place,
    `\`${facts.task}\` can never run beside another task, although it is not \`alone\``,
    {
      label: "touches what each of the others touches",
      notes: [`only the paths keep these tasks apart from it: ${listNames(facts.others)}`],
      help: 'narrow the paths, or mark those that are only read: `touches read "…"`',
    },
  );
}

/** NG707: a path outside of the root: changes of other tasks are not detected there. */
export function touchEscapesRoot(place: Place, facts: { path: string; what: "touches" | "cache inputs" }): Diagnostic {
  return diagnostic("NG707", place, `\`${facts.path}\` is outside the root of the plan`, {
    label: facts.what === "touches" ? "compared by its text alone" : "changes to it are not detected",
    help: "name paths relative to the root, without `..` beyond it",
  });
}

/** NG117: a policy of nodes on a task. */
export function policyOfGraphs(place: Place, facts: { policy: string; help: string }): Diagnostic {
  return diagnostic("NG117", place, `\`${facts.policy}\` is for nodes of a graph, not for tasks of a plan`, {
    label: "has no meaning here",
    help: facts.help,
  });
}

/** NG105: a task uses a pool that the plan does not declare. */
export function unknownPool(
  place: Place,
  facts: { name: string; similar?: string | undefined; known: readonly string[] },
): Diagnostic {
  const { name, similar, known } = facts;
  return diagnostic("NG105", place, `unknown pool \`${name}\``, {
    label: "no pool has this name",
    help:
      similar !== undefined
        ? `a pool with a similar name exists: \`${similar}\``
        : known.length > 0
          ? `the pools are ${listNames(known)}`
          : `declare it in the plan: \`pool ${name} 2\``,
    fixes:
      similar === undefined
        ? []
        : [{ title: `rename to \`${similar}\``, edits: [{ span: place.span, text: similar }] }],
  });
}

/** NG401: two tasks write one channel, and neither comes after the other. */
export function unorderedWrites(
  place: Place,
  facts: { channel: string; tasks: readonly [string, string]; first: Place },
): Diagnostic {
  const [first, second] = facts.tasks;
  const isMatrix = first === second;
  const message = isMatrix
    ? `the tasks of \`${first}\` all write \`${facts.channel}\``
    : `two writers of \`${facts.channel}\`, neither after the other: \`${first}\` and \`${second}\``;
  return diagnostic("NG401", place, message, {
    label: isMatrix ? "once for each value" : `\`${second}\` writes it`,
    labels: isMatrix ? [] : [{ ...facts.first, message: `\`${first}\` writes it` }],
    help: `declare how writes combine (\`reduce append\`, \`reduce last\`, …)${isMatrix ? "" : `, or run one after the other: \`after ${first}\``}`,
  });
}

/** NG006: a matrix has no values, a repeated value, or too many. */
export function badMatrix(place: Place, facts: { message: string; label: string; help?: string }): Diagnostic {
  return diagnostic("NG006", place, facts.message, { label: facts.label, help: facts.help });
}
