/** The events of a stream, without a server. */
import { expect, test } from "vitest";
import { EventLog } from "../../hosts/restate/event-log.ts";
import { EventSender } from "../../hosts/restate/event-sender.ts";
import { Ingress } from "../../hosts/restate/ingress.ts";
import { serviceNames } from "../../hosts/restate/service-names.ts";
import type { RunEvent } from "../../runtime/index.ts";

function logInMemory() {
  const rows = new Map<string, string>();
  const log = new EventLog({
    get: async (key) => rows.get(key),
    set: (key, text) => void rows.set(key, text),
    clear: (key) => void rows.delete(key),
    keys: async () => [...rows.keys()],
  });
  return { log, rows };
}

test("a stream keeps a bounded number of events, and says where they begin", async () => {
  const { log, rows } = logInMemory();
  let n = 0;
  for (let batch = 0; batch < 300; batch++) await log.append(Array.from({ length: 50 }, () => ({ n: n++ })));
  // The newest 4,096 events, in batches of 50.
  expect(rows.size).toBeLessThanOrEqual(84);
  const first = await log.read(0);
  expect(first.from).toBe(15_000 - 4_100);
  expect(first.events[0]).toEqual({ n: first.from });
  let { next } = first;
  while (next < n) {
    const page = await log.read(next);
    expect([page.from, page.events[0]]).toEqual([next, { n: next }]);
    expect(page.events.length).toBeLessThanOrEqual(1100);
    ({ next } = page);
  }
  expect(await log.read(n)).toEqual({ events: [], from: n, next: n });
  expect(await log.read(n + 10)).toMatchObject({ events: [] });
});

test("a sender whose server does not answer keeps a bounded number of events", async () => {
  const sizes: number[] = [];
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  const ingress = new Ingress({
    url: "http://127.0.0.1:1",
    fetch: async (_, init) => {
      sizes.push((JSON.parse(init!.body as string) as { events: unknown[] }).events.length);
      await held;
      return new Response('{"value":null}');
    },
  });
  const sender = new EventSender(ingress, serviceNames("g"), "s");
  for (let n = 0; n < 10; n++) sender.onEvent({ n } as unknown as RunEvent);
  await expect.poll(() => sizes).toEqual([10]);
  for (let n = 0; n < 50_000; n++) sender.onEvent({ n } as unknown as RunEvent);
  release();
  await sender.flush();
  expect(sizes.length).toBe(2);
  expect(sizes[1]).toBeLessThanOrEqual(4096);
  expect(sizes[1]).toBeGreaterThan(2000);
});
