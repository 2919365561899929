/** The state of a virtual object as the store uses it: text by key, changed in order. */
export interface KeyValues {
  get(key: string): Promise<string | undefined>;
  set(key: string, text: string): void;
  clear(key: string): void;
  keys(): Promise<readonly string[]>;
}
