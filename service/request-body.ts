import type { Operation } from "./operations.ts";
import { Problem } from "./problem.ts";

/** The body as JSON. @throws Problem `unsupported-media-type`, `bad-request` */
export async function readBody(request: Request, operation: Operation, most: number): Promise<unknown> {
  const text = await readText(request, most);
  // Operations without a required field take no body, too.
  if (text === "" && !Object.values(operation.body ?? {}).some(({ isRequired }) => isRequired)) return {};
  const type = (request.headers.get("content-type") ?? "").split(";")[0]!.trim().toLowerCase();
  // A page of another site can send other types without the browser asking the service first.
  if (type !== "application/json") {
    throw new Problem(
      "unsupported-media-type",
      "the body of the request is JSON: send `content-type: application/json`",
    );
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Problem(
      "bad-request",
      `the body of the request is not JSON: ${error instanceof Error ? error.message.slice(0, 200) : ""}`,
    );
  }
}

/** The body of a request as text, of at most so many bytes. @throws Problem `too-large`, `bad-request` */
async function readText(request: Request, most: number): Promise<string> {
  const tooLarge = (): Problem => new Problem("too-large", `the body of a request has at most ${most} bytes`);
  if (Number(request.headers.get("content-length") ?? 0) > most) throw tooLarge();
  if (request.body === null) return "";
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const parts: string[] = [];
  let size = 0;
  const reader = request.body.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      size += value.byteLength;
      if (size > most) throw tooLarge();
      parts.push(decoder.decode(value, { stream: true }));
    }
    return parts.join("") + decoder.decode();
  } catch (error) {
    void reader.cancel().catch(() => undefined);
    if (error instanceof Problem) throw error;
    throw new Problem("bad-request", "the body of the request is not text in UTF-8, or was cut off");
  }
}
