/* oxlint-disable unicorn/require-post-message-target-origin -- the messages go to the editor, which is no window */
// The page of a picture: shows what the extension sends, and reports clicks on nodes.
(() => {
  const editor = acquireVsCodeApi();
  const picture = document.getElementById("picture");
  const message = document.getElementById("message");
  const status = document.getElementById("run");
  const [statusText, answer] = status.children;
  let nodes = new Map();

  // Colour is not the only sign of a state.
  const SIGNS = { running: "▶", done: "✓", waits: "‖", failed: "✗", next: "○", skipped: "–" };
  const WORDS = {
    running: "runs",
    done: "ran",
    waits: "waits",
    failed: "failed",
    next: "did not run yet",
    skipped: "skipped",
  };

  const nameOf = (node) => node.dataset.node ?? "";
  const mark = () => {
    for (const node of picture.querySelectorAll("g.node")) {
      const name = nameOf(node);
      const found = nodes.get(name);
      node.querySelector(":scope > .sign")?.remove();
      if (found === undefined) {
        delete node.dataset.state;
        node.setAttribute("aria-label", name);
        continue;
      }
      const { state, count } = found;
      const times = count > 1 ? ` ${count}×` : "";
      node.dataset.state = state;
      node.setAttribute("aria-label", `${name}: ${WORDS[state] ?? state}${times}`);
      const { x, y, width } = node.getBBox();
      const sign = document.createElementNS("http://www.w3.org/2000/svg", "text");
      sign.setAttribute("class", "sign");
      sign.setAttribute("x", String(x + width));
      sign.setAttribute("y", String(y - 2));
      sign.textContent = `${SIGNS[state] ?? ""}${times}`;
      node.append(sign);
    }
  };
  const show = (text) => {
    // As XML: a text that is no picture is not shown, and no element of HTML is created.
    const { documentElement } = new DOMParser().parseFromString(text, "image/svg+xml");
    if (documentElement.localName !== "svg") return;
    picture.replaceChildren(document.adoptNode(documentElement));
    picture.classList.remove("old");
    for (const node of picture.querySelectorAll("g.node")) {
      node.setAttribute("tabindex", "0");
      node.setAttribute("role", "link");
    }
    mark();
  };
  const jump = (event) => {
    const node = event.target.closest?.("g.node");
    if (node) editor.postMessage({ kind: "jump", node: nameOf(node) });
  };

  picture.addEventListener("click", jump);
  picture.addEventListener("keydown", (event) => {
    if (event.key === "Enter") jump(event);
  });
  answer.addEventListener("click", () => editor.postMessage({ kind: "answer" }));
  window.addEventListener("message", ({ data }) => {
    if (data.kind === "picture") {
      message.textContent = "";
      show(data.svg);
    } else if (data.kind === "message") {
      message.textContent = data.message;
      picture.classList.add("old");
    } else if (data.kind === "run") {
      nodes = new Map(data.nodes.map((node) => [node.name, node]));
      statusText.textContent = data.text;
      status.hidden = data.text === "";
      answer.hidden = !data.asks;
      mark();
    }
  });
  editor.postMessage({ kind: "ready" });
})();
