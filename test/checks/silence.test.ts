import { describe, expect, it } from "vitest";
import { checkText } from "./support/check-text.ts";

describe("a consequence of another error is not reported", () => {
  it("a misspelt node cuts nothing off", () => {
    const { errors } = checkText(`graph shop {
      node order = act()  node pay = act()  node pack = act()  node send = act()
      start -> order -> paay -> send
      order -> pack
      all(pay, pack) -> send
      send -> end
      assert pay before send
    }`);
    expect(errors).toEqual(["NG101"]);
  });
  it("nor does a statement that cannot be read", () => {
    const { errors } = checkText(`graph shop {
      node order = act()  node pay = act(  node send = act()
      start -> order -> pay -> send
      send -> end
    }`);
    expect(errors.every((code) => code.startsWith("NG00"))).toBe(true);
  });
  it("a value that no arm can have leaves the missing one unsaid", () => {
    const { errors } = checkText(`graph shop {
      state kind: "card" | "cash"
      node ask_kind = check() into kind  node pay = act()
      start -> ask_kind
      ask_kind -> match kind { "card" -> pay  "kash" -> end }
      pay -> end
    }`);
    expect(errors).toEqual(["NG513"]);
  });
  it("one barrier that never fires explains those behind it", () => {
    const { errors } = checkText(`graph shop {
      state kind: "card" | "cash"
      node choose = check() into kind  node card = act()  node cash = act()  node slow = act()  node pack = act()
      node send = act()
      start -> choose, slow
      choose -> match kind { "card" -> card  "cash" -> cash }
      all(card, cash) -> pack
      all(pack, slow) -> send
      send -> end
    }`);
    expect(errors).toEqual(["NG301"]);
  });
  it("one node that nothing leads to explains what it leads to", () => {
    const { errors, diagnostics } = checkText(`graph shop {
      node order = act()  node check_stock = act()  node pack = act()  node send = act()
      start -> order -> end
      check_stock -> pack -> send -> end
    }`);
    expect(errors).toEqual(["NG201"]);
    expect(diagnostics.find(({ code }) => code === "NG201")?.notes).toEqual(["also unreachable: `pack` and `send`"]);
  });
  it("findings that need only the edges are reported beside other errors of the graph", () => {
    const { errors } = checkText(`graph shop {
      state total: int = "none"
      node order = act(total)  node lost = act()
      start -> order -> end
      lost -> end
    }`);
    expect(errors).toEqual(["NG201", "NG408"]);
  });
  it("a `waits` without an edge from its members leaves the other barriers checked", () => {
    const { errors } = checkText(`graph shop {
      node order = act()  node pack = act() { waits pay }  node pay = act()  node send = act()  node tidy = act()  node sweep = act()
      start -> order
      all(order, pack) -> send
      send -> end
      finally -> tidy -> sweep
      sweep -> order on error
    }`);
    expect(errors).toContain("NG201");
  });
});
