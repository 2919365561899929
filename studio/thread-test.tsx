import { useEffect, useState } from "preact/hooks";
import { client, sentenceOf } from "./connection.ts";

/** The last run of a thread as a `test` block, to copy or to download. */
export function ThreadTest({ thread, checkpoint }: { readonly thread: string; readonly checkpoint: string }) {
  const [test, setTest] = useState<string>();
  const [problem, setProblem] = useState<string>();
  const [isMade, setMade] = useState(false);
  // The thread has gone on: its test is another one.
  useEffect(() => {
    setTest(undefined);
    setProblem(undefined);
  }, [checkpoint]);
  const make = async (): Promise<void> => {
    setMade(true);
    setProblem(undefined);
    try {
      setTest(await client.thread(thread).test());
    } catch (error) {
      setProblem(sentenceOf(error));
    } finally {
      setMade(false);
    }
  };
  return (
    <details class="card">
      <summary>Make a test of this thread</summary>
      <p>The last run becomes a test of its graph, with its answers and the results of its nodes.</p>
      <div class="actions">
        <button disabled={isMade} onClick={() => void make()}>
          Make the test
        </button>
        {test === undefined ? null : (
          <a href={`data:text/plain;charset=utf-8,${encodeURIComponent(test)}`} download="recorded-test.ngraph">
            Download the test
          </a>
        )}
      </div>
      {problem === undefined ? null : (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      {test === undefined ? null : <pre tabIndex={0}>{test}</pre>}
      <p class="quiet">The same from a terminal:</p>
      <pre tabIndex={0}>{recordCommand(thread)}</pre>
    </details>
  );
}

/** The command with the name as one word of a shell. */
function recordCommand(thread: string): string {
  return `ngc test --record=${/^[\w.-]+$/.test(thread) ? thread : `'${thread.replaceAll("'", `'\\''`)}'`}`;
}
