/** Parts of a state that the writers of states share. */
import { ImportError, type Source } from "../imported.ts";

export function block(policies: readonly string[]): string {
  return policies.length === 0 ? "" : ` { ${policies.join("  ")} }`;
}

export function lastKey({ at }: Source): string {
  return /([A-Za-z_]\w*)[^A-Za-z_]*$/.exec(at)?.[1] ?? "value";
}

/** The whole input. */
export function asPath(source: Source): Source {
  const whole: Source = Object.create(Object.getPrototypeOf(source) as object, {
    value: { value: "$" },
    at: { value: source.at },
  }) as Source;
  return whole;
}

/** The name of the signal that ends a call with a task token. */
export function callbackOf(state: string): string {
  return `callback ${state}`;
}

/** The function that stands for a resource. */
export function nameOfResource(resource: Source): { readonly name: string; readonly isCallback: boolean } {
  const text = resource.text();
  const isCallback = text.endsWith(".waitForTaskToken");
  const plain = text.replace(/\.(?:waitForTaskToken|sync(?::\d+)?)$/, "");
  const lambda = /^arn:[^:]*:lambda:[^:]*:[^:]*:function:([^:]+)/.exec(plain)?.[1];
  const activity = /^arn:[^:]*:states:[^:]*:[^:]*:activity:([^:]+)/.exec(plain)?.[1];
  const service = /^arn:[^:]*:states:[^:]*:[^:]*:(.+)$/.exec(plain)?.[1];
  const name =
    lambda ?? activity ?? service?.replace(/^aws-sdk:/, "") ?? plain.replace(/^.*[/]/, "").replace(/^arn:.*:/, "");
  return { name: name.replace(/[^A-Za-z0-9_]+/g, "_").replace(/^_+|_+$/g, "") || "task", isCallback };
}

/** Whether the selected result becomes the data, with no other fields around it. */
export function isWhole(state: Source): boolean {
  return ["ResultPath", "OutputPath"].every((field) =>
    [undefined, "$"].includes(state.field(field).value as string | undefined),
  );
}

/** A part of a template is no number before the template is filled in. */
export function wrongSeconds(value: Source): ImportError {
  if (typeof value.value === "string" && value.value.startsWith("${"))
    return new ImportError(
      value.at,
      `${JSON.stringify(value.value)} stands for a number`,
      "fill in the template, or write a number",
    );
  return value.wrong("a number of seconds from 0 to 99999999");
}
