/** A graph as text, from a seed: branches, choices, loops, barriers, gates, failures and jumps, sound or not. */
export function randomGraphText(seed: number): string {
  const random = source(seed);
  const below = (count: number): number => Math.floor(random() * count);
  const count = 3 + below(5);
  const names = Array.from({ length: count }, (_, index) => `n${index}`);
  const pick = (): string => names[below(count)] ?? "n0";
  const later = (from: number): string =>
    random() < 0.25 || from + 1 >= count ? pick() : (names[from + 1 + below(count - from - 1)] ?? "end");
  const some = (from: number, most: number): string[] => [
    ...new Set(Array.from({ length: 1 + below(most) }, () => later(from))),
  ];
  const lines: string[] = [];
  const jumps = new Map<string, readonly string[]>();
  names.forEach((name, index) => {
    if (random() < 0.1) jumps.set(name, some(index, 2));
    switch (below(9)) {
      case 0:
      case 1:
        return void lines.push(`${name} -> ${later(index)}`);
      case 2:
        return void lines.push(`${name} -> ${some(index, 3).join(", ")}`);
      case 3: {
        const [first = "end", second = "end"] = [later(index), random() < 0.3 ? "end" : later(index)];
        return void lines.push(`${name} -> ${first} when b${index % 3}`, `${name} -> ${second} otherwise`);
      }
      case 4:
        return void lines.push(
          `${name} -> ${later(index)} when b0 && len([1, 2]) == 2`,
          `${name} -> ${later(index)} when b1`,
          `${name} -> ${later(index)} otherwise`,
        );
      case 5:
        return void lines.push(
          `${name} -> match k { "x, y" -> ${some(index, 2).join(", ")}  "b" | "c" -> end  else -> ${later(index)} }`,
        );
      case 6:
        return void lines.push(
          `${name} -> match { b0 -> ${later(index)}  b1 && b2 -> ${later(index)}  else -> end }`,
          `${name} -> ${later(index)}`,
        );
      case 7:
        return void lines.push(`${name} -> ${later(index)}`, `${name} -> ${later(index)} on error`);
      default:
        return void lines.push(`${name} -> end`);
    }
  });
  for (let barriers = below(3); barriers > 0; barriers--) {
    const members = [...new Set([pick(), pick(), pick()])].slice(0, 2 + below(2));
    if (members.length > 1) lines.push(`all(${members.join(", ")}) -> ${random() < 0.2 ? "end" : pick()}`);
  }
  const gate = random() < 0.2 ? pick() : undefined;
  const gated = gate === undefined ? [] : [...new Set([pick(), pick()])];
  const outputs = ["b0", "b1", "b2", "k"];
  const nodes = names.map((name, index) => {
    const policies = [
      ...(jumps.has(name) ? [`goes ${jumps.get(name)?.join(", ")}`] : []),
      ...(gate === name && gated.length > 1 ? [`waits ${gated.join(", ")}`] : []),
    ];
    const output = random() < 0.7 ? ` into ${outputs[index % 4]}` : "";
    return `  node ${name} = act()${output}${policies.length === 0 ? "" : ` { ${policies.join("  ")} }`}`;
  });
  const asserts =
    random() < 0.3
      ? [`  assert once ${pick()}`, `  assert ${pick()} before end`, `  assert never ${names[0]} with ${names[1]}`]
      : [];
  return `import { act } from "functions"
graph g {
  state b0: bool = false
  state b1: bool = false
  state b2: bool = false
  state k: "x, y" | "b" | "c" | "d" = "b"
${[...nodes, ...asserts, `  start -> ${some(0, 2).join(", ")}`, ...lines.map((line) => `  ${line}`)].join("\n")}
}
`;
}

/** Numbers from 0 to 1 (mulberry32). */
function source(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
