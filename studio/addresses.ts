/** The address of the page of a thread. */
export function addressOf(thread: string): string {
  return `#/threads/${encodeURIComponent(thread)}`;
}
