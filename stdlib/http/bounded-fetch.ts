/** A body that fails with the error that `tooLarge` creates when more than `limit` bytes of it are read. */
export function boundedBody(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  limit: number,
  tooLarge: () => Error,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  let bytes = 0;
  return body.pipeThrough(
    new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform(chunk, controller) {
        bytes += chunk.byteLength;
        if (bytes > limit) controller.error(tooLarge());
        else controller.enqueue(chunk);
      },
    }),
  );
}

/**
 * `fetch` with a bound on each response (see `boundedBody`).
 *
 * @param limit in bytes
 */
export function boundedFetch(limit: number, tooLarge: () => Error): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    if (response.body === null) return response;
    const body = boundedBody(response.body, limit, tooLarge);
    const { status, statusText, headers, url } = response;
    // A new response has no address; clients compare it after redirects.
    return Object.defineProperty(new Response(body, { status, statusText, headers }), "url", { value: url });
  };
}
