/** The page: editors on the left, what the compiler says of the text on the right. */
import type { EditorView } from "@codemirror/view";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Mark } from "../studio/marks.ts";
import { Language } from "./connection.ts";
import { draftOf, keepDraft } from "./draft.ts";
import { createEditor, offsetOf, setText, showPlace } from "./editor.ts";
import { Findings } from "./findings.tsx";
import type { Analysis, Finding } from "./messages.ts";
import { Picture } from "./picture.tsx";
import { Player } from "./player.tsx";
import { MAIN_NAMES, otherName, type MainName, type Project } from "./project.ts";
import { RunPanel } from "./run-panel.tsx";
import { fromFragment, toFragment } from "./share.ts";
import { TOUR } from "./tour.ts";

const QUIET_MS = 150;
const NO_MARKS: ReadonlyMap<string, Mark> = new Map();
type Panel = "findings" | "run" | "tour";

interface Example {
  readonly name: string;
  readonly project: Project;
}

export function App() {
  const language = useRef<Language>(undefined);
  language.current ??= new Language();
  const project = useRef<Project>(tourProject(0));
  const isEdited = useRef(false);
  const editors = useRef(new Map<string, EditorView>());
  /** Counts the projects that were opened: each has editors of its own. */
  const [opened, setOpened] = useState(0);
  const [analysis, setAnalysis] = useState<Analysis>();
  const [tab, setTab] = useState<string>("graph.ngraph");
  const [panel, setPanel] = useState<Panel>("tour");
  const [graphName, setGraphName] = useState<string>();
  const [marks, setMarks] = useState(NO_MARKS);
  const [played, setPlayed] = useState<Finding>();
  const [step, setStep] = useState(0);
  const [notice, setNotice] = useState<{ readonly text: string; readonly isProblem: boolean }>();
  const [examples, setExamples] = useState<readonly Example[]>([]);
  const [isStale, setStale] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const turn = useRef(0);
  const views = useRef<HTMLElement>(null);

  const analyse = async (): Promise<void> => {
    const mine = ++turn.current;
    const { files, main } = project.current;
    try {
      const found = await language.current!.analyse(files, main);
      if (mine !== turn.current) return;
      setAnalysis(found);
      const other = editors.current.get(otherName(main));
      setStale(found.other === undefined);
      if (found.other !== undefined && other !== undefined) setText(other, found.other);
    } catch (error) {
      setNotice({ text: `The text could not be checked: ${sentence(error)}`, isProblem: true });
    }
  };
  const keep = (): void => keepDraft(location.hash, isEdited.current ? project.current : undefined);
  const changed = (name: string, text: string): void => {
    const { files, main } = project.current;
    if ((MAIN_NAMES as readonly string[]).includes(name)) {
      const { [main]: _, ...modules } = files;
      project.current = { files: { ...modules, [name]: text }, main: name as MainName };
    } else {
      project.current = { files: { ...files, [name]: text }, main };
    }
    isEdited.current = true;
    setPlayed(undefined);
    setMarks(NO_MARKS);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      keep();
      void analyse().then(() => {
        if (!(MAIN_NAMES as readonly string[]).includes(name)) language.current!.modulesChanged();
      });
    }, QUIET_MS);
  };
  const open = (next: Project, show: Panel, edited = false): void => {
    project.current = next;
    isEdited.current = edited;
    turn.current++;
    setAnalysis(undefined);
    setMarks(NO_MARKS);
    setPlayed(undefined);
    setGraphName(undefined);
    setNotice(undefined);
    setTab(next.main === "graph.ngraph" ? "graph.ngraph" : (Object.keys(next.files).find(isModule) ?? "graph.ngraph"));
    setPanel(show);
    setOpened((count) => count + 1);
  };
  useEffect(() => {
    void analyse();
  }, [opened]);
  useEffect(() => {
    const load = (kept: boolean): void => {
      const draft = draftOf(location.hash);
      if (draft !== undefined) {
        open(draft, "findings", true);
        setNotice({
          text: "Your edits in this tab are back. An example or a step of the tour replaces them.",
          isProblem: false,
        });
        return;
      }
      fromFragment(location.hash).then(
        (shared) => {
          if (shared === undefined) return;
          open(shared, "findings");
          if (kept)
            setNotice({ text: "Your edits of the other graph are kept: go back to return to them.", isProblem: false });
        },
        (error: unknown) =>
          setNotice({ text: `The address has a graph that cannot be opened: ${sentence(error)}.`, isProblem: true }),
      );
    };
    const moved = ({ oldURL }: HashChangeEvent): void => {
      clearTimeout(timer.current);
      keepDraft(new URL(oldURL).hash, isEdited.current ? project.current : undefined);
      load(isEdited.current);
    };
    load(false);
    addEventListener("hashchange", moved);
    addEventListener("pagehide", keep);
    // The examples are a file of their own.
    void import("virtual:examples").then(({ default: found }) => setExamples(found as readonly Example[]));
    return () => {
      removeEventListener("hashchange", moved);
      removeEventListener("pagehide", keep);
    };
  }, []);
  // The button of a finding may be far below the picture, and on a narrow page below all else.
  useEffect(() => {
    if (played === undefined) return;
    views.current?.scrollTo({ top: 0 });
    views.current?.scrollIntoView({ block: "start" });
  }, [played]);
  const share = async (): Promise<void> => {
    try {
      const fragment = await toFragment(project.current);
      history.replaceState(null, "", fragment);
      const copied = await navigator.clipboard.writeText(location.href).then(
        () => true,
        () => false,
      );
      setNotice({
        text: copied
          ? "The address of this graph is copied. The graph is in the address, and on no server."
          : "The address of this page now contains the graph. Copy it.",
        isProblem: false,
      });
    } catch (error) {
      setNotice({ text: `This cannot be shared: ${sentence(error)}.`, isProblem: true });
    }
  };
  const openStep = (index: number): void => {
    setStep(index);
    open(tourProject(index), "tour");
  };
  const mainEditor = (): EditorView | undefined => editors.current.get(project.current.main);
  const show = ({ file, range }: Finding): void => {
    const view = editors.current.get(file);
    if (view === undefined) return;
    if (file !== "graph.ngraph.yaml") setTab(file);
    // The tab is visible after the next frame.
    requestAnimationFrame(() => showPlace(view, offsetOf(view, range.start), offsetOf(view, range.end)));
  };
  const fix = ({ edits }: Finding["fixes"][number]): void => {
    const view = mainEditor();
    if (view === undefined) return;
    view.dispatch({
      changes: edits.map(({ range, text }) => ({
        from: offsetOf(view, range.start),
        to: offsetOf(view, range.end),
        insert: text,
      })),
    });
    view.focus();
  };
  const play = (finding: Finding): void => {
    setGraphName(finding.graph);
    setPlayed(finding);
  };

  const { files } = project.current;
  const tabs = ["graph.ngraph", ...Object.keys(files).filter(isModule)];
  /** The text of the spelling that is not written by hand. Until the text of the other one can be read, it is empty. */
  const otherText = analysis === undefined ? undefined : (analysis.other ?? "");
  const graphs = analysis?.graphs ?? [];
  const graph = graphs.find(({ name }) => name === graphName) ?? graphs[0];
  const count = analysis?.findings.filter(({ severity }) => severity !== "info").length ?? 0;
  return (
    <>
      <header>
        <h1>ngraph playground</h1>
        <label>
          <span class="wide">Example </span>
          <select
            aria-label="Example"
            value=""
            onChange={(event) => {
              const found = examples.find(({ name }) => name === event.currentTarget.value);
              event.currentTarget.value = "";
              if (found !== undefined) open(found.project, "findings");
            }}
          >
            <option value="">Open an example…</option>
            {examples.map(({ name }) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <button onClick={() => openStep(0)}>Tour</button>
        <button onClick={() => void share()}>Share</button>
      </header>
      {notice === undefined ? null : (
        <p class={notice.isProblem ? "notice problem" : "notice"} role={notice.isProblem ? "alert" : "status"}>
          {notice.text}{" "}
          <button class="plain" onClick={() => setNotice(undefined)} aria-label="Close">
            ✕
          </button>
        </p>
      )}
      <main>
        <section class="texts" aria-label="Texts">
          <div class="pane">
            <div class="tabs" role="tablist">
              {tabs.map((name) => (
                <button key={name} role="tab" aria-selected={tab === name} onClick={() => setTab(name)}>
                  {name}
                </button>
              ))}
            </div>
            {tabs.map((name) => (
              <Editor
                key={`${opened} ${name}`}
                name={name}
                text={files[name] ?? otherText}
                isHidden={tab !== name}
                isStale={isStale && project.current.main !== name && !isModule(name)}
                editors={editors.current}
                language={language.current!}
                onChange={changed}
              />
            ))}
          </div>
          <div class="pane">
            <div class="tabs">
              <span class="tab">graph.ngraph.yaml</span>
            </div>
            <Editor
              key={`${opened} yaml`}
              name="graph.ngraph.yaml"
              text={files["graph.ngraph.yaml"] ?? otherText}
              isHidden={false}
              isStale={isStale && project.current.main !== "graph.ngraph.yaml"}
              editors={editors.current}
              language={language.current!}
              onChange={changed}
            />
          </div>
        </section>
        <section class="views" aria-label="Graph" ref={views}>
          {graphs.length < 2 ? null : (
            <div class="tabs">
              {graphs.map(({ name }) => (
                <button
                  key={name}
                  aria-pressed={graph?.name === name}
                  onClick={() => {
                    setGraphName(name);
                    setPlayed(undefined);
                    setMarks(NO_MARKS);
                  }}
                >
                  {name}
                </button>
              ))}
            </div>
          )}
          {graph === undefined ? (
            <p class="quiet" role="status">
              {analysis === undefined ? "Checking…" : "The text has no graph."}
            </p>
          ) : (
            <Picture
              key={`${opened} ${graph.name}`}
              graph={graph}
              marks={marks}
              onNode={(offset) => {
                const view = mainEditor();
                if (view === undefined) return;
                if (project.current.main === "graph.ngraph") setTab("graph.ngraph");
                requestAnimationFrame(() => showPlace(view, offset));
              }}
            />
          )}
          {played === undefined ? null : (
            <div class="card">
              <h3>A run that shows {played.code}</h3>
              <p class="quiet">{played.message}</p>
              <Player
                key={`${played.code} ${played.range.start.line}`}
                steps={played.trace.map(({ ran, chose }) => ({
                  ran,
                  text: Object.entries(chose)
                    .map(([node, choice]) => `${node}: ${choice}`)
                    .join(", "),
                }))}
                end={played.traceEnd ?? ""}
                onMarks={setMarks}
              />
              <button
                onClick={() => {
                  setPlayed(undefined);
                  setMarks(NO_MARKS);
                }}
              >
                Close
              </button>
            </div>
          )}
          <div class="tabs">
            {(["tour", "findings", "run"] as const).map((name) => (
              <button key={name} aria-pressed={panel === name} onClick={() => setPanel(name)}>
                {name === "findings" ? `Findings (${count})` : name === "run" ? "Run" : "Tour"}
              </button>
            ))}
          </div>
          <div class="panel">
            {panel === "tour" ? (
              <TourPanel step={step} onStep={openStep} onLook={setPanel} />
            ) : analysis === undefined ? null : panel === "findings" ? (
              <Findings analysis={analysis} onShow={show} onFix={fix} onPlay={play} />
            ) : graph?.runnable === undefined ? (
              <p class="quiet">
                {graph?.kind === "plan"
                  ? "A plan runs commands, which a page cannot: `ngc plan FILE` runs it."
                  : "Only a text without errors runs. The findings say what is missing."}
              </p>
            ) : (
              <RunPanel
                key={`${opened} ${graph.name} ${JSON.stringify(graph.runnable)}`}
                graph={graph}
                runnable={graph.runnable}
                project={() => project.current}
                onMarks={setMarks}
              />
            )}
          </div>
        </section>
      </main>
    </>
  );
}

function Editor({
  name,
  text,
  isHidden,
  isStale,
  editors,
  language,
  onChange,
}: {
  readonly name: string;
  /** The first text. There is no editor before it is known: an empty text would have findings of its own. */
  readonly text: string | undefined;
  readonly isHidden: boolean;
  readonly isStale: boolean;
  readonly editors: Map<string, EditorView>;
  readonly language: Language;
  readonly onChange: (name: string, text: string) => void;
}) {
  const place = useRef<HTMLDivElement>(null);
  const isKnown = text !== undefined;
  // The language server knows one editor of each name. Of effects that run later, the new editor's may run before the end of the old one.
  useLayoutEffect(() => {
    if (text === undefined) return;
    const view = createEditor(place.current!, {
      name,
      text,
      label: name,
      client: language.client,
      onChange: (next) => onChange(name, next),
    });
    editors.set(name, view);
    return () => {
      view.destroy();
      if (editors.get(name) === view) editors.delete(name);
    };
  }, [isKnown]);
  return (
    <>
      {isStale ? <p class="notice">The other text has syntax errors: this one is older.</p> : null}
      <div class={isStale ? "editor is-stale" : "editor"} hidden={isHidden} ref={place} />
    </>
  );
}

function TourPanel({
  step,
  onStep,
  onLook,
}: {
  readonly step: number;
  readonly onStep: (step: number) => void;
  readonly onLook: (panel: Panel) => void;
}) {
  const found = TOUR[step];
  if (found === undefined) return null;
  return (
    <article class="tour">
      <h2>
        {step + 1} of {TOUR.length}: {found.title}
      </h2>
      {found.text.map((paragraph) => (
        <p key={paragraph}>
          {paragraph.split("`").map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))}
        </p>
      ))}
      <div class="actions">
        <button disabled={step === 0} onClick={() => onStep(step - 1)}>
          Back
        </button>
        {found.look === "picture" ? null : (
          <button onClick={() => onLook(found.look as Panel)}>
            {found.look === "run" ? "Show the run" : "Show the findings"}
          </button>
        )}
        {step + 1 < TOUR.length ? (
          <button class="primary" onClick={() => onStep(step + 1)}>
            Next: {TOUR[step + 1]?.title}
          </button>
        ) : null}
      </div>
    </article>
  );
}

function tourProject(step: number): Project {
  return { files: { "graph.ngraph": TOUR[step]?.source ?? "" }, main: "graph.ngraph" };
}

function isModule(name: string): boolean {
  return !(MAIN_NAMES as readonly string[]).includes(name);
}

function sentence(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
