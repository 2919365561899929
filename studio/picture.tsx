import { useEffect, useRef, useState } from "preact/hooks";
import { client, sentenceOf } from "./connection.ts";
import type { Mark } from "./marks.ts";
import { insertPicture, PICTURE_SIGNS, revealRun, showMarks } from "./svg-picture.ts";

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
        if (place.current !== null && insertPicture(place.current, text)) setDrawn(true);
      })
      .catch((error: unknown) => {
        if (!controller.signal.aborted) setProblem(sentenceOf(error));
      });
    return () => controller.abort();
  }, [graph]);
  useEffect(() => {
    if (isDrawn && place.current !== null) showMarks(place.current, marks);
  }, [isDrawn, marks]);
  useEffect(() => {
    if (isDrawn && place.current !== null) revealRun(place.current);
  }, [isDrawn]);
  return (
    <figure class="picture">
      <div ref={place} tabIndex={0} role="group" aria-label={`Picture of ${graph}`} />
      {problem === undefined ? null : <p class="problem">{problem}</p>}
      <figcaption>{PICTURE_SIGNS}</figcaption>
    </figure>
  );
}
