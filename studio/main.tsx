/** The studio: a page on which people watch, answer and repair runs. */
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { ClientGraph } from "../service/client.ts";
import { placeOf, PLANS } from "./addresses.ts";
import { client, hasToken, needsToken, rememberToken, sentenceOf } from "./connection.ts";
import { PlanList } from "./plan-list.tsx";
import { PlanPage } from "./plan-page.tsx";
import { StartRun } from "./start-run.tsx";
import { ThreadList } from "./thread-list.tsx";
import { ThreadPage } from "./thread-page.tsx";
import type { Base } from "./timeline.tsx";
import { showHiddenCharacters } from "./visible-text.ts";

function Studio() {
  const [place, setPlace] = useState(() => placeOf(location.hash));
  const [hasPlans, setHasPlans] = useState(false);
  const [graphs, setGraphs] = useState<readonly ClientGraph[]>();
  const [error, setError] = useState<unknown>();
  const [base, setBase] = useState<Base>();
  const [tries, setTries] = useState(0);
  useEffect(() => {
    const follow = (): void => setPlace(placeOf(location.hash));
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  useEffect(() => {
    client.graphs().then(
      (found) => {
        setGraphs(found);
        setError(undefined);
        client.planRuns({ limit: 1 }).then(
          (runs) => setHasPlans(runs.length > 0),
          () => undefined,
        );
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
        {hasPlans ? (
          <nav aria-label="Pages">
            <a href="#" aria-current={place.kind === "threads" ? "page" : undefined}>
              Threads
            </a>
            <a href={PLANS} aria-current={place.kind === "plans" ? "page" : undefined}>
              Plans
            </a>
          </nav>
        ) : null}
      </header>
      <main>
        {needsToken(error) ? (
          <TokenForm isRefused={hasToken()} onToken={() => setTries((count) => count + 1)} />
        ) : graphs === undefined ? (
          <p role="status">{error === undefined ? "Loading…" : sentenceOf(error)}</p>
        ) : place.kind === "thread" ? (
          <ThreadPage key={place.name} name={place.name} graphs={graphs} base={base} onBase={setBase} />
        ) : place.kind === "plans" ? (
          <PlanList />
        ) : place.kind === "plan-run" ? (
          <PlanPage key={place.name} id={place.name} />
        ) : (
          <>
            {graphs.length === 0 ? null : <StartRun graphs={graphs} />}
            <ThreadList graphs={graphs} />
          </>
        )}
      </main>
    </>
  );
}

const RETRY_MS = 2_000;

function TokenForm({ isRefused, onToken }: { readonly isRefused: boolean; readonly onToken: () => void }) {
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
      {isRefused ? (
        <p class="problem" role="alert">
          The service does not know the token.
        </p>
      ) : null}
      <button class="primary">Sign in</button>
    </form>
  );
}

showHiddenCharacters();
render(<Studio />, document.getElementById("studio")!);
