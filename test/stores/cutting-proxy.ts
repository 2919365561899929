/**
 * A proxy between a client and a Postgres server. Cuts one connection at the N-th answer that the client waits for:
 * before the question has reached the server, or when the server has answered and the client has not received the
 * answer.
 */
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

export interface CuttingProxy {
  readonly port: number;
  /** Number of queries so far. */
  readonly questions: () => number;
  /** The SQL of the query that was cut, as far as it can be read. */
  readonly cut: () => string | undefined;
  close(): Promise<void>;
}

/** @param at index of the query to cut, from 0; -1 for none */
export async function startProxy(serverPort: number, at: number, when: "before" | "after"): Promise<CuttingProxy> {
  let questions = 0;
  let cut: string | undefined;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(serverPort, "127.0.0.1");
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => {}).on("close", () => sockets.delete(socket));
    }
    let isDoomed = false;
    client.on("data", (data) => {
      const isCut = questions++ === at;
      if (isCut) cut = data.toString("latin1");
      if (isCut && when === "before") {
        client.destroy();
        upstream.destroy();
        return;
      }
      isDoomed ||= isCut;
      upstream.write(data);
    });
    upstream.on("data", (data) => {
      if (!isDoomed) client.write(data);
      // `ReadyForQuery` is the last message of an answer and has six bytes.
      else if (data.at(-6) === "Z".charCodeAt(0)) {
        client.destroy();
        upstream.destroy();
      }
    });
    client.on("close", () => upstream.end());
    upstream.on("close", () => client.end());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    questions: () => questions,
    cut: () => cut,
    close: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
