import type { WSContext, WSEvents } from "hono/ws";

/** Characters that a socket may hold which its client has not taken. */
const MOST_BUFFERED = 1024 * 1024;
const LOOK_MS = 20;

/** Sends the messages of a stream through a WebSocket, from its first moment on. Messages of the client are ignored. */
export function socketEvents(open: () => ReadableStream<readonly string[]>): WSEvents {
  let reader: ReadableStreamDefaultReader<readonly string[]> | undefined;
  const cancel = (): void => void reader?.cancel().catch(() => undefined);
  return {
    onOpen(_, socket) {
      reader = open().getReader();
      void sendAll(reader, socket).finally(cancel);
    },
    onClose: cancel,
    onError: cancel,
  };
}

async function sendAll(reader: ReadableStreamDefaultReader<readonly string[]>, socket: WSContext): Promise<void> {
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return socket.close(1000);
      if (socket.readyState !== OPEN) return;
      for (const message of value) socket.send(message);
      // A client that reads slowly holds up its own stream only.
      while (bufferedOf(socket.raw) > MOST_BUFFERED) {
        await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
        if (socket.readyState !== OPEN) return;
      }
    }
  } catch {
    socket.close(1011, "the stream has failed");
  }
}

const OPEN = 1;

/** What the sockets of Node, Deno, Workers and Bun tell about their buffers. */
function bufferedOf(raw: unknown): number {
  const socket = (raw ?? {}) as { readonly bufferedAmount?: number; readonly getBufferedAmount?: () => number };
  return socket.bufferedAmount ?? socket.getBufferedAmount?.() ?? 0;
}

/** Whether a request asks for a WebSocket. */
export function isUpgrade(request: Request): boolean {
  return request.headers.get("upgrade")?.toLowerCase() === "websocket";
}

/**
 * The credentials of a WebSocket as a header: pages cannot add headers to such a request, so that the token is one of its
 * subprotocols, `ngraph.bearer.` and the token in base64url.
 */
export function bearerOfSocket(request: Request): string | null {
  const offered = (request.headers.get("sec-websocket-protocol") ?? "").split(/\s*,\s*/);
  const [, text] = offered.map((name) => /^ngraph\.bearer\.([\w-]{1,4096})$/.exec(name)).find((found) => found) ?? [];
  if (text === undefined) return null;
  try {
    return `Bearer ${atob(text.replaceAll("-", "+").replaceAll("_", "/"))}`;
  } catch {
    return null;
  }
}
