/** A server that ends a new connection in the message that also says that it is ready. */
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { PostgresStore } from "../../runtime/stores/postgres.ts";

const REASON = "terminating connection due to administrator command";

function message(type: string, content: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(content.length + 4);
  return Buffer.concat([Buffer.from(type), length, content]);
}

it("an ended connection is an error of the operation, not an exception that ends the process", async () => {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C57P01\0M${REASON}\0\0`);
  const answer = Buffer.concat([message("R", Buffer.alloc(4)), message("Z", Buffer.from("I")), message("E", fields)]);
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    socket.on("error", () => {}).once("data", () => socket.end(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const store = new PostgresStore({ url: `postgres://someone@127.0.0.1:${port}/db`, connections: 1 });
  await expect(store.threads()).rejects.toMatchObject({
    code: "NG_STORE_FAILED",
    message: expect.stringMatching(/cannot be reached|ended the connection/) as string,
  });
  expect(connections).toBeGreaterThan(0);
  await store.close();
  await new Promise((resolve) => server.close(resolve));
});
