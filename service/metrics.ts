/** Counters and gauges in the text format of Prometheus (version 0.0.4). */
export class Metrics {
  readonly #metrics = new Map<
    string,
    { readonly help: string; readonly kind: "counter" | "gauge"; readonly values: Map<string, number> }
  >();

  /** Declares a metric, so that it is shown before its first value. */
  declare(name: string, kind: "counter" | "gauge", help: string): void {
    this.#metrics.set(name, { help, kind, values: new Map() });
  }

  add(name: string, labels: Readonly<Record<string, string | number>>, by = 1): void {
    const { values } = this.#metrics.get(name)!;
    const key = Object.entries(labels)
      .map(([label, value]) => `${label}="${escaped(String(value))}"`)
      .join(",");
    values.set(key, (values.get(key) ?? 0) + by);
  }

  text(): string {
    const lines: string[] = [];
    for (const [name, { help, kind, values }] of this.#metrics) {
      lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${kind}`);
      for (const [labels, value] of values) lines.push(`${name}${labels === "" ? "" : `{${labels}}`} ${value}`);
    }
    return `${lines.join("\n")}\n`;
  }
}

function escaped(value: string): string {
  return value.replace(/[\\"\n]/g, (character) => (character === "\n" ? "\\n" : `\\${character}`));
}
