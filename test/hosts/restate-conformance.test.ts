/** The promises of execution on a real Restate server. */
import { afterAll, beforeAll, describe, it } from "vitest";
import { createEngine } from "../../api/create-engine.ts";
import { restate, serveRestate, type RestateWorker } from "../../api/hosts/restate.ts";
import { describeHost } from "../../hosts/conformance/conformance.ts";
import { isDeep } from "../support/depth.ts";
import { freePort } from "../support/free-port.ts";
import { findRestate, RestateServer } from "./restate-server.ts";

const found = findRestate();

if ("missing" in found) it(`is not tested: ${found.missing}`, () => undefined);
else if (isDeep) describe("Restate", testRestate);
else it("is tested at broad depth", () => undefined);

function testRestate(): void {
  let server: RestateServer;
  let graphs = 0;
  beforeAll(async () => {
    server = await RestateServer.start();
  }, 300_000);
  afterAll(() => server?.stop());

  describeHost({ describe, it }, "over the ingress", async (given, functions) => {
    // Threads of one case are not those of another.
    const table = { ...given, name: `${given.name}_${++graphs}` };
    const options = { tables: [table], functions, restate: server.url };
    let worker: RestateWorker = await serveRestate(options);
    const port = await worker.listen(await freePort());
    await server.register(`http://127.0.0.1:${port}`);
    return {
      engine: createEngine(table, { host: restate(server.url) }),
      crash: async () => {
        await worker.close({ deadline: 0 });
        worker = await serveRestate(options);
        await worker.listen(port);
      },
      dispose: () => worker.close({ deadline: 0 }),
    };
  });
}
