/** In place of `cli/start/import-module.ts` in the bundle: the packages that a page loads when it needs them. */
export function importModule(specifier: string): Promise<unknown> {
  if (specifier === "@hpcc-js/wasm-graphviz") return import("@hpcc-js/wasm-graphviz");
  return Promise.reject(new Error(`the page does not contain ${specifier}`));
}
