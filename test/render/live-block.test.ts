import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { cutLine, liveBlock, stopLiveBlocks } from "../../cli/output/live-block.ts";
import type { Streams } from "../../cli/process/intercept-writes.ts";
import { Screen } from "../support/screen.ts";

beforeEach(() => vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] }));
afterEach(() => vi.useRealTimers());

/** A terminal whose two streams write to one screen. */
function terminal(columns: number, rows: number): Streams & { readonly screen: Screen; drawings: number } {
  const screen = new Screen(columns);
  const stream = () => ({
    isTTY: true,
    columns,
    rows,
    write(text: string) {
      found.drawings++;
      screen.write(text);
      return true;
    },
  });
  const found = { screen, stdout: stream(), stderr: stream(), drawings: 0 };
  return found;
}

const TICK = 100;

describe("the live part of a terminal", () => {
  test("is rewritten in place, below other output, and removed at the end", () => {
    const streams = terminal(40, 10);
    let lines = ["one", "two"];
    const block = liveBlock(() => lines, streams);
    block.draw();
    expect(streams.screen.text).toBe("one\ntwo");
    lines = ["three"];
    vi.advanceTimersByTime(TICK);
    expect(streams.screen.text).toBe("three");
    block.above(() => streams.stderr.write("✓ done\n"));
    vi.advanceTimersByTime(TICK);
    expect(streams.screen.text).toBe("✓ done\nthree");
    lines = ["three", "four", "five"];
    vi.advanceTimersByTime(TICK);
    block.stop();
    expect(streams.screen.text).toBe("✓ done\n");
    vi.advanceTimersByTime(10 * TICK);
    block.draw();
    expect(streams.screen.text).toBe("✓ done\n");
  });

  test("goes away before the program's last words, which know nothing of it", () => {
    const streams = terminal(40, 10);
    const past = streams.stderr.write.bind(streams.stderr);
    liveBlock(() => ["… 1s slow"], streams).draw();
    stopLiveBlocks();
    past("error: late\n");
    vi.advanceTimersByTime(10 * TICK);
    expect(streams.screen.text).toBe("error: late\n");
  });

  test("output of user code goes above; an unfinished line is not overwritten", () => {
    const streams = terminal(40, 10);
    const block = liveBlock(() => ["… working"], streams);
    block.draw();
    streams.stdout.write("a line\n");
    vi.advanceTimersByTime(TICK);
    expect(streams.screen.text).toBe("a line\n… working");
    streams.stdout.write("a beginning ");
    vi.advanceTimersByTime(5 * TICK);
    expect(streams.screen.text).toBe("a line\na beginning");
    streams.stderr.write("and its end\n");
    vi.advanceTimersByTime(TICK);
    expect(streams.screen.text).toBe("a line\na beginning and its end\n… working");
    block.stop();
    expect(streams.screen.text).toBe("a line\na beginning and its end\n");
  });

  test.each([1, 5, 20, 80])("in %i columns every line is one row, wide characters and colours included", (columns) => {
    const streams = terminal(columns, 50);
    const long =
      "\u001b[1;31m✗ failed: 数据处理节点 and many more names than fit into one row of any terminal\u001b[22;39m";
    const block = liveBlock(() => [long, long, "end"], streams);
    for (let tick = 0; tick < 20; tick++) vi.advanceTimersByTime(TICK);
    expect(streams.screen.text.split("\n").length).toBeLessThanOrEqual(3);
    block.stop();
    expect(streams.screen.text).toBe("");
  });

  test("more lines than the terminal has rows are not drawn: they could not be taken back", () => {
    const streams = terminal(40, 5);
    const block = liveBlock(() => Array.from({ length: 100 }, (_, index) => `task ${index}`), streams);
    for (let tick = 0; tick < 5; tick++) vi.advanceTimersByTime(TICK);
    expect(streams.screen.text).toBe("task 96\ntask 97\ntask 98\ntask 99");
    block.stop();
    expect(streams.screen.text).toBe("");
  });

  test("ten thousand events at once are one drawing", () => {
    const streams = terminal(40, 5);
    const block = liveBlock(() => ["… busy"], streams);
    for (let event = 0; event < 10_000; event++) block.draw();
    expect(streams.drawings).toBe(1);
    block.stop();
  });

  test("after the terminal has become narrower, the rows that lines have come to take are all taken back", () => {
    const wide = terminal(40, 10);
    const line = "… a line of thirty-two characters";
    const block = liveBlock(() => [line], wide);
    block.draw();
    expect(wide.screen.text).toBe(line);
    // Terminals wrap the line again: two rows of 20, the cursor at its end.
    const narrow = new Screen(20);
    narrow.write(`before\n${line}`);
    Object.assign(wide.stderr, { columns: 20 });
    const written: string[] = [];
    vi.spyOn(wide.screen, "write").mockImplementation((text) => void written.push(text));
    block.stop();
    narrow.write(written.join(""));
    expect(narrow.text).toBe("before\n");
  });
});

test("a line is cut by cells, with its colours closed", () => {
  expect(cutLine("数据处理", 5)).toBe("数据…");
  expect(cutLine("plain", 5)).toBe("plain");
  expect(cutLine("\u001b[1mplain text\u001b[22m", 6)).toBe("\u001b[1mplain…\u001b[22m");
});
