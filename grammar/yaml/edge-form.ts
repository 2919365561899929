/** Edges: strings in the language, or maps. */
import { ambiguousFrom, wrongYamlShape } from "../../diagnostics/catalog/yaml.ts";
import type { Span } from "../../diagnostics/source.ts";
import type {
  AnyOf,
  Broken,
  ConditionArm,
  EdgeDecl,
  EdgeSource,
  Expr,
  Identifier,
  LiteralType,
  MatchCondition,
  MatchValue,
  Targets,
  ValueArm,
} from "../ast.ts";
import { patternForm } from "./data-form.ts";
import { docForm } from "./doc-form.ts";
import { expressionForm, fragmentForm, nameForm, namesForm } from "./fragment-forms.ts";
import {
  byKind,
  complain,
  listOf,
  named,
  oneOrMore,
  optional,
  placeIn,
  recordForm,
  required,
  spanOfKey,
  wrongKind,
  type Fields,
  type Form,
  type FormReader,
  type RecordRead,
} from "./form.ts";
import { wordsIn } from "./graph-forms.ts";
import { flagForm } from "./small-forms.ts";
import type { YamlNode } from "./yaml-tree.ts";

const memberForm: Form<Identifier | AnyOf> = byKind<Identifier | AnyOf>("the name of a node, or a map with `any`", {
  scalar: nameForm("the name of a node"),
  map: recordForm(
    "a member of a barrier",
    { any: required(listOf(nameForm("the name of a node"), "a list of names"), "One of them is enough.") },
    ({ values, node, isBroken }): AnyOf | undefined =>
      isBroken || values.any === undefined ? undefined : { kind: "AnyOf", span: node.span, nodes: values.any },
  ),
});

// Arms ------------------------------------------------------------------------------------------------

interface Arm {
  readonly span: Span;
  readonly head: "is" | "when" | "else";
  readonly patterns?: readonly LiteralType[];
  readonly condition?: Expr;
  readonly targets: readonly Identifier[];
}

const ARM_FIELDS = {
  is: optional(oneOrMore(patternForm, "a literal or a list of literals"), "The values that lead here."),
  when: optional(expressionForm(), "The condition that leads here, where the match has no subject."),
  else: optional(namesForm(), "Where everything else leads."),
  to: optional(namesForm(), "The nodes that run next."),
} as const satisfies Fields;

const armForm: Form<Arm> = recordForm("an arm", ARM_FIELDS, (read): Arm | undefined => {
  if (read.isBroken) return undefined;
  const { values, node, reader } = read;
  const heads = read.entries.filter(({ key }) => key !== "to");
  const [head, second] = heads;
  const fail = (at: Span, message: string, help?: string) =>
    complain(reader, wrongYamlShape(placeIn(reader, at), { message, help }));
  if (head === undefined)
    return fail(node.span, "this arm has no `is`, `when` or `else`", "an arm is `{ is: …, to: … }` or `{ else: … }`");
  if (second !== undefined)
    return fail(second.keyNode.span, `\`${head.key}\` and \`${second.key}\` exclude each other`);
  if (values.else !== undefined) {
    if (values.to !== undefined)
      return fail(spanOfKey(read, "to"), "`else` and `to` exclude each other", "write `{ else: draft }`");
    return { span: node.span, head: "else", targets: values.else };
  }
  if (values.to === undefined)
    return fail(node.span, "this arm needs the key `to`", "it takes a name or a list of names");
  return {
    span: node.span,
    head: values.is === undefined ? "when" : "is",
    ...(values.is === undefined ? {} : { patterns: values.is }),
    ...(values.when === undefined ? {} : { condition: values.when }),
    targets: values.to,
  };
});

// Edges -----------------------------------------------------------------------------------------------

const EDGE_FIELDS = {
  doc: optional(docForm, "What the edge is for."),
  from: optional(namesForm(), "The node that signals."),
  any: optional(listOf(nameForm("the name of a node"), "a list of names"), "Nodes each of which signals the targets."),
  all: optional(listOf(memberForm, "a list of nodes"), "A barrier: all of them must have signalled."),
  settled: optional(
    listOf(memberForm, "a list of nodes"),
    "A barrier: one of them has signalled, and no running or waiting work can lead to a signal of another one.",
  ),
  via: optional(namesForm(), "Nodes in between, one after the other."),
  to: optional(namesForm(), "The nodes that run next."),
  "on error": optional(flagForm, "Taken when the node has failed for good."),
  when: optional(expressionForm(), "The condition on which the edge is taken."),
  otherwise: optional(flagForm, "Taken when no `when` of the node held."),
  match: optional(expressionForm(), "The value that decides which arm is taken."),
  arms: optional(listOf(armForm, "a list of arms"), "One of them is taken."),
} as const satisfies Fields;

type EdgeRead = RecordRead<typeof EDGE_FIELDS>;

const edgeMapForm: Form<EdgeDecl> = recordForm("an edge", EDGE_FIELDS, (read): EdgeDecl | undefined => {
  if (read.isBroken) return undefined;
  const source = sourceOf(read);
  const to = source === undefined ? undefined : rightSideOf(read);
  if (source === undefined || to === undefined) return undefined;
  const { doc, via } = read.values;
  return {
    kind: "Edge",
    span: read.node.span,
    ...(doc === undefined ? {} : { doc }),
    source,
    chain: via ?? [],
    to,
  };
});

function complainAbout(read: EdgeRead, at: Span, message: string, help?: string): undefined {
  return complain(read.reader, wrongYamlShape(placeIn(read.reader, at), { message, help }));
}

