/** A service whose every answer is compared with its OpenAPI document. */
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, onTestFinished } from "vitest";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { openApiDocument } from "../../service/openapi.ts";
import { createService, type LogEntry, type Service, type ServiceOptions } from "../../service/index.ts";

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // oxlint-disable-next-line typescript/no-explicit-any -- the tests' expectations are the types
  readonly body: any;
}

interface Description {
  readonly paths: Record<
    string,
    Record<string, { responses: Record<string, { content?: Record<string, { schema: object }> }> }>
  >;
  readonly components: { readonly schemas: object };
}

export interface CheckedService {
  readonly service: Service;
  readonly entries: LogEntry[];
  /** Sends a request, and checks that the document describes its answer. */
  send(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  post(path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Answer>;
}

export function checkedService(
  options: Omit<ServiceOptions, "store"> & Partial<Pick<ServiceOptions, "store">>,
): CheckedService {
  const entries: LogEntry[] = [];
  const service = createService({ store: new MemoryStore(), onLog: (entry) => entries.push(entry), ...options });
  onTestFinished(() => service.drain({ deadline: 1 }));
  let description: { readonly document: Description; readonly ajv: Ajv2020 } | undefined;
  const describe = () => {
    const tables = options.graphs.map(({ table }) => table);
    const document = JSON.parse(JSON.stringify(openApiDocument(tables, options.tokens !== undefined))) as Description;
    const ajv = new Ajv2020({ strict: false });
    ajv.addSchema({ $id: "https://service.test/openapi.json", ...document });
    return { document, ajv };
  };
  const send: CheckedService["send"] = async (method, path, body, headers = {}) => {
    const response = await service.fetch(
      new Request(`http://localhost${path}`, {
        method,
        headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
        ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
      }),
    );
    const { status } = response;
    const type = response.headers.get("content-type")?.split(";")[0] ?? "";
    const text = await response.text();
    const json: unknown = type.endsWith("json") ? JSON.parse(text) : text;
    description ??= describe();
    const { document, ajv } = description;
    const [route] = path.split("?");
    const known = Object.keys(document.paths).find((each) => pattern(each).test(route!));
    const operation = known === undefined ? undefined : document.paths[known]?.[method.toLowerCase()];
    const pointer = (...parts: readonly string[]): string =>
      `https://service.test/openapi.json#/${parts.map((part) => encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1"))).join("/")}`;
    if (status >= 400) {
      expect(type, `${method} ${path}`).toBe("application/problem+json");
      expect(ajv.validate({ $ref: pointer("components", "schemas", "Problem") }, json), ajv.errorsText()).toBe(true);
      expect(text).not.toMatch(/\n\s+at /);
    } else {
      expect(operation?.responses[status], `${method} ${path} ${status} is described`).toBeDefined();
      const described = operation!.responses[status]!.content;
      if (described === undefined) expect(text).toBe("");
      else {
        expect(Object.keys(described)).toContain(type);
        if (type === "application/json") {
          const ref = pointer(
            "paths",
            known!,
            method.toLowerCase(),
            "responses",
            String(status),
            "content",
            type,
            "schema",
          );
          expect(ajv.validate({ $ref: ref }, json), `${method} ${path}: ${ajv.errorsText()}`).toBe(true);
        }
      }
    }
    return { status, headers: response.headers, body: json };
  };
  return {
    service,
    entries,
    send,
    get: (path, headers) => send("GET", path, undefined, headers),
    post: (path, body, headers) => send("POST", path, body, headers),
  };
}

function pattern(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`);
}
