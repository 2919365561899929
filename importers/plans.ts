/** Task graphs of other tools as plans: kahn's `graph.json`, scripts of `package.json`, tasks of `turbo.json`. */
import { normalizePath, PathEscapesRoot } from "../runtime/plan/path-pattern.ts";
import {
  Changes,
  comment,
  ImportError,
  isObject,
  Names,
  quoted,
  shortJson,
  type Imported,
  type JsonValue,
  type Source,
} from "./imported.ts";

interface Task {
  readonly name: string;
  readonly call: string;
  readonly after: readonly string[];
  readonly policies: readonly string[];
  readonly doc?: string;
  readonly notes: readonly string[];
}

interface Plan {
  readonly name: string;
  readonly notes: readonly string[];
  /** Declarations before the plan. */
  readonly constants?: readonly string[];
  /** Statements before the tasks. */
  readonly head: readonly string[];
  readonly tasks: readonly Task[];
}

export function isKahn(value: JsonValue | undefined): boolean {
  if (!isObject(value) || !Array.isArray(value["nodes"]) || "edges" in value) return false;
  return (value["nodes"] as readonly JsonValue[]).every(
    (node) => isObject(node) && "id" in node && ("deliverable" in node || "depends_on" in node || "done_when" in node),
  );
}

const KAHN_KEYS = [
  "id",
  "deliverable",
  "depends_on",
  "touches",
  "parallel_safe",
  "done_when",
  "max_ralph_iters",
  "estimated_loc",
];

/** kahn runs one agent for each node, until its checks pass. @throws ImportError */
export function importKahn(source: Source, name: string): Imported {
  const changes = new Changes();
  const version = source.field("version");
  if (version.isPresent && version.value !== 1)
    throw new ImportError(version.at, `version ${shortJson(version.value!)} is not known`, "version 1 is");
  const nodes = source.field("nodes").items();
  const names = new Names();
  const known = new Set<string>();
  for (const node of nodes) {
    const id = node.field("id").text();
    if (known.has(id)) throw new ImportError(node.field("id").at, `the node \`${id}\` is declared twice`);
    known.add(id);
  }
  const tasks = nodes.map((node): Task => {
    const id = node.field("id").text();
    const deliverable = node.field("deliverable").optionalText();
    const after = node
      .field("depends_on")
      .items()
      .map((item) => {
        if (known.has(item.text())) return names.of("task", item.text());
        throw new ImportError(item.at, `\`${item.text()}\` is not a node`);
      });
    const notes: string[] = [];
    const touches = uniquePaths(node.field("touches"), changes, notes);
    const checks = node.field("done_when").texts();
    const tries = node.field("max_ralph_iters").value ?? 6;
    if (typeof tries !== "number" || !Number.isSafeInteger(tries) || tries < 1)
      throw node.field("max_ralph_iters").wrong("a whole number of at least 1");
    const size = node.field("estimated_loc");
    if (size.isPresent)
      notes.push(changes.add(size.at, `${shortJson(size.value!)} lines are estimated; the plan estimates durations`));
    notes.push(...unknownKeys(node, KAHN_KEYS, changes));
    return {
      name: names.of("task", id),
      call: `shell([agent, ${quoted(deliverable ?? id)}], check: false)`,
      after,
      policies: [
        ...(touches.length === 0 ? [] : [`touches ${touches.map(quoted).join(", ")}`]),
        ...(node.field("parallel_safe").value === false ? ["alone"] : []),
        ...checks.map((check) => `done when shell(${quoted(check)})`),
        // Without checks nothing asks for another try: the agent's exit code counts for nothing.
        ...(checks.length === 0 ? [] : [`tries ${tries}`]),
      ],
      ...(deliverable === undefined ? {} : { doc: deliverable }),
      notes,
    };
  });
  const note = changes.add(
    "$",
    "kahn's settings name the agent: here it is the constant `agent`, a command whose argument is the deliverable",
  );
  return planFile(
    { name, notes: [note], constants: [`const agent = ${quoted("agent")}`], head: ["order file"], tasks },
    changes,
  );
}

/** A call of a script. A name that the shell would not read as one word is an argument of a list, which no shell reads. */
function npmRun(script: string, workspace?: string): string {
  const place = workspace === undefined ? [] : [`--workspace=${workspace}`];
  const words = ["npm", "run", ...place, ...(script.startsWith("-") ? ["--"] : []), script];
  const isPlain = !script.startsWith("-") && words.every((word) => /^[\w@/:.+=-]+$/.test(word));
  return isPlain ? `shell(${quoted(words.join(" "))})` : `shell([${words.map(quoted).join(", ")}])`;
}

