/** What the log of events keeps when the events of many threads are too large together. */
import { describe, expect, test } from "vitest";
import { EventLog } from "../../service/event-log.ts";

const MIB = 1024 * 1024;
/** Characters of all logs. */
const MOST = 64 * MIB;

/** Publishes an event of a thread with half a million characters. */
function publish(log: EventLog, thread: string): void {
  log.publish({ type: "node", thread, node: "x".repeat(MIB / 2), namespace: [] } as never);
}

/** The number of events that a thread has. */
function kept(log: EventLog, thread: string): number {
  return log.end(thread) - log.start(thread);
}

const threads = Array.from({ length: 40 }, (_, at) => `t${at}`);

describe("a log of events that are too large together", () => {
  test("keeps a share of each thread that is read, and half of the whole for the others", () => {
    const log = new EventLog();
    for (const thread of threads) log.open(thread);
    for (let round = 0; round < 8; round++) for (const thread of threads) publish(log, thread);
    const sizes = threads.map((thread) => kept(log, thread));
    expect(Math.min(...sizes)).toBeGreaterThan(0);
    expect((sizes.reduce((sum, each) => sum + each, 0) * MIB) / 2).toBeLessThanOrEqual(MOST);
    // A thread without a reader has its events when a reader connects again.
    for (let each = 0; each < 4; each++) publish(log, "unread");
    expect(kept(log, "unread")).toBe(4);
  });

  test("keeps what a reader of one thread has not read while others write", () => {
    const log = new EventLog();
    log.open("read");
    for (let each = 0; each < 4; each++) publish(log, "read");
    for (const thread of threads) for (let each = 0; each < 8; each++) publish(log, thread);
    expect(kept(log, "read")).toBe(4);
    // The threads without readers that were written least recently are the ones that went.
    const left = threads.filter((thread) => kept(log, thread) > 0);
    expect(left).toEqual(threads.slice(-left.length));
    expect(left.length).toBeGreaterThan(0);
    expect(left.length).toBeLessThan(threads.length);
  });

  test("has the log of a thread whose reader has left among those that go", () => {
    const log = new EventLog();
    const close = log.open("left");
    publish(log, "left");
    close();
    close();
    expect(kept(log, "left")).toBe(1);
    for (let round = 0; round < 8; round++) for (const thread of threads) publish(log, thread);
    expect(kept(log, "left")).toBe(0);
  });

  test("tells a reader how many events it has missed", () => {
    const log = new EventLog();
    log.open("slow");
    const from = log.end("slow");
    for (let each = 0; each < 20; each++) publish(log, "slow");
    const reading = log.read("slow", from);
    expect(reading).toEqual({ kind: "missed", count: 20 - kept(log, "slow"), next: log.start("slow") });
  });
});
