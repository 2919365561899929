/**
 * `fetch` with a bound on each response: reading more than `limit` bytes fails with the error that `tooLarge` creates.
 *
 * @param limit in bytes
 */
export function boundedFetch(limit: number, tooLarge: () => Error): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    if (response.body === null) return response;
    let bytes = 0;
    const body = response.body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          bytes += chunk.byteLength;
          if (bytes > limit) controller.error(tooLarge());
          else controller.enqueue(chunk);
        },
      }),
    );
    const { status, statusText, headers, url } = response;
    // A new response has no address; clients compare it after redirects.
    return Object.defineProperty(new Response(body, { status, statusText, headers }), "url", { value: url });
  };
}