/** Scripts become tasks of `npm run`. `pre…` and `post…` scripts are part of the script that they belong to. */
export function importPackageJson(source: Source, name: string): Imported {
  const changes = new Changes();
  const scripts = source.field("scripts").entries();
  const own = source.field("name").value;
  const names = new Names();
  const known = new Map(scripts);
  if (known.size === 0) throw new ImportError("$.scripts", "the package has no scripts");
  const isPart = (script: string): boolean =>
    [
      ["pre", ""],
      ["post", ""],
    ].some(([prefix]) => script.startsWith(prefix!) && known.has(script.slice(prefix!.length)));
  const tasks = scripts
    .filter(([script]) => !isPart(script))
    .map(([script, value]): Task => {
      const command = value.text();
      const parts = command
        .split("&&")
        .map(
          (part) =>
            /^\s*(?:npm run|npm run-script|yarn|yarn run|pnpm|pnpm run|bun run)\s+([\w:.-]+)\s*$/.exec(part)?.[1],
        );
      // A script that only runs others is a task that waits for them.
      if (parts.every((part) => part !== undefined && known.has(part) && part !== script)) {
        const note =
          parts.length === 1
            ? []
            : [changes.add(value.at, `${parts.join(", ")} run at the same time here, unless one comes after another`)];
        return {
          name: names.of("task", script),
          // A value that is never read: the task only comes after others.
          call: "true",
          after: (parts as string[]).map((part) => names.of("task", part)),
          policies: [],
          notes: note,
        };
      }
      return {
        name: names.of("task", script),
        call: npmRun(script),
        after: [],
        policies: [],
        doc: command,
        notes: [],
      };
    });
  const note = changes.add(
    "$.scripts",
    "the scripts do not say what they need: add `after`, and `touches` for what they write",
  );
  const title = typeof own === "string" ? own.replace(/^@[^/]*\//, "") : name;
  return planFile({ name: `${title} scripts`, notes: [note], head: [], tasks }, changes);
}

export function isTurbo(value: JsonValue | undefined): boolean {
  return isObject(value) && (isObject(value["tasks"]) || isObject(value["pipeline"]));
}

/** Keys of a task. Those of the second line concern the display and what a command sees: here, it sees the whole environment. */
const TURBO_KEYS = [
  ...["dependsOn", "env", "inputs", "outputs", "cache", "persistent", "interactive", "description"],
  ...["outputLogs", "outputMode", "passThroughEnv", "interruptible"],
];

/** Tasks of Turborepo for one package. `^task` means the packages that this one depends on. */
export function importTurbo(source: Source, name: string): Imported {
  const changes = new Changes();
  const tasks = source.field(source.field("tasks").isPresent ? "tasks" : "pipeline").entries();
  const known = new Set(tasks.map(([task]) => task));
  const names = new Names();
  const notes: string[] = [];
  const all = {
    inputs: patternsOf(source.field("globalDependencies"), changes, notes),
    variables: variablesOf(source.field("globalEnv"), changes, notes),
  };
  if (source.field("extends").isPresent)
    notes.push(changes.add(source.field("extends").at, "the tasks of `extends` are not imported"));
  let takesAllFiles = false;
  const made = tasks.map(([task, value]): Task => {
    const own: string[] = [];
    const after: string[] = [];
    const variables = [...all.variables, ...variablesOf(value.field("env"), changes, own)];
    for (const item of value.field("dependsOn").items()) {
      const on = item.text();
      if (known.has(on)) after.push(names.of("task", on));
      else if (on.startsWith("^"))
        own.push(
          changes.add(
            item.at,
            `\`${on}\` means other packages of the workspace, which a plan of one package does not have`,
          ),
        );
      // The first version of the file names variables here.
      else if (on.startsWith("$")) {
        if (isVariable(on.slice(1))) variables.push(on.slice(1));
        else own.push(changes.add(item.at, `${quoted(on)} is not imported: it names no variable`));
      } else own.push(changes.add(item.at, `\`${on}\` is not a task of this file`));
    }
    const isInteractive = value.field("interactive").value === true;
    const { script, workspace } = scriptOf(task);
    // The paths of such a task are relative to its package, whose directory the file does not say.
    const isOwn = workspace === undefined;
    if (!isOwn)
      own.push(
        changes.add(
          value.at,
          `a task of the package \`${workspace}\`: its paths are not imported, and it is not cached`,
        ),
      );
    const isCached = value.field("cache").value !== false && !isInteractive && isOwn;
    if (value.field("persistent").value === true)
      own.push(changes.add(value.field("persistent").at, "a task of a plan ends: start a server outside of it"));
    const outputs = (isOwn ? patternsOf(value.field("outputs"), changes, own) : []).filter((path) => {
      if (path.split("/")[0] !== "**") return true;
      own.push(changes.add(value.field("outputs").at, `${quoted(path)} names the sources, too, and is not imported`));
      return false;
    });
    const inputs = isOwn && value.field("inputs").isPresent ? patternsOf(value.field("inputs"), changes, own) : ["**"];
    if (isCached && inputs.includes("**")) takesAllFiles = true;
    const cache = [
      "cache",
      listOf("inputs", [...new Set([...inputs, ...all.inputs])]),
      listOf("variables", [...new Set(variables)]),
    ];
    own.push(...unknownKeys(value, TURBO_KEYS, changes));
    const doc = value.field("description").optionalText();
    return {
      name: names.of("task", task),
      call: npmRun(script, workspace),
      after: [...new Set(after)],
      policies: [
        ...(isCached ? [cache.filter((part) => part !== "").join(" ")] : []),
        ...(outputs.length === 0 ? [] : [listOf(isCached ? "outputs" : "touches", outputs)]),
        ...(isInteractive ? ["interactive"] : []),
      ],
      ...(doc === undefined ? {} : { doc }),
      notes: own,
    };
  });
  if (takesAllFiles)
    notes.push(
      changes.add(
        "$",
        'Turborepo takes the files that Git does not ignore as inputs; `inputs "**"` takes all but `node_modules`',
      ),
    );
  return planFile({ name, notes, head: [], tasks: made }, changes);
}

/** Remarks on keys that are not imported: a misspelled `depends_on` would be lost. */
function unknownKeys(object: Source, known: readonly string[], changes: Changes): string[] {
  return object
    .entries()
    .filter(([key]) => !known.includes(key))
    .map(([key, { at }]) => changes.add(at, `\`${key}\` is not imported`));
}

/** `web#build` is the script of another package of the workspace, `//#build` that of its root. */
function scriptOf(task: string): { readonly script: string; readonly workspace?: string } {
  const [, owner = "//", script = task] = /^(.+?)#(.+)$/.exec(task) ?? [];
  return owner === "//" ? { script } : { script, workspace: owner };
}

function listOf(word: string, texts: readonly string[]): string {
  return texts.length === 0 ? "" : `${word} ${texts.map(quoted).join(", ")}`;
}

/** Patterns of Turborepo. Those that exclude files, or name files of the workspace, are omitted. */
function patternsOf(field: Source, changes: Changes, notes: string[]): string[] {
  const texts = uniquePaths(field, changes, notes).map((path) => (path === "$TURBO_DEFAULT$" ? "**" : path));
  return texts.filter((path) => {
    if (!/^[!$]/.test(path)) return true;
    const what = path.startsWith("!") ? "a plan has no patterns that exclude files" : "it is outside of the package";
    notes.push(changes.add(field.at, `${quoted(path)} is not imported: ${what}`));
    return false;
  });
}

function isVariable(name: string): boolean {
  return name !== "" && !/[!*=\s\0]/.test(name);
}

/** Names of environment variables. Patterns of names are omitted. */
function variablesOf(field: Source, changes: Changes, notes: string[]): string[] {
  return field.texts().filter((name) => {
    if (isVariable(name)) return true;
    notes.push(changes.add(field.at, `${quoted(name)} is not imported: name each variable`));
    return false;
  });
}

/** Paths as they are written, each once: two spellings of a path are one. Paths outside of the root are omitted. */
function uniquePaths(field: Source, changes: Changes, notes: string[]): string[] {
  const known = new Map<string, string>();
  for (const path of field.texts()) {
    try {
      const normal = normalizePath(path);
      if (!known.has(normal)) known.set(normal, path);
    } catch (error) {
      if (!(error instanceof PathEscapesRoot)) throw error;
      notes.push(changes.add(field.at, `the path ${quoted(path)} leaves the root of the plan, and is not imported`));
    }
  }
  return [...known.values()];
}

function planFile({ name, notes, constants = [], head, tasks }: Plan, changes: Changes): Imported {
  const lines = tasks.flatMap((task) => {
    const after = task.after.length === 0 ? "" : ` after ${task.after.join(", ")}`;
    const policies = task.policies.length === 0 ? "" : ` { ${task.policies.join("  ")} }`;
    return [
      ...task.notes.map((note) => comment(note, "//", "  ")),
      ...(task.doc === undefined ? [] : [comment(task.doc, "///", "  ")]),
      `  task ${task.name} = ${task.call}${after}${policies}`,
    ];
  });
  const title = new Names(["agent"]).fresh(name);
  const body = [...head.map((line) => `  ${line}`), ...(head.length === 0 ? [] : [""]), ...lines].join("\n");
  const text = `${notes.map((note) => `${comment(note)}\n`).join("")}${constants.map((line) => `${line}\n\n`).join("")}plan ${title} {\n${body}\n}\n`;
  return { text, changes: changes.list };
}
