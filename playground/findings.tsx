import type { Analysis, Finding } from "./messages.ts";

/** The findings of the text, with their places and fixes. */
export function Findings({
  analysis,
  onShow,
  onFix,
  onPlay,
}: {
  readonly analysis: Analysis;
  readonly onShow: (finding: Finding) => void;
  readonly onFix: (fix: Finding["fixes"][number]) => void;
  readonly onPlay: (finding: Finding) => void;
}) {
  const { findings, graphs, lost } = analysis;
  return (
    <>
      <ul class="verdicts">
        {graphs
          .filter(({ verdict }) => verdict !== undefined)
          .map(({ name, verdict, proofs }) => (
            <li key={name} class={verdict === "sound" ? "good" : "wait"}>
              <b>{name}</b>: {verdict}
              {proofs.length === 0 ? null : (
                <details>
                  <summary>{proofs.length === 1 ? "One proof" : `${proofs.length} proofs`}</summary>
                  <ul>
                    {proofs.map((proof, index) => (
                      <li key={index}>{proof}</li>
                    ))}
                  </ul>
                </details>
              )}
            </li>
          ))}
      </ul>
      {findings.length === 0 ? <p class="quiet">The compiler has no findings.</p> : null}
      <ol class="findings">
        {findings.map((finding, index) => (
          <li key={index} class={`finding is-${finding.severity}`}>
            <button class="plain" onClick={() => onShow(finding)}>
              <span class="code">
                {finding.severity} {finding.code}
              </span>{" "}
              {finding.message}{" "}
              <span class="quiet">
                {finding.file}, line {finding.range.start.line}
              </span>
            </button>
            {finding.label === "" ? null : <p class="quiet">{finding.label}</p>}
            {finding.help === null ? null : <p>Help: {finding.help}</p>}
            {finding.notes.map((note, at) => (
              <p class="quiet" key={at}>
                {note}
              </p>
            ))}
            <div class="actions">
              {finding.graph === undefined ? null : (
                <button onClick={() => onPlay(finding)}>Play the run that shows it</button>
              )}
              {finding.fixes.map((fix, at) => (
                <button key={at} onClick={() => onFix(fix)}>
                  Fix: {fix.title}
                </button>
              ))}
            </div>
          </li>
        ))}
      </ol>
      {lost.map((sentence, index) => (
        <p class="quiet" key={index}>
          The other spelling cannot say: {sentence}
        </p>
      ))}
    </>
  );
}
