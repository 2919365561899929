/** `import()` of the entry file, passed in by load-program.ts: a `vm.Script` with a code cache has no `import()`. */
declare const __ngcImport: ((specifier: string) => Promise<unknown>) | undefined;

/** Imports a module that is not part of the bundled program: an installed package or user code. */
export function importModule(specifier: string): Promise<unknown> {
  return typeof __ngcImport === "function" ? __ngcImport(specifier) : import(specifier);
}
