/** The parts of an edge of any form. `R` is a use of a name. `C` is a condition, before or after it is typed. */
export interface EdgeParts<R, C> {
  readonly source:
    | { readonly kind: "nodes"; readonly nodes: readonly R[] }
    | { readonly kind: "all" | "settled"; readonly members: readonly (readonly R[])[] };
  readonly to: RightSide<R, C>;
}

type RightSide<R, C> =
  | { readonly kind: "plain"; readonly targets: readonly R[] }
  | { readonly kind: "otherwise"; readonly targets: readonly R[] }
  | { readonly kind: "when"; readonly condition: C; readonly targets: readonly R[] }
  | { readonly kind: "match"; readonly subject: C; readonly arms: readonly Arm<R>[]; readonly otherwise?: Arm<R> }
  | {
      readonly kind: "cases";
      readonly arms: readonly (Arm<R> & { readonly condition: C })[];
      readonly otherwise?: Arm<R>;
    };

interface Arm<R> {
  readonly targets: readonly R[];
}

/** The nodes (or `start`) that an edge leaves, members of a barrier included. */
export function sourcesOf<R>({ source }: Pick<EdgeParts<R, unknown>, "source">): readonly R[] {
  return source.kind === "nodes" ? source.nodes : source.members.flat();
}

/** The targets of each alternative of an edge; `else` is the last. */
export function alternativesOf<R>({ to }: Pick<EdgeParts<R, unknown>, "to">): readonly (readonly R[])[] {
  switch (to.kind) {
    case "plain":
    case "when":
    case "otherwise":
      return [to.targets];
    case "match":
    case "cases": {
      const arms: readonly Arm<R>[] = to.arms;
      return [...arms, ...(to.otherwise === undefined ? [] : [to.otherwise])].map(({ targets }) => targets);
    }
    default:
      return to satisfies never;
  }
}

export function targetsOf<R>(edge: Pick<EdgeParts<R, unknown>, "to">): readonly R[] {
  const { to } = edge;
  return to.kind === "match" || to.kind === "cases" ? alternativesOf(edge).flat() : to.targets;
}

/** The expressions that an edge evaluates to choose its targets. */
export function conditionsOf<C>({ to }: Pick<EdgeParts<unknown, C>, "to">): readonly C[] {
  switch (to.kind) {
    case "plain":
    case "otherwise":
      return [];
    case "when":
      return [to.condition];
    case "match":
      return [to.subject];
    case "cases":
      return to.arms.map(({ condition }) => condition);
    default:
      return to satisfies never;
  }
}
