/* oxlint-disable unicorn/require-post-message-target-origin -- the messages go to the editor, which is no window */
// The page of a picture: shows what the extension sends, and reports clicks on nodes.
(() => {
  const editor = acquireVsCodeApi();
  const picture = document.getElementById("picture");
  const message = document.getElementById("message");
  let ran = new Set();

  const nameOf = (node) => node.querySelector(":scope > title")?.textContent ?? "";
  const mark = () => {
    for (const node of picture.querySelectorAll("g.node")) node.classList.toggle("ran", ran.has(nameOf(node)));
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
  window.addEventListener("message", ({ data }) => {
    if (data.kind === "picture") {
      message.textContent = "";
      show(data.svg);
    } else if (data.kind === "message") {
      message.textContent = data.message;
      picture.classList.add("old");
    } else if (data.kind === "ran") {
      ran = new Set(data.nodes);
      mark();
    }
  });
  editor.postMessage({ kind: "ready" });
})();
