/** Diagnostics as text and data. Nothing here reads files or knows a terminal. */
export { renderGithub } from "./github.ts";
export { pageOf, toJson, type DiagnosticJson } from "./json.ts";
export { renderPlain } from "./plain.ts";
export { renderPretty, type PrettyOptions } from "./pretty.ts";
export { renderSarif, type SarifOptions } from "./sarif.ts";
export { DEFAULT_MAX_DIAGNOSTICS, selectDiagnostics } from "./select.ts";
export { ansiStyles, plainStyles, type Styles } from "./styles.ts";
export { printable, displayWidth } from "./display-text.ts";
