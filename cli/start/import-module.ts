/** What the entry hands to the program (load-program.ts): a script with a code cache has no `import()` of its own. */
declare const __ngcImport: ((specifier: string) => Promise<unknown>) | undefined;

/** `import()` for what is not part of the program: installed packages, modules of the user. */
export function importModule(specifier: string): Promise<unknown> {
  return typeof __ngcImport === "function" ? __ngcImport(specifier) : import(specifier);
}
