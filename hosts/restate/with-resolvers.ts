/** `Promise.withResolvers`, which the SDK of Restate calls and Node 20 lacks. */
export function provideWithResolvers(): void {
  if ("withResolvers" in Promise) return;
  const withResolvers = function <T>(this: PromiseConstructor): object {
    let resolve: ((value: T) => void) | undefined;
    let reject: ((reason: unknown) => void) | undefined;
    const promise = new this<T>((onResolve, onReject) => {
      resolve = onResolve;
      reject = onReject;
    });
    return { promise, resolve, reject };
  };
  Object.defineProperty(Promise, "withResolvers", { value: withResolvers, configurable: true, writable: true });
}
