/** Why each finding matters, and how to choose a fix, for its page. */
import type { DiagnosticCode } from "../../diagnostics/codes.ts";

export interface Advice {
  readonly why: string;
  readonly fix: string;
}

export const ADVICE: Readonly<Record<DiagnosticCode, Advice>> = {
  NG001: {
    why: "A file that cannot be read has no meaning: nothing in it is checked or run until the text is valid.",
    fix: "Look at the position, and at the line above it: a missing bracket or comma is often reported where the next statement begins. Apply the suggested fix if it says what you meant.",
  },
  NG002: {
    why: "Everything after the opening mark belongs to the text or comment, so the rest of the file is not read as code.",
    fix: "Close it where it ends. If a text should span lines, write a template in backticks; a string in quotes ends with its line.",
  },
  NG003: {
    why: "Such characters look like others or like nothing, so a reader and the compiler would see two different files.",
    fix: "Replace it with the plain character. If it belongs to a text, write it as an escape, so that it can be seen.",
  },
  NG004: {
    why: "Deep nesting comes from generated or hostile text. The limit keeps the memory of the compiler bounded.",
    fix: "Move an inner part into a node, a derived name or a graph of its own.",
  },
  NG005: {
    why: "The limits bound the time and memory of a check, which may read files of strangers.",
    fix: "Split the graph into several files that call each other. Move large data into a file that a node reads.",
  },
  NG006: {
    why: "A value that the compiler guesses could be a time that is a thousand times too long.",
    fix: "Write the number or unit as the help says. A name that begins with a digit needs another first letter.",
  },
  NG010: {
    why: "Text that is not YAML has no structure to check.",
    fix: "Mend the indentation or the brackets at the position. Quote values with `:`, `#` or `{`. If the quoting becomes hard to read, `.ngraph` text needs none of it.",
  },
  NG011: {
    why: "An unknown key is nearly always a misspelled one. If it were skipped, the policy that you meant would silently be missing.",
    fix: "Take the suggested key if it is what you meant. Remove notes of your own, or write them as comments.",
  },
  NG012: {
    why: "YAML readers disagree about which of two equal keys wins, so one of the two statements would silently be lost.",
    fix: "Rename one if both are meant. Delete the one that is out of date otherwise.",
  },
  NG013: {
    why: "A few lines of aliases can expand into billions of values and exhaust the memory of the reader.",
    fix: "Write out the few values that you need, or move shared parts into a file or a graph.",
  },
  NG014: {
    why: "A value of another type would be converted by guessing, and YAML converts surprisingly: `no` may be read as `false`.",
    fix: "Write a value of the expected type. Quote a text that looks like a number, a bool or a date.",
  },
  NG101: {
    why: "An edge to a missing node would end its branch without an error.",
    fix: "Correct the name if a similar one is suggested. Declare the node if it is really missing.",
  },
  NG102: {
    why: "Two things with one name make each use of it ambiguous.",
    fix: "Rename one if both are needed. If one is a leftover of an edit, delete it.",
  },
  NG103: {
    why: "A run begins with the edges of `start`; without one, nothing runs.",
    fix: "Add an edge from `start` to the nodes that should run first. If the graph is unfinished, begin with one.",
  },
  NG104: {
    why: "A node reads and writes channels by name only, so a misspelled name has no value.",
    fix: "Correct the spelling, or declare the channel. A value from the caller is an `input`, a value of the run a `state`.",
  },
  NG105: {
    why: "A call without a function cannot run. The compiler reads the modules, so it knows this before the run.",
    fix: "Correct the name, export the function from its module, or add the import. A built-in node needs no import.",
  },
  NG106: {
    why: "A run also completes when no node is left, so this is no mistake. Readers may look for `end`.",
    fix: "Leave it for a graph that simply runs out of nodes. Add an edge to `end` if the last node should be visible in the picture.",
  },
  NG107: {
    why: "The word has a meaning in the language, so a node or channel with this name could not be distinguished from it.",
    fix: "Choose another name. If the name is fixed by stored data, rename the channel and write `was` for the old name.",
  },
  NG108: {
    why: "A second, equal edge changes nothing. It is often a copy in which one name was not changed.",
    fix: "Correct the copy if it should lead elsewhere, and remove it otherwise.",
  },
  NG109: {
    why: "Nothing can run before `start` or after `end`, so such an edge could never be taken.",
    fix: "Lead the edge to a node. For work at each end of a run, use `finally`.",
  },
  NG110: {
    why: "A reader will confuse the two names, and a misspelled use of one is a valid use of the other.",
    fix: "Rename the one with fewer uses, preferably to a word that says how it differs.",
  },
  NG111: {
    why: "A name without a use costs the reader time, and an unused secret must still be set in the environment.",
    fix: "Remove it. If it should be used, the place where it is missing is the mistake.",
  },
  NG112: {
    why: "A file in a cycle has no order in which it could be read.",
    fix: "Move what both files need into a third one. Two graphs that need each other are usually one graph with a loop.",
  },
  NG113: {
    why: "A graph outside of the project can be changed without a review of this project, and a deployment does not contain it.",
    fix: "Move the file into the project, or import functions from a package. The packages of one workspace (`workspaces` in `package.json`, `packages` in `pnpm-workspace.yaml`) are one project: list both packages there, and import the graph by its path.",
  },
  NG114: {
    why: "A wrong argument would reach the function as `undefined`, and would fail in the middle of a run.",
    fix: "Compare the call with the signature in the message. Change the function if the graph is right.",
  },
  NG115: {
    why: "The proofs rely on the declared targets. A jump to another one would make each of them wrong, and fails the node at run time.",
    fix: "Declare the target with `goes` if the jump is meant. Otherwise correct the function.",
  },
  NG116: {
    why: "Graphs that call each other need a stack without a bound, and no step count limits it.",
    fix: "Write the repetition as a loop in one graph. Its rounds are then counted and proven.",
  },
  NG117: {
    why: "The construct has no meaning at this place, and the run would do something else than the text says.",
    fix: "Use the form that the help names. Remove it if it came from another system.",
  },
  NG118: {
    why: "A suppression hides a finding from every later reader, so it must name its code and its reason.",
    fix: "Write the code and one sentence with the reason. Errors cannot be suppressed: change the graph.",
  },
  NG119: {
    why: "A suppression without a finding may hide the next one of its kind.",
    fix: "Remove it. If the finding moved to another line, move the comment with it.",
  },
  NG120: {
    why: "A derived name is replaced by its expression, and this replacement would never end.",
    fix: "Break the cycle by one expression over channels. A value that depends on its own earlier value is a `state` channel that a node writes.",
  },
  NG201: {
    why: "The node looks like a part of the work, and never runs.",
    fix: "Add the missing edge if the node is needed. Remove it with what only it uses otherwise.",
  },
  NG202: {
    why: "The node depends on a route that no run takes, so it is dead although an edge leads to it.",
    fix: "Look at the condition of the route first: its mistake is usually there.",
  },
  NG203: {
    why: "A run that reaches this node can only end at its step limit, which callers see as an unfinished run.",
    fix: "Add the edge that leads on. If the node should be the last one, remove the edges that lead back.",
  },
  NG204: {
    why: "Each run that enters the cycle repeats it up to the step limit, and pays for each round.",
    fix: "Add an exit with a condition that the loop can change. A supervisor that waits for signals needs one, too: a signal that ends it.",
  },
  NG205: {
    why: "The loop has an exit, but no run can take it.",
    fix: "Compare the condition with the values that the loop writes. Comparisons with the wrong sign, and a counter that nothing changes, are frequent.",
  },
  NG206: {
    why: "A condition that a model or a function decides may never hold, and each round may cost money.",
    fix: "Count the rounds and leave at a limit, which also proves the bound. Use `limit steps` if the number of rounds does not matter. Suppress it for a loop that a person ends.",
  },
  NG207: {
    why: "The bound tells what a run can cost at most.",
    fix: "Nothing needs a fix. If the bound is higher than expected, look at the condition of the loop.",
  },
  NG208: {
    why: "The condition has the same value in each round. The loop runs never, or forever.",
    fix: "Read a channel that a node of the loop writes. If the condition should be decided once, lead it around the loop.",
  },
  NG210: {
    why: "The bound is proven, so `limit steps` cannot interrupt a run that is correct.",
    fix: "Nothing needs a fix.",
  },
  NG211: {
    why: "Correct runs would be cut off at the limit.",
    fix: "Raise the limit to the number in the help. If the graph should be shorter, the path in the message shows what is long.",
  },
  NG213: {
    why: "A run exists that breaks the rule which the graph states.",
    fix: "Follow the trace. Add the missing edge or condition if the run is a mistake. Weaken the assertion if the run is intended; do not remove it before this is decided.",
  },
  NG214: {
    why: "No run can break the rule, whatever models and functions return.",
    fix: "Nothing needs a fix. Keep the assertion: it guards the next edit.",
  },
  NG301: {
    why: "The node behind the barrier never runs, and each run ends as incomplete.",
    fix: "Use `any(…)` if one arm is enough. Use `settled(…)` if the members that can arrive should be awaited. Use edges of both arms into one node if the barrier was only meant as a join.",
  },
  NG302: {
    why: "In some runs the barrier waits for a member that does not come, and the rest of the work is missing.",
    fix: "Lead each path of the missing member to the barrier: its failure (`on error`), or the other arm. Use `settled(…)` if the member is optional.",
  },
  NG303: {
    why: "The first round works, so tests with one round pass. Later rounds lack a signal.",
    fix: "Let every round signal all members, or use `settled(…)`. If only one member repeats, put the barrier before the loop.",
  },
  NG304: {
    why: "The barrier waits for a node that nothing runs.",
    fix: "Add the edge to the member if it was forgotten. Remove it from the barrier if it is out of date.",
  },
  NG305: {
    why: "A barrier with one member waits for nothing, and a repeated member counts once. Another name was probably meant.",
    fix: "Write the other member if there is one, and a plain edge otherwise.",
  },
  NG306: {
    why: "The barrier needs two rounds to be complete, and mixes signals of different rounds.",
    fix: "Use `any(…)` if one of the members is enough. Keep `all(…)` only if both rounds are really needed, and suppress the finding with this reason.",
  },
  NG307: {
    why: "The node, and everything after it, runs twice: two messages are sent, two payments are made.",
    fix: "Use `all(…)` if the results of both are needed, and `settled(…)` if one of them may not run. If both runs are intended, use `for` or suppress the finding.",
  },
  NG308: {
    why: "A parallel branch ends early, which is often intended for logging.",
    fix: "Nothing needs a fix if the branch is independent. Join it with a barrier if the end of the run should wait for its result.",
  },
  NG309: {
    why: "A barrier counts one signal of each member, so a round disappears without a trace.",
    fix: "Let the barrier fire before its member can run again: put it into the loop. Give the second signal a member of its own if both count.",
  },
  NG310: { why: "This is the strongest verdict: no run gets stuck.", fix: "Nothing needs a fix." },
  NG311: {
    why: "The run is never finished and never fails. It repeats until its limit.",
    fix: "Look at the conditions on the loop's exits: inside of the loop none can hold. Change what the loop writes, or add an exit.",
  },
  NG312: {
    why: "A pause stores the results of the siblings and waits with them, which may take days.",
    fix: "Nothing needs a fix if the siblings may finish first. Put the question after a barrier if it should see their results.",
  },
  NG314: {
    why: "The signals of the nodes beside it are dropped, and their successors never run.",
    fix: "Jump without `exclusive` if the others should continue. Put the node alone in its step if the jump must win.",
  },
  NG315: {
    why: "The signal suggests that the node runs, but its `waits` ignores it.",
    fix: "Add the source to `waits` if it should count, and remove the edge otherwise.",
  },
  NG316: {
    why: "The node runs once only by chance of the lengths. One more node on a branch makes it run twice.",
    fix: "Write the join with `all(…)` or `settled(…)`. The run stays as it is, and later edits are safe.",
  },
  NG401: {
    why: "The second write fails the step. Which of the two values is right cannot be known.",
    fix: "Use a reducer if both values belong together: `append`, `sum`, `merge`. Use two channels if they differ in meaning. Order the nodes by an edge if the second should replace the first.",
  },
  NG402: {
    why: "The order of the calls is the declaration order, and it changes when the nodes are sorted.",
    fix: "Write a reducer whose result does not depend on the order. Otherwise order the nodes by an edge, or suppress the finding if the order is meant.",
  },
  NG403: {
    why: "The value does not exist in some run, and the reader fails.",
    fix: "Write the channel on each path before it is read, or give it a default. Allow `null` only if the reader handles a missing value.",
  },
  NG404: {
    why: "Nodes of a step read one snapshot, so a value is one step older than the text suggests.",
    fix: "Add an edge if the new value is needed. Leave it if the earlier value is meant.",
  },
  NG405: {
    why: "Work is done and stored whose result nothing uses.",
    fix: "Use it, return it as an `output`, or drop `into`. Suppress the finding if people read it in the checkpoints.",
  },
  NG406: {
    why: "Callers must set, or readers must understand, a value without a use.",
    fix: "Remove it. For an input of a published graph, removing it is a breaking change: mark it in the changelog of your project.",
  },
  NG408: {
    why: "A value of another type would fail the next reader, in the middle of a run.",
    fix: "Decide which side is right: the type of the channel, or the value. Convert by an expression, or let the function return the declared type.",
  },
  NG410: {
    why: "The state grows with each round, and so do the prompts that contain it.",
    fix: "Bound the rounds if they are few. Keep the last items with a reducer or an expression if the loop is long.",
  },
  NG411: {
    why: "Models, logs and other services store what they receive, and a model may repeat it to strangers.",
    fix: "Pass the secret only where it authenticates: in a header of `http`, in `env` of `shell`. Remove it from the text otherwise.",
  },
  NG412: {
    why: "Text of a model or a stranger decides what is executed. A sentence in a document can become a command.",
    fix: "Quoting by a template is the simplest fix. Ask a person if the text must be a command. A check in code helps if the allowed commands, hosts or paths can be listed. A host is restricted by `hosts` or `private: false`, and a union as the type of the channel lists its values.",
  },
  NG413: {
    why: "Files are committed, copied and shared, so the secret is no secret any more.",
    fix: "Declare it with `secret`, set it in the environment, and revoke the old key. Suppress the finding for a value that only looks like a key.",
  },
  NG414: {
    why: "A channel as a command may contain anything, as a shell understands it.",
    fix: "Use a template whose values are quoted, or a list without a shell. `raw(…)` is for texts that the graph itself has written.",
  },
  NG415: {
    why: "At this place of a command no quoting is safe, so a value could end the text and begin a command.",
    fix: "Move the value out of the special place: `$(…)` in place of backticks, `env` or `input` for here-documents and comments.",
  },
  NG416: {
    why: "A run has one value for each configuration. Two types cannot both hold.",
    fix: "Give both the same type if they mean the same. Rename one if they do not.",
  },
  NG501: {
    why: "A value without a route fails the run with `NG_NO_ROUTE`.",
    fix: "Add the missing arm if the value needs a treatment of its own. Use `else` if the rest is treated alike; the compiler then no longer reports a new value.",
  },
  NG502: {
    why: "The route and what follows it are dead. The condition rarely says what was meant.",
    fix: "Check the operators (`&&` for `||`), and the values that the channel can have. Remove the route if it is out of date.",
  },
  NG503: {
    why: "The first arm that matches is taken, so this one is never reached.",
    fix: "Put the special arm before the general one, or remove it.",
  },
  NG505: {
    why: "The condition decides nothing. A mistake is likely.",
    fix: "Compare it with what should be tested: a channel that can change. Remove it if the edge is unconditional.",
  },
  NG506: {
    why: "The choice has no effect. This is often a step of an edit.",
    fix: "Write a plain edge, or lead the arms to different nodes.",
  },
  NG507: {
    why: "`else` hides a value that is added to the type later.",
    fix: "Remove it; a new value is then an error until it has a route.",
  },
  NG508: {
    why: "The operation has no meaning for these types, and would fail in the run.",
    fix: "Convert the value, or use a template for texts. Change the type of the channel if it is wrong.",
  },
  NG509: {
    why: "In some run the value is `null`, and the operation fails there.",
    fix: "Use `??` if a sensible value exists, a condition if the edge should differ, and `!` only if a missing value is a failure.",
  },
  NG510: {
    why: "The library of the expressions is small and fixed, so that conditions are pure and can be analysed.",
    fix: "Take the suggested function, or correct the arguments. Write a node with a function of your own for anything larger.",
  },
  NG511: {
    why: "Some patterns take exponential time on certain texts, which is enough to stop a server.",
    fix: "Rewrite the pattern without references and nested repetitions, or match in a node with a function.",
  },
  NG512: {
    why: "Rounding makes equal results differ in the last digit, so the edge is taken by chance.",
    fix: "Compare with a tolerance, or use `int` for counts and amounts of money.",
  },
  NG513: {
    why: "The channel can never have this value, so the condition never holds.",
    fix: "Correct the spelling. Add the value to the type if it is new.",
  },
  NG514: {
    why: "Conditions are evaluated between steps and again after a resume, so they must not have effects.",
    fix: "Call the function in a node, store its result in a channel, and read the channel here.",
  },
  NG515: {
    why: "A value between the conditions has no route, and fails the run with `NG_NO_ROUTE`.",
    fix: "Move the bounds together if the gap is an oversight (`<` and `>=`). Use `otherwise` if the rest is one case.",
  },
  NG601: {
    why: "A call that never answers keeps its run alive.",
    fix: "Set `timeout` on the node, or a default for the graph. Leave it if the other side has a limit of its own.",
  },
  NG602: {
    why: "A request that was cut off may have had its effect. The retry has it again: two orders, two mails.",
    fix: "Pass the idempotency key if the other side supports one, and mark the node `idempotent`. Otherwise remove `tries`.",
  },
  NG603: {
    why: "Code before a pause runs again when the run is resumed, so the effect happens twice.",
    fix: "Move the effect into a node after the pause.",
  },
  NG604: {
    why: "The enclosing limit ends the tries before the last one, so they do less than the text says.",
    fix: "Raise the outer limit if the tries are needed. Lower the tries or their timeout if the limit is.",
  },
  NG605: {
    why: "The number is the largest bill of a run, with retries.",
    fix: "Nothing needs a fix. Lower the `tries` or the bound of a loop if it is too high.",
  },
  NG607: {
    why: "A failure ends the run as failed. It stays resumable, which is often right.",
    fix: "Leave it if a person should look at failures. Add `on error` if the graph can continue without the result.",
  },
  NG609: {
    why: "The number is the largest load that a step causes on other services.",
    fix: "Nothing needs a fix. Use `max parallel` if it is too high.",
  },
  NG610: {
    why: "Threads that are stored under the old version cannot continue under the new one.",
    fix: "Declare a rename with `was`, and a removal with `drop`. Keep the old part until no thread needs it if neither fits.",
  },
  NG612: {
    why: "The policy has no effect on this kind of wait, so the run would wait longer or shorter than the text says.",
    fix: "Use the policy in the help: `within` for answers and signals, `timeout` for attempts.",
  },
  NG615: {
    why: "The default suggests a protection that no node has.",
    fix: "Remove it, or correct its kind if some nodes should have it.",
  },
  NG620: {
    why: "A rollback runs without people and timers, so this undo could never finish.",
    fix: "Call a function that undoes the work at once. If a person must decide, ask before the `rollback`.",
  },
  NG621: {
    why: "The rollback ends the run and leaves all its effects in place.",
    fix: "Add `undo` to the nodes with effects. Lead to a node or `fail(…)` if nothing needs to be undone.",
  },
  NG701: {
    why: "Each task waits for another one, so none can start.",
    fix: "Remove the dependency that only states a wish. Use `touches` to keep tasks apart without an order.",
  },
  NG702: {
    why: "The tasks of the cycle never start.",
    fix: "Remove the edge that is least true. Tasks that change the same file need `touches`, not an order.",
  },
  NG703: {
    why: "A misspelled dependency would let the task start too early.",
    fix: "Correct the name, or add the task.",
  },
  NG704: {
    why: "A task that waits for itself never starts. A repeated dependency has no effect.",
    fix: "Remove it; a copied line with an unchanged name is the usual cause.",
  },
  NG705: {
    why: "The plan is slower than its dependencies require, because of the paths that the task touches.",
    fix: "Narrow the paths, or mark those that are only read. Write `alone` if this is intended.",
  },
  NG706: {
    why: "With fewer than one task at a time, nothing runs.",
    fix: "Write the number of tasks that the machine can run, or remove the clause: a plan then runs at most 4 tasks at once, and a graph has no limit.",
  },
  NG707: {
    why: "Another program may work there, and no lock of the plan protects it from that.",
    fix: "Start the plan in the folder that contains all paths. Otherwise leave the path out, and order the tasks by `after`.",
  },
  NG900: {
    why: "The search met its limit. The properties may hold or not, and no verdict is given.",
    fix: "Read which properties are open. Split parallel branches into called graphs if you need their proof. Runs are not affected.",
  },
  NG901: {
    why: "The finding is sound, but its trace may not be a run that happens.",
    fix: "Look at the conditions on the trace. If they exclude each other, suppress the finding with this reason; otherwise treat it as the finding says.",
  },
};
