/** Formats a text; `undefined` for a text that cannot be formatted. */
export type FormatText = (text: string) => Promise<string | undefined>;

/**
 * What formats the changed versions of a text: they stay formatted if the text is. A text that is not formatted keeps its layout, and so
 * does a change that cannot be formatted.
 */
export async function keepFormatted(text: string, format: FormatText): Promise<(changed: string) => Promise<string>> {
  const isFormatted = (await format(text)) === text;
  return async (changed) => (isFormatted ? ((await format(changed)) ?? changed) : changed);
}