/** Whether one of `others` is present next to `key`, which excludes them. Reports the first one. */
function excluded(read: EdgeRead, key: keyof typeof EDGE_FIELDS, others: readonly string[]): boolean {
  const rival = read.entries.find((entry) => others.includes(entry.key));
  if (rival === undefined) return false;
  complainAbout(read, rival.keyNode.span, `\`${key}\` and \`${rival.key}\` exclude each other`);
  return true;
}

function sourceOf(read: EdgeRead): EdgeSource | undefined {
  const { all, settled, any, from } = read.values;
  if (all !== undefined) {
    if (excluded(read, "all", ["settled", "any", "from"])) return undefined;
    return { kind: "AllOf", span: spanOfKey(read, "all"), members: all };
  }
  if (settled !== undefined) {
    if (excluded(read, "settled", ["any", "from"])) return undefined;
    return { kind: "SettledOf", span: spanOfKey(read, "settled"), members: settled };
  }
  if (any !== undefined) {
    if (excluded(read, "any", ["from"])) return undefined;
    return { kind: "NodeList", span: spanOfKey(read, "any"), nodes: any };
  }
  if (from !== undefined) {
    const span = spanOfKey(read, "from");
    const key = read.entries.find((entry) => entry.key === "from");
    if (from.length > 1 && key !== undefined)
      complain(read.reader, ambiguousFrom(placeIn(read.reader, key.keyNode.span)));
    return { kind: "NodeList", span, nodes: from };
  }
  const at = read.node.entries[0]?.keyNode.span ?? read.node.span;
  return complainAbout(
    read,
    at,
    "an edge needs the key `from`, `any`, `all` or `settled`",
    "it names the nodes that signal",
  );
}

function rightSideOf(read: EdgeRead): EdgeDecl["to"] | undefined {
  const { arms, match, to } = read.values;
  if (arms !== undefined) {
    if (excluded(read, "arms", ["to", "on error", "when", "otherwise"])) return undefined;
    return matchOf(read, arms, match);
  }
  if (match !== undefined) return complainAbout(read, spanOfKey(read, "match"), "`match` needs the key `arms`");
  if (to === undefined) {
    const at = read.node.entries[0]?.keyNode.span ?? read.node.span;
    return complainAbout(read, at, "an edge needs the key `to` or `arms`", "it lists the nodes that run next");
  }
  return targetsOf(read, to);
}

function targetsOf(read: EdgeRead, nodes: readonly Identifier[]): Targets | undefined {
  const { when, otherwise } = read.values;
  if (when !== undefined && otherwise === true && excluded(read, "when", ["otherwise"])) return undefined;
  const guard =
    when !== undefined
      ? ({ kind: "When", span: spanOfKey(read, "when"), condition: when } as const)
      : otherwise === true
        ? ({ kind: "Otherwise", span: spanOfKey(read, "otherwise") } as const)
        : undefined;
  return {
    kind: "Targets",
    span: spanOfKey(read, "to"),
    nodes,
    onError: read.values["on error"] === true,
    ...(guard === undefined ? {} : { guard }),
  };
}

function matchOf(
  read: EdgeRead,
  arms: readonly Arm[],
  subject: Expr | undefined,
): MatchValue | MatchCondition | undefined {
  const span = spanOfKey(read, subject === undefined ? "arms" : "match");
  const wrong = arms.find(({ head }) => head === (subject === undefined ? "is" : "when"));
  if (wrong !== undefined) {
    const help =
      subject === undefined
        ? "name what is compared: `match: …`; or give the arm a condition: `when: …`"
        : "the arms of a `match` compare: `is: …`; without `match` they have conditions";
    return complainAbout(read, wrong.span, `an arm with \`${wrong.head}\` does not fit here`, help);
  }
  if (subject === undefined) {
    const conditionArms = arms.map((arm): ConditionArm => ({
      kind: "ConditionArm",
      span: arm.span,
      ...(arm.condition === undefined ? {} : { condition: arm.condition }),
      targets: arm.targets,
    }));
    return { kind: "MatchCondition", span, arms: conditionArms };
  }
  const valueArms = arms.map(({ span: at, patterns = [], targets }): ValueArm => ({
    kind: "ValueArm",
    span: at,
    patterns,
    targets,
  }));
  return { kind: "MatchValue", span, subject, arms: valueArms };
}

const edgeForm: Form<EdgeDecl> = named(
  "edge",
  byKind("an edge: `a -> b`, or a map with `from` and `to`", {
    scalar: fragmentForm("edge", "an edge, such as `a -> b`"),
    map: edgeMapForm,
  }),
);

/** A list of edges. An unreadable edge becomes a broken node. */
export const edgesForm: Form<(EdgeDecl | Broken)[]> = {
  expected: "a list of edges",
  schema: (definitions) => ({ type: ["array", "null"], items: edgeForm.schema(definitions) }),
  read(node, reader) {
    if (node.kind === "scalar" && node.value === null && node.written === "") return [];
    if (node.kind !== "list")
      return wrongKind(node, reader, "a list of edges", "write `- a -> b` for each, or `- { from: a, to: b }`");
    return node.items.map((item) => edgeForm.read(item, reader) ?? brokenEdge(item, reader));
  },
};

function brokenEdge({ span }: YamlNode, reader: FormReader): Broken {
  return { kind: "Broken", span, of: "edge", names: wordsIn(reader.reading.text.slice(span.start, span.end)) };
}
