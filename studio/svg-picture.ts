/** Pictures of graphs in a page, and marks on their nodes. */
import { textOf, type Mark } from "./marks.ts";

const SVG = "http://www.w3.org/2000/svg";

export const PICTURE_SIGNS = "▶ runs · ✓ has run · ‖ waits · ○ runs next · ✗ failed";

/** Replaces the content of an element by a picture. @returns whether the text is one */
export function insertPicture(place: HTMLElement, text: string): boolean {
  const { documentElement } = new DOMParser().parseFromString(text, "image/svg+xml");
  if (documentElement.localName !== "svg") return false;
  for (const side of ["width", "height"]) {
    documentElement.setAttribute(side, documentElement.getAttribute(side)?.replace("pt", "") ?? "");
  }
  documentElement.style.setProperty("--width", `${documentElement.getAttribute("width")}px`);
  place.replaceChildren(document.importNode(documentElement, true));
  return true;
}

export function showMarks(place: HTMLElement, marks: ReadonlyMap<string, Mark>): void {
  for (const group of place.querySelectorAll<SVGGElement>("g.node")) {
    const name = group.querySelector("title")?.textContent ?? "";
    const mark = marks.get(name);
    group.querySelector(".mark")?.remove();
    group.setAttribute("class", mark === undefined ? "node" : `node is-${mark.status}`);
    if (mark === undefined) continue;
    // A double frame is two shapes, the outer one last.
    const shape = [...group.querySelectorAll<SVGGraphicsElement>("path, polygon, ellipse")].at(-1);
    if (shape === undefined) continue;
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

/** Scrolls a picture that is larger than its place to where the run is, or to its start. */
export function revealRun(place: HTMLElement): void {
  const marked = place.querySelector("g.node:is(.is-failed, .is-waiting, .is-running, .is-next)");
  const node = marked ?? place.querySelector("g.node");
  if (node === null) return;
  const [box, frame] = [node.getBoundingClientRect(), place.getBoundingClientRect()];
  place.scrollBy(
    box.x + box.width / 2 - frame.x - frame.width / 2,
    box.y + box.height / 2 - frame.y - frame.height / 2,
  );
}
