/** How the parts of a report are painted. A renderer knows the parts; colours are its caller's choice. */
export interface Styles {
  readonly error: (text: string) => string;
  readonly warning: (text: string) => string;
  readonly info: (text: string) => string;
  /** Line numbers, the bar beside them and arrows. */
  readonly gutter: (text: string) => string;
  /** Further marked places. */
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

/** The sixteen colours that every terminal has. */
export const ansiStyles: Styles = {
  error: sgr("1;31", "22;39"),
  warning: sgr("1;33", "22;39"),
  info: sgr("1;36", "22;39"),
  gutter: sgr("1;34", "22;39"),
  secondary: sgr("1;34", "22;39"),
  strong: sgr("1", "22"),
};

function sgr(on: string, off: string): (text: string) => string {
  return (text) => (text === "" ? "" : `\u001b[${on}m${text}\u001b[${off}m`);
}
