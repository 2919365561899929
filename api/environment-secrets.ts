/** Secrets that the options of a generated graph lack: those of the environment, if there is one. */
export function fromEnvironment(name: string): string | undefined {
  const host = globalThis as { readonly process?: { readonly env?: Readonly<Record<string, string | undefined>> } };
  return host.process?.env?.[name];
}
