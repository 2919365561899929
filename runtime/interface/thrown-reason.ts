/** The message of a thrown value, or the value as text. Reading it may run user code, which may throw. */
export function reasonOf(thrown: unknown): string {
  try {
    return thrown instanceof Error ? String(thrown.message) : String(thrown);
  } catch {
    return "it threw something that cannot be shown";
  }
}
