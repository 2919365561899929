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

/** Always colours: `--color`, `NO_COLOR` and the terminal are examined by the caller. */
const { blue, bold, cyan, red, yellow } = colors.createColors(true);

/** The sixteen colours that every terminal has. */
export const ansiStyles: Styles = {
  error: painted(red),
  warning: painted(yellow),
  info: painted(cyan),
  gutter: painted(blue),
  secondary: painted(blue),
  strong: (text) => (text === "" ? "" : bold(text)),
};

function painted(color: (text: string) => string): (text: string) => string {
  return (text) => (text === "" ? "" : bold(color(text)));
}
