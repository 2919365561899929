/** The graph that an export to NeoGraph reads, and what it reports. */
import type { Span } from "../../../diagnostics/source.ts";
import { END_NAME, START, type BoundGraph } from "../../../compiler/bind/bound-graph.ts";
import { ExportError, type Losses } from "../losses.ts";
import { inputWriter, textOf, type InputWriter } from "../state-idiom.ts";

/** Called graphs nest at most so deep, as in the importer. */
const DEEPEST = 20;

export class Topology {
  readonly graph: BoundGraph;
  readonly losses: Losses;
  readonly depth: number;
  /** The node that writes the input of a run: a run of NeoGraph starts behind it. */
  readonly writer: InputWriter | undefined;

  /** @throws ExportError */
  constructor(graph: BoundGraph, losses: Losses, depth: number) {
    this.graph = graph;
    this.losses = losses;
    this.depth = depth;
    this.writer = inputWriter(graph);
    if (depth > DEEPEST)
      this.refuse(
        graph.declaration.name.span,
        `graphs call each other more than ${DEEPEST} levels deep`,
        "export the inner graph by itself",
      );
  }

  lose(span: Span, message: string, help: string): void {
    this.losses.add({ file: this.graph.file, span, message, help });
  }

  refuse(span: Span, message: string, help: string): never {
    throw new ExportError({ file: this.graph.file, span, message, help });
  }

  loseArgument(span: Span): void {
    this.lose(
      span,
      `the argument \`${textOf(this.graph, span)}\` is left out: a node of NeoGraph reads the whole state`,
      "let the function compute it",
    );
  }
}

/** The name of a node in a topology. */
export function endName(name: string): string {
  return name === START ? "__start__" : name === END_NAME ? "__end__" : name;
}
