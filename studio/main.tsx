/** The studio: a page on which people watch, answer and repair runs. */
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { ClientGraph } from "../service/client.ts";
import { client, needsToken, rememberToken, sentenceOf } from "./connection.ts";
import { StartRun } from "./start-run.tsx";
import { ThreadList } from "./thread-list.tsx";
import { ThreadPage } from "./thread-page.tsx";
import type { Base } from "./timeline.tsx";

function Studio() {
  const [thread, setThread] = useState(threadOfAddress);
  const [graphs, setGraphs] = useState<readonly ClientGraph[]>();
  const [error, setError] = useState<unknown>();
  const [base, setBase] = useState<Base>();
  const [tries, setTries] = useState(0);
  useEffect(() => {
    const follow = (): void => setThread(threadOfAddress());
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  useEffect(() => {
    client.graphs().then(
      (found) => {
        setGraphs(found);
        setError(undefined);
      },
      (reason: unknown) => {
        setError(reason);
        if (!needsToken(reason)) setTimeout(() => setTries((count) => count + 1), RETRY_MS);
      },
    );
  }, [tries]);
  return (
    <>
      <header>
        <h1>
          <a href="#">ngraph studio</a>
        </h1>
      </header>
      <main>
        {needsToken(error) ? (
          <TokenForm onToken={() => setTries((count) => count + 1)} />
        ) : graphs === undefined ? (
          <p role="status">{error === undefined ? "Loading…" : sentenceOf(error)}</p>
        ) : thread === undefined ? (
          <>
            <StartRun graphs={graphs} />
            <ThreadList graphs={graphs} />
          </>
        ) : (
          <ThreadPage key={thread} name={thread} graphs={graphs} base={base} onBase={setBase} />
        )}
      </main>
    </>
  );
}

const RETRY_MS = 2_000;

function TokenForm({ onToken }: { readonly onToken: () => void }) {
  const [token, setToken] = useState("");
  return (
    <form
      class="card"
      onSubmit={(event) => {
        event.preventDefault();
        rememberToken(token.trim());
        onToken();
      }}
    >
      <h2>Sign in</h2>
      <div class="field">
        <label for="token">Token of the service</label>
        <input
          id="token"
          type="password"
          autocomplete="off"
          required
          value={token}
          onInput={(event) => setToken(event.currentTarget.value)}
        />
      </div>
      <button class="primary">Sign in</button>
    </form>
  );
}

/** The thread that the address names: `#/threads/NAME`. */
function threadOfAddress(): string | undefined {
  const [, name] = /^#\/threads\/(.+)$/.exec(location.hash) ?? [];
  try {
    return name === undefined ? undefined : decodeURIComponent(name);
  } catch {
    return undefined;
  }
}

render(<Studio />, document.getElementById("studio")!);
