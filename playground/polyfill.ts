/** What the language server and the simulated clock use of Node, for workers of browsers. */
export function addSetImmediate(): void {
  const scope = globalThis as { setImmediate?: (callback: () => void) => void };
  if (scope.setImmediate !== undefined) return;
  const waiting: (() => void)[] = [];
  const { port1, port2 } = new MessageChannel();
  port1.addEventListener("message", () => waiting.shift()?.());
  port1.start();
  scope.setImmediate = (callback) => {
    waiting.push(callback);
    port2.postMessage(null);
  };
}
