import { createServer } from "node:net";

/** Systems take the ports of outgoing connections, and those of servers that ask for any port, from above: nothing but these tests takes one of these. */
const FIRST = 10_000;
const COUNT = 20_000;

/** A port of the loopback interface for a server that cannot choose one itself. It stays free until that server takes it. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * COUNT);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
