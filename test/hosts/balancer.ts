/** A balancer of connections: the one address behind which workers stand. */
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";

export class Balancer {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #workers: readonly number[] = [];
  #next = 0;

  static async start(): Promise<Balancer> {
    const balancer = new Balancer();
    await new Promise<void>((resolve) => balancer.#server.listen(0, "127.0.0.1", () => resolve()));
    return balancer;
  }

  private constructor() {
    this.#server = createServer({ noDelay: true }, (client) => this.#pass(client));
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Ports of the workers that are alive. */
  use(workers: readonly number[]): void {
    this.#workers = workers;
  }

  stop(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #pass(client: Socket): void {
    const port = this.#workers[this.#next++ % Math.max(1, this.#workers.length)];
    if (port === undefined) {
      client.destroy();
      return;
    }
    const worker = connect({ port, host: "127.0.0.1", noDelay: true });
    for (const [from, to] of [
      [client, worker],
      [worker, client],
    ] as const) {
      this.#sockets.add(from);
      from.on("error", () => to.destroy());
      from.on("close", () => {
        this.#sockets.delete(from);
        to.destroy();
      });
      from.pipe(to);
    }
  }
}
