import { useEffect, useRef, useState } from "preact/hooks";
import { client, sentenceOf } from "./connection.ts";
import { textOf, type Mark } from "./marks.ts";

const SVG = "http://www.w3.org/2000/svg";

/** The picture of a graph with the marks of a run on its nodes. */
export function Picture({ graph, marks }: { readonly graph: string; readonly marks: ReadonlyMap<string, Mark> }) {
  const place = useRef<HTMLDivElement>(null);
  const [isDrawn, setDrawn] = useState(false);
  const [problem, setProblem] = useState<string>();
  useEffect(() => {
    const controller = new AbortController();
    setDrawn(false);
    client
      .graph(graph)
      .picture(controller.signal)
      .then((text) => {
        const { documentElement } = new DOMParser().parseFromString(text, "image/svg+xml");
        if (documentElement.localName !== "svg" || place.current === null) return;
        const height = documentElement.getAttribute("height");
        documentElement.setAttribute("height", height?.replace("pt", "") ?? "");
        documentElement.setAttribute("width", documentElement.getAttribute("width")?.replace("pt", "") ?? "");
        place.current.replaceChildren(document.importNode(documentElement, true));
        setDrawn(true);
      })
      .catch((error: unknown) => {
        if (!controller.signal.aborted) setProblem(sentenceOf(error));
      });
    return () => controller.abort();
  }, [graph]);
  useEffect(() => {
    if (isDrawn && place.current !== null) showMarks(place.current, marks);
  }, [isDrawn, marks]);
  return (
    <figure class="picture">
      <div ref={place} />
      {problem === undefined ? null : <p class="problem">{problem}</p>}
      <figcaption>▶ runs · ✓ has run · ‖ waits · ○ runs next · ✗ failed</figcaption>
    </figure>
  );
}

function showMarks(place: HTMLElement, marks: ReadonlyMap<string, Mark>): void {
  for (const group of place.querySelectorAll<SVGGElement>("g.node")) {
    const name = group.querySelector("title")?.textContent ?? "";
    const mark = marks.get(name);
    group.querySelector(".mark")?.remove();
    group.setAttribute("class", mark === undefined ? "node" : `node is-${mark.status}`);
    if (mark === undefined) continue;
    const shape = group.querySelector<SVGGraphicsElement>("path, polygon, ellipse");
    if (shape === null) continue;
    const box = shape.getBBox();
    const text = document.createElementNS(SVG, "text");
    text.setAttribute("class", "mark");
    text.setAttribute("x", String(box.x + box.width));
    text.setAttribute("y", String(box.y - 2));
    text.setAttribute("text-anchor", "end");
    text.textContent = textOf(mark);
    group.append(text);
  }
}
