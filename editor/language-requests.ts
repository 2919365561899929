/** The requests of the language server about names: each is a function of this folder, connected with the protocol. */
import type {
  CallHierarchyItem,
  Location as ProtocolLocation,
  MessageConnection,
  Position,
  PrepareRenameResult,
  ServerCapabilities,
  WorkspaceEdit,
} from "vscode-languageserver-protocol";
import type { Links } from "./find-diagnostics.ts";
import { calledBy, callersOf, findSymbols, hierarchyItem, unitOf, type Call } from "./calls.ts";
import { findCompletions } from "./complete.ts";
import type { CheckedDocument } from "./document.ts";
import { findHints, findLenses, findLinks, findTokens, TOKEN_MODIFIERS, TOKEN_TYPES } from "./decorate.ts";
import { findHover } from "./hover.ts";
import { findDefinition, findHighlights, findReferences, namesAt, prepareRename, rename } from "./navigate.ts";
import { whyRefused } from "./keeps-meaning.ts";
import type { FileNames, Location, NameIndex } from "./name-index.ts";
import { toOffset, toRange } from "./positions.ts";
import { answerPreviewRequests, type PreviewEnvironment } from "./previews.ts";
import { findSignature } from "./signature-help.ts";
import { ModuleEntities } from "./module-entity.ts";
import { placesOfExport, renameExport, usesOf, type Edits, type ModuleFiles } from "./rename-export.ts";
import { SourceFile } from "../diagnostics/source.ts";
import type { Workspace } from "./workspace.ts";

/** The services that these requests use. */
export interface LanguageEnvironment extends PreviewEnvironment {
  pathOf(uri: string): string;
  readonly links: Links;
  /** The graph files below some directories, at most a few thousand. */
  findGraphFiles(directories: readonly string[]): readonly string[];
  /** The TypeScript and JavaScript modules below some directories, at most a few thousand. */
  findModules(directories: readonly string[]): readonly string[];
}

type Protocol = typeof import("vscode-languageserver-protocol");

export const LANGUAGE_CAPABILITIES: ServerCapabilities = {
  definitionProvider: true,
  referencesProvider: true,
  documentHighlightProvider: true,
  hoverProvider: true,
  renameProvider: { prepareProvider: true },
  completionProvider: { triggerCharacters: ["{", '"', ":", ">", " ", ",", "(", "/"] },
  signatureHelpProvider: { triggerCharacters: ["(", ","] },
  semanticTokensProvider: {
    legend: { tokenTypes: [...TOKEN_TYPES], tokenModifiers: [...TOKEN_MODIFIERS] },
    full: true,
    range: true,
  },
  inlayHintProvider: true,
  codeLensProvider: {},
  documentLinkProvider: {},
  callHierarchyProvider: true,
  linkedEditingRangeProvider: true,
  workspaceSymbolProvider: true,
};

/** The parts of parameters, which a client may leave out by mistake, with what answers read of them. */
const PARTS = {
  textDocument: { uri: "string" },
  position: { line: "number", character: "number" },
  range: { start: "object", end: "object" },
  context: {},
  item: { uri: "string" },
} as const;
type Part = keyof typeof PARTS | "query";
type Refusal = import("vscode-languageserver-protocol").ResponseError<void>;

/** Refuses requests outside of the session, and requests without the parts that their answers need. */
export function refuserOf({ ErrorCodes, ResponseError }: Protocol, refusal: () => Refusal | undefined) {
  return (params: unknown, needs: readonly Part[]): Refusal | undefined =>
    refusal() ??
    (isWhole(params, needs) ? undefined : new ResponseError(ErrorCodes.InvalidParams, "the parameters are incomplete"));
}

