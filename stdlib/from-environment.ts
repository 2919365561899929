/** A variable of the environment, if there is one. The environment is an object, whose prototype has `toString` and others. */
export function fromEnvironment(name: string): string | undefined {
  const host = globalThis as { readonly process?: { readonly env?: Readonly<Record<string, string | undefined>> } };
  const variables = host.process?.env;
  return variables !== undefined && Object.hasOwn(variables, name) ? variables[name] : undefined;
}
