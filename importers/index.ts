/** Files of other systems as `.ngraph` text. */
export { importText } from "./import-text.ts";
export { ImportError } from "./imported.ts";
