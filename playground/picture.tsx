import { useEffect, useRef } from "preact/hooks";
import type { Mark } from "../studio/marks.ts";
import { insertPicture, PICTURE_SIGNS, revealRun, showMarks } from "../studio/svg-picture.ts";
import type { GraphView } from "./messages.ts";

/** The picture of a graph. A click on a node shows its place in the text. The key of this element is the graph: another one is shown from its start. */
export function Picture({
  graph,
  marks,
  onNode,
}: {
  readonly graph: GraphView;
  readonly marks: ReadonlyMap<string, Mark>;
  readonly onNode: (offset: number) => void;
}) {
  const place = useRef<HTMLDivElement>(null);
  const { svg, problem, places } = graph;
  useEffect(() => {
    if (place.current === null) return;
    if (svg === undefined) place.current.replaceChildren();
    else insertPicture(place.current, svg);
  }, [svg]);
  useEffect(() => {
    if (place.current === null) return;
    showMarks(place.current, marks);
    // While the text is edited, the picture stays where it was scrolled to.
    if (marks.size > 0) revealRun(place.current);
  }, [svg, marks]);
  useEffect(() => {
    if (place.current !== null) revealRun(place.current);
  }, []);
  return (
    <figure class="picture">
      <div
        ref={place}
        onClick={(event) => {
          const node = (event.target as Element).closest("g.node")?.querySelector("title")?.textContent ?? "";
          const offset = Object.hasOwn(places, node) ? places[node] : undefined;
          if (offset !== undefined) onNode(offset);
        }}
      />
      {problem === undefined ? null : <p class="quiet">{problem}</p>}
      {marks.size === 0 ? null : <figcaption>{PICTURE_SIGNS}</figcaption>}
    </figure>
  );
}
