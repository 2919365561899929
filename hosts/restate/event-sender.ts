import type { RunEvent } from "../../runtime/interface/events.ts";
import type { JsonObject } from "../../runtime/value/json.ts";
import type { Ingress } from "./ingress.ts";
import type { ServiceNames } from "./service-names.ts";

/** Milliseconds that an event waits for others. */
const DELAY = 20;
/** Events that wait to be sent. Beyond it, the oldest are dropped: the run does not wait for its readers (8.2). */
const MAX_WAITING = 4096;

/** Sends the events of a run to the object of their stream, in batches and in order. */
export class EventSender {
  readonly #send: (events: readonly JsonObject[]) => Promise<unknown>;
  #waiting: JsonObject[] = [];
  #sending: Promise<void> | undefined;

  constructor(ingress: Ingress, names: ServiceNames, stream: string) {
    this.#send = (events) => ingress.call([names.events, stream, "append"], { events });
  }

  readonly onEvent = (event: RunEvent): void => {
    this.#waiting.push(event as unknown as JsonObject);
    if (this.#waiting.length > MAX_WAITING) this.#waiting = this.#waiting.slice(MAX_WAITING / 2);
    this.#sending ??= this.#sendAll();
  };

  /** Resolves when all events were sent. */
  async flush(): Promise<void> {
    await this.#sending;
  }

  async #sendAll(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, DELAY));
    while (this.#waiting.length > 0) {
      const events = this.#waiting;
      this.#waiting = [];
      // Events are not part of a run: their loss does not fail it.
      await this.#send(events).catch(() => undefined);
    }
    this.#sending = undefined;
  }
}
