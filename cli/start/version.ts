declare const __NGRAPH_VERSION__: string | undefined;

/** The package's version; the build defines it. */
export const VERSION: string = typeof __NGRAPH_VERSION__ === "string" ? __NGRAPH_VERSION__ : "0.0.0-source";
