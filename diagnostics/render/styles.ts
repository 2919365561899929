import colors from "picocolors";

/**
 * Functions that paint the parts of a report. The renderer names the parts; its caller decides whether there are
 * colours.
 */
export interface Styles {
  readonly error: (text: string) => string;
  readonly warning: (text: string) => string;
  readonly info: (text: string) => string;
  /** Line numbers, the bar beside them and arrows. */
  readonly gutter: (text: string) => string;
  /** Labelled places besides the primary one. */
  readonly secondary: (text: string) => string;
  readonly strong: (text: string) => string;
}

const asIs = (text: string): string => text;

export const plainStyles: Styles = {
  error: asIs,
  warning: asIs,
  info: asIs,
  gutter: asIs,
  secondary: asIs,
  strong: asIs,
};

type ColorName = "blue" | "cyan" | "red" | "yellow";

let created: ReturnType<typeof colors.createColors> | undefined;

/** Made at the first use: the package opens the streams of the process when it is loaded (`lazily` in scripts/bundle-library.mjs). */
const palette = (): ReturnType<typeof colors.createColors> => (created ??= colors.createColors(true));

const bold = (text: string): string => (text === "" ? "" : palette().bold(text));

/**
 * The sixteen colours that every terminal has. Always colours: `--color`, `NO_COLOR` and the terminal are examined by the
 * caller.
 */
export const ansiStyles: Styles = {
  error: painted("red"),
  warning: painted("yellow"),
  info: painted("cyan"),
  gutter: painted("blue"),
  secondary: painted("blue"),
  strong: bold,
};

function painted(color: ColorName): (text: string) => string {
  return (text) => (text === "" ? "" : bold(palette()[color](text)));
}
