/** The part of a symbol of the outline that a search reads. */
export interface OutlineSymbol {
  readonly name: string;
  readonly children: readonly OutlineSymbol[];
}

/** The symbol of a node or task of a graph or plan; without `node`, of the graph. `undefined` if the outline does not have it. */
export function findSymbol<Symbol extends OutlineSymbol>(
  symbols: readonly Symbol[],
  graph: string,
  node?: string,
): Symbol | undefined {
  const owner = symbols.find(({ name }) => name === graph);
  return node === undefined
    ? owner
    : (owner?.children as readonly Symbol[] | undefined)?.find(({ name }) => name === node);
}