/** Whether parameters have all parts that an answer needs. */
function isWhole(params: unknown, needs: readonly Part[]): boolean {
  if (typeof params !== "object" || params === null) return false;
  const given = params as Readonly<Record<string, unknown>>;
  return needs.every((name) => {
    const part = given[name];
    if (name === "query") return typeof part === "string";
    if (typeof part !== "object" || part === null) return false;
    return Object.entries(PARTS[name]).every(([field, type]) => {
      const value = (part as Readonly<Record<string, unknown>>)[field];
      return typeof value === type && value !== null;
    });
  });
}

/**
 * Answers the requests about names.
 *
 * @param refusal the error of a request that comes too early or too late
 * @param roots the directories of the workspace
 */
export function answerLanguageRequests(
  protocol: Protocol,
  connection: MessageConnection,
  workspace: Workspace,
  environment: LanguageEnvironment,
  refusal: () => Refusal | undefined,
  roots: () => readonly string[],
): void {
  const { LSPErrorCodes, ResponseError } = protocol;
  const { uriOf } = environment.links;
  const locationOf = ({ source, span }: Location): ProtocolLocation => ({
    uri: uriOf(source.path),
    range: toRange(source, span),
  });

  const refusalOf = refuserOf(protocol, refusal);
  const guard =
    <Params, Answer>(needs: readonly Part[], answer: (params: Params) => Answer) =>
    (params: Params): Answer => {
      const refused = refusalOf(params, needs);
      return refused === undefined ? answer(params) : (refused as Answer);
    };

  interface Asked {
    readonly file: FileNames;
    readonly index: NameIndex;
    readonly uri: string;
  }
  /** Answers a request about a document. A document that is not open, or no graph, has nothing. */
  const about = <Answer>(uri: string, nothing: Answer, answer: (asked: Asked) => Answer): never | Answer => {
    const index = workspace.index();
    const file = workspace.names(uri, index);
    return file === undefined ? nothing : answer({ file, index, uri });
  };
  const allFiles = (index: NameIndex): readonly FileNames[] =>
    workspace.allNames(index, environment.findGraphFiles(roots()));
  const modules = (): ModuleFiles => ({
    entities: new ModuleEntities(workspace.host()),
    paths: environment.findModules(roots()),
  });
  /** An export at a position of a module that a graph file imports, with what can change it. */
  const exportAt = (uri: string, position: Position) => {
    const path = environment.pathOf(uri);
    const text = /\.[cm]?[jt]sx?$/.test(path) ? workspace.host().readFile(path) : undefined;
    if (text === undefined) return undefined;
    const source = new SourceFile(path, text);
    const entities = new ModuleEntities(workspace.host());
    const found = entities.at(path, toOffset(source, position));
    if (found === undefined) return undefined;
    const files = allFiles(workspace.index());
    const all: ModuleFiles = { entities, paths: environment.findModules(roots()) };
    // Names that no graph uses belong to the language server of TypeScript.
    return files.some((file) => usesOf(file, found.entity, all).length > 0)
      ? { ...found, source, files, modules: all }
      : undefined;
  };
  const editOfWorkspace = (found: Edits | string, newName: string): WorkspaceEdit => {
    const refused = typeof found === "string" ? found : whyRefused(found, newName, workspace.host());
    if (typeof found === "string" || refused !== undefined)
      return new ResponseError(LSPErrorCodes.RequestFailed, refused ?? "") as never;
    const changes: NonNullable<WorkspaceEdit["changes"]> = {};
    for (const [each, edits] of found) {
      changes[uriOf(each.path)] = edits.map(({ span, text }) => ({ range: toRange(each.source, span), newText: text }));
    }
    return { changes };
  };
  const checkedOf = (uri: string): CheckedDocument | undefined => workspace.check(uri);

  connection.onRequest(
    protocol.DefinitionRequest.type,
    guard(["textDocument", "position"], ({ textDocument: { uri }, position }) =>
      about(uri, [] as ProtocolLocation[], ({ file, index }) =>
        findDefinition(file, toOffset(file.source, position), index).map(locationOf),
      ),
    ),
  );
  connection.onRequest(
    protocol.ReferencesRequest.type,
    guard(["textDocument", "position", "context"], ({ textDocument: { uri }, position, context }) => {
      const found = exportAt(uri, position);
      // The uses in modules are those that the language server of TypeScript finds.
      if (found !== undefined)
        return placesOfExport(found.entity, found.files, found.modules, "graphs").map(locationOf);
      return about(uri, [] as ProtocolLocation[], ({ file, index }) => {
        const options = { withDeclaration: context.includeDeclaration, modules: modules() };
        return findReferences(file, toOffset(file.source, position), allFiles(index), index, options).map(locationOf);
      });
    }),
  );
  connection.onRequest(
    protocol.DocumentHighlightRequest.type,
    guard(["textDocument", "position"], ({ textDocument: { uri }, position }) =>
      about(uri, [] as { range: ReturnType<typeof toRange>; kind: 1 | 2 | 3 }[], ({ file }) =>
        findHighlights(file, toOffset(file.source, position)).map(({ span, role }) => ({
          range: toRange(file.source, span),
          kind: role === "write" || role === "declaration" ? (3 as const) : (2 as const),
        })),
      ),
    ),
  );
  connection.onRequest(
    protocol.HoverRequest.type,
    guard(["textDocument", "position"], ({ textDocument: { uri }, position }) => {
      const checked = checkedOf(uri);
      return about(uri, null as import("vscode-languageserver-protocol").Hover | null, ({ file, index }) => {
        const found =
          checked === undefined ? undefined : findHover(checked, file, toOffset(file.source, position), index);
        if (found === undefined) return null;
        return { contents: { kind: "markdown", value: found.text }, range: toRange(file.source, found.span) };
      });
    }),
  );
  connection.onRequest(
    protocol.PrepareRenameRequest.type,
    guard(["textDocument", "position"], ({ textDocument: { uri }, position }) => {
      const exported = exportAt(uri, position);
      if (exported !== undefined)
        return { range: toRange(exported.source, exported.span), placeholder: exported.entity.name };
      return about(uri, null as unknown as PrepareRenameResult, ({ file }) => {
        const found = prepareRename(file, toOffset(file.source, position));
        if (typeof found === "string") return new ResponseError(LSPErrorCodes.RequestFailed, found) as never;
        return { range: toRange(file.source, found.span), placeholder: found.name };
      });
    }),
  );
  connection.onRequest(
    protocol.RenameRequest.type,
    guard(["textDocument", "position"], ({ textDocument: { uri }, position, newName }) => {
      const exported = exportAt(uri, position);
      if (exported !== undefined)
        return editOfWorkspace(renameExport(exported.entity, newName, exported.files, exported.modules), newName);
      return about(uri, null as WorkspaceEdit | null, ({ file, index }) =>
        editOfWorkspace(rename(file, toOffset(file.source, position), newName, allFiles(index), modules()), newName),
      );
    }),
  );
  connection.onRequest(
    protocol.CompletionRequest.type,
    guard(["textDocument", "position"], ({ textDocument: { uri }, position }) => {
      const checked = workspace.recent(uri);
      return about(uri, [] as import("vscode-languageserver-protocol").CompletionItem[], ({ file, index }) =>
        checked === undefined
          ? []
          : findCompletions(checked, file, toOffset(file.source, position), { index, host: workspace.host() }),
      );
    }),
  );
  connection.onRequest(
    protocol.SignatureHelpRequest.type,
    guard(["textDocument", "position"], ({ textDocument: { uri }, position }) => {
      const checked = workspace.recent(uri);
      return about(uri, null as import("vscode-languageserver-protocol").SignatureHelp | null, ({ file, index }) =>
        checked === undefined ? null : findSignature(checked, file, toOffset(file.source, position), index),
      );
    }),
  );
  connection.onRequest(
    protocol.SemanticTokensRequest.type,
    guard(["textDocument"], ({ textDocument: { uri } }) =>
      about(uri, { data: [] as number[] }, ({ file }) => ({ data: findTokens(file) })),
    ),
  );
  connection.onRequest(
    protocol.SemanticTokensRangeRequest.type,
    guard(["textDocument", "range"], ({ textDocument: { uri }, range }) =>
      about(uri, { data: [] as number[] }, ({ file }) => ({ data: findTokens(file, range) })),
    ),
  );
  connection.onRequest(
    protocol.InlayHintRequest.type,
    guard(["textDocument", "range"], ({ textDocument: { uri }, range }) => {
      const checked = checkedOf(uri);
      return about(uri, [] as import("vscode-languageserver-protocol").InlayHint[], () =>
        checked === undefined ? [] : findHints(checked, range),
      );
    }),
  );
  connection.onRequest(
    protocol.CodeLensRequest.type,
    guard(["textDocument"], ({ textDocument: { uri } }) =>
      about(uri, [] as import("vscode-languageserver-protocol").CodeLens[], ({ file, index }) => {
        const files = allFiles(index);
        return findLenses(file, uri, (use) =>
          files.reduce(
            (sum, each) =>
              sum + each.uses.filter(({ target, role }) => target === use.target && role === "call").length,
            0,
          ),
        );
      }),
    ),
  );
  connection.onRequest(
    protocol.DocumentLinkRequest.type,
    guard(["textDocument"], ({ textDocument: { uri } }) =>
      about(uri, [] as import("vscode-languageserver-protocol").DocumentLink[], ({ file, index }) =>
        findLinks(file, index, uriOf),
      ),
    ),
  );
  connection.onRequest(
    protocol.LinkedEditingRangeRequest.type,
    guard(["textDocument", "position"], ({ textDocument: { uri }, position }) =>
      about(uri, null as import("vscode-languageserver-protocol").LinkedEditingRanges | null, ({ file }) => {
        const found = findHighlights(file, toOffset(file.source, position));
        // Other names are used in other files, too: a rename changes them.
        if (found[0]?.kind !== "variable" || found.some(({ short }) => short !== undefined)) return null;
        return { ranges: found.map(({ span }) => toRange(file.source, span)), wordPattern: "[A-Za-z_]\\w*" };
      }),
    ),
  );
  connection.onRequest(
    protocol.WorkspaceSymbolRequest.type,
    guard(["query"], ({ query }) => {
      return findSymbols(query, allFiles(workspace.index()), uriOf);
    }),
  );

  connection.onRequest(
    protocol.CallHierarchyPrepareRequest.type,
    guard(["textDocument", "position"], ({ textDocument: { uri }, position }) =>
      about(uri, null as CallHierarchyItem[] | null, ({ file, index }) => {
        const use = namesAt(file, toOffset(file.source, position)).find(
          ({ kind }) => kind === "graph" || kind === "plan",
        );
        const found = use === undefined ? undefined : unitOf(use.target, allFiles(index));
        return found === undefined
          ? null
          : [hierarchyItem(found.file, found.unit, uriOf(found.file.path), use!.target)];
      }),
    ),
  );
  const rangesOf = ({ spans, caller }: Call): ReturnType<typeof toRange>[] =>
    spans.map((span) => toRange(caller.source, span));
  const itemOf = (call: Call): CallHierarchyItem =>
    hierarchyItem(call.file, call.unit, uriOf(call.file.path), call.target);
  connection.onRequest(
    protocol.CallHierarchyIncomingCallsRequest.type,
    guard(["item"], ({ item }) => {
      const files = allFiles(workspace.index());
      return callersOf(String(item.data), files).map((call) => ({ from: itemOf(call), fromRanges: rangesOf(call) }));
    }),
  );
  connection.onRequest(
    protocol.CallHierarchyOutgoingCallsRequest.type,
    guard(["item"], ({ item }) => {
      const files = allFiles(workspace.index());
      return calledBy(String(item.data), files).map((call) => ({ to: itemOf(call), fromRanges: rangesOf(call) }));
    }),
  );

  answerPreviewRequests(protocol, connection, checkedOf, environment, refusal, roots);
}
