/**
 * The script of a picture's page, which has no other files: zoom, pan, search, details of the node under the pointer or the focus, the
 * source with the place of a node, pictures with called graphs folded and unfolded, and the theme. Texts of the user are only set as
 * text. It is a text, because a page contains it as it stands.
 */
export const PAGE_SCRIPT = String.raw`"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const view = $("view"), details = $("details"), source = $("source");
let scale = 1, x = 0, y = 0, picture, pinned;
const nodes = () => [...picture.querySelectorAll("g.node[data-node]")];
const size = () => picture.viewBox.baseVal;
function place() { picture.style.transform = "translate(" + x + "px," + y + "px) scale(" + scale + ")"; $("zoom").textContent = Math.round(scale * 100) + " %"; }
function fit(whole) {
  const { width, height } = size();
  const best = Math.min(view.clientWidth / width, whole ? view.clientHeight / height : Infinity, 1.5);
  // Smaller text cannot be read: the picture begins where its start is in view instead.
  scale = whole ? best : Math.max(best, 0.8);
  x = Math.max(0, (view.clientWidth - width * scale) / 2); y = 8; place();
  const first = nodes()[0];
  if (whole || !first) return;
  reveal(first);
  x = within(x, width * scale, view.clientWidth); y = within(y, height * scale, view.clientHeight); place();
}
const within = (at, length, room) => length > room ? Math.max(room - length, Math.min(8, at)) : at;
function zoom(factor, at) {
  const box = view.getBoundingClientRect();
  const cx = at ? at.x - box.x : box.width / 2, cy = at ? at.y - box.y : box.height / 2;
  const next = Math.min(8, Math.max(0.05, scale * factor));
  x = cx - (cx - x) * next / scale; y = cy - (cy - y) * next / scale; scale = next; place();
}
function reveal(node) {
  const box = node.getBoundingClientRect(), frame = view.getBoundingClientRect();
  if (box.left < frame.left || box.right > frame.right || box.top < frame.top || box.bottom > frame.bottom) {
    x += frame.x + frame.width / 2 - (box.x + box.width / 2); y += frame.y + frame.height / 2 - (box.y + box.height / 2); place();
  }
}
function show(index) {
  for (const each of view.querySelectorAll("svg")) each.toggleAttribute("hidden", Number(each.dataset.picture) !== index);
  picture = view.querySelector("svg:not([hidden])");
  picture.setAttribute("role", "group");
  picture.setAttribute("width", size().width); picture.setAttribute("height", size().height);
  for (const node of nodes()) {
    node.setAttribute("tabindex", "0"); node.setAttribute("role", "button");
    const fact = data.nodes[node.dataset.node];
    node.setAttribute("aria-label", fact ? fact.label + (fact.detail ? ", " + fact.detail : "") : node.dataset.node);
  }
  $("pictures").value = String(index); fit(false); search();
}
function add(parent, tag, text, kind) { const element = document.createElement(tag); element.textContent = text; if (kind) element.className = kind; parent.append(element); return element; }
function describe(id) {
  const fact = data.nodes[id];
  if (!fact) return;
  details.replaceChildren();
  add(details, "h2", fact.label);
  if (fact.doc) add(details, "p", fact.doc, "doc");
  if (fact.detail) add(details, "p", fact.detail, "call");
  const list = add(details, "dl", "");
  const row = (name, text) => { if (text) { add(list, "dt", name); add(list, "dd", text); } };
  row("Reads", fact.reads.join(", ")); row("Writes", fact.writes.join(", ")); row("Effects", fact.effects.join(", "));
  row("Policies", fact.marks.join("\n")); row("Run", fact.run); row("Findings", fact.findings.join("\n"));
  if (fact.calls) {
    const at = data.pictures.findIndex(({ unfolds }) => unfolds === id);
    if (at >= 0) {
      const open = Number($("pictures").value) === at;
      add(details, "button", open ? "Fold " + fact.calls : "Unfold " + fact.calls).addEventListener("click", () => { show(open ? 0 : at); describe(id); });
    } else add(details, "p", "Calls " + fact.calls + ".");
  }
  if (fact.place) {
    const button = add(details, "button", fact.place.file + ":" + fact.place.line, "place");
    button.addEventListener("click", () => openSource(fact.place));
  }
  if (fact.text) { const pre = add(details, "pre", fact.text); pre.tabIndex = 0; }
}
function openSource({ file, line }) {
  const text = data.sources[file];
  if (text === undefined) return;
  source.replaceChildren();
  add(source, "h2", file);
  const list = add(source, "ol", ""); list.tabIndex = 0; list.setAttribute("aria-label", "Source of " + file);
  text.split(/\r\n?|\n/).forEach((each, index) => { const item = add(list, "li", each === "" ? " " : each); if (index + 1 === line) item.className = "here"; });
  source.hidden = false;
  const here = list.querySelector(".here");
  if (here) { here.setAttribute("aria-current", "true"); list.scrollTop = here.offsetTop - list.offsetTop - list.clientHeight / 2; }
}
function pin(node) {
  for (const each of view.querySelectorAll(".pinned")) each.classList.remove("pinned");
  pinned = node; if (!node) return;
  node.classList.add("pinned"); describe(node.dataset.node);
  const fact = data.nodes[node.dataset.node];
  if (fact && fact.place) openSource(fact.place);
}
function search() {
  const text = $("search").value.trim().toLowerCase();
  const found = text === "" ? [] : nodes().filter((node) => node.textContent.toLowerCase().includes(text));
  for (const node of nodes()) node.classList.toggle("found", found.includes(node));
  view.classList.toggle("searching", text !== "");
  $("count").textContent = text === "" ? "" : found.length + " found";
  return found;
}
let turn = 0;
$("search").addEventListener("input", () => { turn = 0; const [first] = search(); if (first) reveal(first); });
$("search").addEventListener("keydown", (event) => {
  if (event.key === "Escape") { event.currentTarget.value = ""; search(); }
  if (event.key !== "Enter") return;
  const found = search(); if (found.length === 0) return;
  const node = found[turn++ % found.length]; reveal(node); describe(node.dataset.node);
});
$("in").addEventListener("click", () => zoom(1.25)); $("out").addEventListener("click", () => zoom(0.8));
$("fit").addEventListener("click", () => fit(true)); $("pictures").addEventListener("change", (event) => show(Number(event.currentTarget.value)));
$("theme").addEventListener("change", (event) => { document.documentElement.dataset.theme = event.currentTarget.value; });
view.addEventListener("wheel", (event) => { event.preventDefault(); zoom(Math.exp(-event.deltaY / 400), event); }, { passive: false });
let drag;
view.addEventListener("pointerdown", (event) => { if (event.button === 0) drag = { x: event.clientX - x, y: event.clientY - y, moved: false, id: event.pointerId }; });
view.addEventListener("pointermove", (event) => {
  const node = event.target.closest("g.node[data-node]");
  if (node && !pinned && !(drag && drag.moved)) describe(node.dataset.node);
  if (!drag) return;
  const [dx, dy] = [event.clientX - drag.x, event.clientY - drag.y];
  if (!drag.moved && Math.hypot(dx - x, dy - y) < 4) return;
  if (!drag.moved) view.setPointerCapture(drag.id);
  drag.moved = true; x = dx; y = dy; place();
});
view.addEventListener("pointerup", (event) => {
  if (drag && !drag.moved) pin(event.target.closest("g.node[data-node]"));
  drag = undefined;
});
view.addEventListener("pointercancel", () => { drag = undefined; });
view.addEventListener("focusin", (event) => { const node = event.target.closest("g.node[data-node]"); if (node) { reveal(node); if (!pinned) describe(node.dataset.node); } });
view.addEventListener("keydown", (event) => {
  const node = event.target.closest("g.node[data-node]"), step = 60;
  const keys = { ArrowLeft: () => { x += step; place(); }, ArrowRight: () => { x -= step; place(); }, ArrowUp: () => { y += step; place(); }, ArrowDown: () => { y -= step; place(); },
    "+": () => zoom(1.25), "=": () => zoom(1.25), "-": () => zoom(0.8), "0": () => fit(true), Enter: () => node && pin(node), " ": () => node && pin(node), Escape: () => { pin(undefined); source.hidden = true; } };
  if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
  event.preventDefault(); keys[event.key]();
});
addEventListener("keydown", (event) => { if (event.key === "/" && !/^(INPUT|SELECT)$/.test(document.activeElement.tagName)) { event.preventDefault(); $("search").focus(); } });
addEventListener("resize", place);
show(0);
`;
