/** Diagnostics of the YAML spelling. */
import { diagnostic, type Diagnostic, type Fix, type Place } from "../diagnostic.ts";
import { listNames } from "../similar.ts";

/** NG010: the text is not YAML, or uses a part of YAML that is not supported. */
export function yamlSyntax(
  place: Place,
  details: { readonly message: string; readonly label?: string; readonly help?: string | undefined },
): Diagnostic {
  return diagnostic("NG010", place, details.message, { label: details.label ?? "", help: details.help });
}

/** NG011: an unknown key. `of` names the map: "a node". */
export function unknownKey(
  place: Place,
  details: {
    readonly key: string;
    readonly of: string;
    readonly known: readonly string[];
    readonly similar?: string | undefined;
    readonly help?: string | undefined;
  },
): Diagnostic {
  const { key, of, known, similar } = details;
  const fixes: Fix[] =
    similar === undefined ? [] : [{ title: `rename to \`${similar}\``, edits: [{ span: place.span, text: similar }] }];
  return diagnostic("NG011", place, `${of} has no key \`${key}\``, {
    label: "unknown key",
    notes: [`the keys of ${of} are ${listNames(known, 40)}`],
    help: similar === undefined ? details.help : `a key with a similar name exists: \`${similar}\``,
    fixes,
  });
}

/** NG011: a document of another system that is written in YAML. `what` names it: "a state machine of …". */
export function foreignYaml(place: Place, { what }: { readonly what: string }): Diagnostic {
  return diagnostic("NG011", place, `this document is ${what}, not a graph`, {
    label: "a key of another system",
    help: "`ngc import FILE` writes it as a graph",
  });
}

/** NG011: the merge key `<<` of YAML 1.1. */
export function mergeKey(place: Place): Diagnostic {
  return diagnostic("NG011", place, "merge keys (`<<`) are not part of YAML 1.2", {
    label: "not read",
    help: 'write the keys out, or use an alias for the whole value; as a field of data it is quoted: `"<<"`',
  });
}

/** NG012: the same key twice in one map. */
export function duplicateKey(place: Place, key: string, first: Place): Diagnostic {
  return diagnostic("NG012", place, `the key \`${key}\` appears twice in this map`, {
    label: "repeated here",
    labels: [{ ...first, message: "first here" }],
    help: "delete one of them, or rename it",
  });
}

/** NG013: aliases expand into too many values, or into themselves. */
export function aliasBound(
  place: Place,
  details:
    | { readonly problem: "size"; readonly limit: number }
    | { readonly problem: "depth"; readonly limit: number }
    | { readonly problem: "cycle"; readonly name: string },
): Diagnostic {
  switch (details.problem) {
    case "size":
      return diagnostic("NG013", place, `the aliases of this file expand into more than ${details.limit} values`, {
        label: "the limit is passed here",
        help: "write out what is needed, or move it into a file of its own",
      });
    case "depth":
      return diagnostic("NG013", place, `this alias nests values more than ${details.limit} levels deep`, {
        label: "the limit is passed here",
      });
    case "cycle":
      return diagnostic("NG013", place, `the alias \`*${details.name}\` refers to a value that contains it`, {
        label: "expands without end",
        help: "refer to something that is complete before this line",
      });
  }
}

/** NG014: the value has another kind than the key takes. */
export function wrongYamlType(
  place: Place,
  details: {
    /** Completes "expected …": "a list of names". */
    readonly expected: string;
    /** Completes "found …": "the number 3". */
    readonly found: string;
    /** The key whose value it is. */
    readonly key?: string | undefined;
    readonly help?: string | undefined;
    readonly fixes?: readonly Fix[];
  },
): Diagnostic {
  const { expected, found, key } = details;
  return diagnostic("NG014", place, `expected ${expected}, found ${found}`, {
    label: key === undefined ? `expected ${expected}` : `\`${key}\` takes ${expected}`,
    help: details.help,
    fixes: details.fixes ?? [],
  });
}

/** NG014 with a custom message: missing keys, keys that exclude each other, tags. */
export function wrongYamlShape(
  place: Place,
  details: { readonly message: string; readonly label?: string; readonly help?: string | undefined },
): Diagnostic {
  return diagnostic("NG014", place, details.message, { label: details.label ?? "", help: details.help });
}

/** NG014: `from` with several nodes, which readers take for a barrier. */
export function ambiguousFrom(place: Place): Diagnostic {
  return {
    ...wrongYamlShape(place, {
      message: "`from` takes one node: a list does not say whether one signal is enough",
      help: "`any: […]`: each of these nodes signals the target; `all: […]`: the target waits for all of them",
    }),
    fixes: [
      { title: "signal the target from each", edits: [{ span: place.span, text: "any" }] },
      { title: "wait for all", edits: [{ span: place.span, text: "all" }] },
    ],
  };
}
