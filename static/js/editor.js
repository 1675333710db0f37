// Turns textarea[data-editor="prompt|javascript|json"] into a CodeMirror editor. The textarea stays in the form and
// always holds the text, so that everything else (drafts, htmx, submitting) needs no word of the editor.
//   data-paths-url    JSON list of {path, preview} that really exist in the chosen case; "{" opens them in a prompt
//   data-paths-from   instead of the address, the selector of an element that holds this list now
//   data-error-line   line (from 1) to mark at the start; later marks come with [data-error-for="<id>"][data-line]
//   button[data-fix-for="<id>"][data-fix-from][data-fix-to] puts the right word in place of the wrong one; without
//   data-fix-for in all prompts and in all inputs of paths, [data-path]
const source = document.querySelector("script[data-codemirror]");
const editors = new Map(); // textarea -> {view, markLine}
let library = null;

const load = () => (library ??= Promise.all([import(source.dataset.codemirror), import(source.dataset.languages)]));

const pathLists = new Map();

function pathsOf(textarea) {
  const { pathsUrl: url, pathsFrom: place } = textarea.dataset;
  if (place) return Promise.resolve(JSON.parse(document.querySelector(place)?.textContent || "[]"));
  if (!url) return Promise.resolve([]);
  if (!pathLists.has(url)) {
    const answer = fetch(url, { headers: { Accept: "application/json" } });
    pathLists.set(
      url,
      answer.then((response) => (response.ok ? response.json() : [])).catch(() => []),
    );
  }
  return pathLists.get(url);
}

/** Replace the braces around the word, however many are there already, by one pair. */
function applyPath(view, completion, from, to) {
  const line = view.state.doc.lineAt(from);
  const before = line.text.slice(0, from - line.from).match(/\{{1,2}\s*$/)?.[0] ?? "";
  const after = line.text.slice(to - line.from).match(/^\s*\}{1,2}/)?.[0] ?? "";
  const insert = `{{ ${completion.label} }}`;
  const start = from - before.length;
  view.dispatch({
    changes: { from: start, to: to + after.length, insert },
    selection: { anchor: start + insert.length },
    userEvent: "input.complete",
  });
}

function completions(textarea, kind) {
  const place = kind === "prompt" ? /\{{1,2}\s*[\w.[\]'"]*$/ : /\b(inputs|expectedOutputs|outputs|steps|metadata|processed|comparison)[\w.[\]'"]*$/;
  return async (context) => {
    const match = context.matchBefore(place);
    if (!match && !context.explicit) return null;
    const word = context.matchBefore(/[\w.[\]'"]*$/);
    const options = (await pathsOf(textarea)).map(({ path, preview }) => ({
      label: path,
      detail: preview,
      type: "property",
      ...(kind === "prompt" && { apply: applyPath }),
    }));
    return { from: word ? word.from : context.pos, options, validFor: /^[\w.[\]'"]*$/ };
  };
}

/** One line with a coloured ground: where the server found an error. It goes with the first edit of that line. */
function lineMark({ Decoration, EditorView, StateEffect, StateField }) {
  const setLine = StateEffect.define();
  const bad = Decoration.line({ class: "cm-bad-line" });
  const field = StateField.define({
    create: () => Decoration.none,
    update(marks, change) {
      marks = marks.map(change.changes);
      if (change.docChanged) marks = marks.update({ filter: (from) => !change.changes.touchesRange(from) });
      for (const effect of change.effects) {
        if (!effect.is(setLine)) continue;
        const lines = change.state.doc.lines;
        const inside = effect.value >= 1 && effect.value <= lines;
        marks = inside ? Decoration.set([bad.range(change.state.doc.line(effect.value).from)]) : Decoration.none;
      }
      return marks;
    },
    provide: (self) => EditorView.decorations.from(self),
  });
  return { field, setLine };
}

/** Typing over a selection, done here: left to itself, Chromium writes a style attribute that the page's policy refuses. */
function typeOver(event, view) {
  const { from, to, empty } = view.state.selection.main;
  if (event.inputType !== "insertText" || !event.data || empty || view.composing || view.state.readOnly) return false;
  event.preventDefault();
  const insert = () =>
    view.state.update(view.state.replaceSelection(event.data), { userEvent: "input.type", scrollIntoView: true });
  const handlers = view.state.facet(view.constructor.inputHandler);
  if (!handlers.some((handle) => handle(view, from, to, event.data, insert))) view.dispatch(insert());
  return true;
}

function attributesOf(textarea) {
  const label = document.querySelector(`label[for="${CSS.escape(textarea.id)}"]`);
  const name = label?.textContent.trim() ?? textarea.getAttribute("aria-label") ?? "Code";
  const attributes = { "aria-label": name, tabindex: "0" }; // in the order of Tab, so that its scroller can be reached
  for (const name of ["aria-describedby", "aria-invalid"]) {
    const value = textarea.getAttribute(name);
    if (value) attributes[name] = value;
  }
  label?.addEventListener("click", () => editors.get(textarea)?.view.focus());
  return attributes;
}

function extensionsFor(textarea, cm, languages, mark) {
  const kind = textarea.dataset.editor;
  const sync = cm.EditorView.updateListener.of((update) => {
    if (!update.docChanged) return;
    textarea.value = update.state.doc.toString();
    textarea.dispatchEvent(new Event("input", { bubbles: true }));
  });
  return [
    cm.lineNumbers(),
    cm.history(),
    cm.drawSelection(),
    cm.indentOnInput(),
    cm.bracketMatching(),
    cm.closeBrackets(),
    cm.highlightSelectionMatches(),
    cm.search({ top: true }),
    cm.syntaxHighlighting(cm.classHighlighter),
    cm.EditorView.lineWrapping,
    cm.indentUnit.of("  "),
    cm.EditorState.tabSize.of(2),
    cm.EditorView.contentAttributes.of(attributesOf(textarea)),
    cm.EditorState.readOnly.of(textarea.readOnly || textarea.disabled),
    languages.languageFor(kind, cm),
    cm.EditorView.domEventHandlers({ beforeinput: typeOver }),
    cm.autocompletion({ override: kind === "json" ? [] : [completions(textarea, kind)], icons: false }),
    cm.keymap.of([
      ...cm.closeBracketsKeymap,
      ...cm.completionKeymap,
      ...cm.defaultKeymap.filter(({ key }) => key !== "Mod-Enter"), // it runs what is being edited
      ...cm.historyKeymap,
      ...cm.searchKeymap,
    ]),
    mark.field,
    sync,
  ];
}

async function mount(textarea) {
  editors.set(textarea, null); // taken, before the library is here
  const [cm, languages] = await load();
  if (!textarea.isConnected) return editors.delete(textarea);
  const mark = lineMark(cm);
  const state = cm.EditorState.create({
    doc: textarea.value,
    extensions: extensionsFor(textarea, cm, languages, mark),
  });
  const view = new cm.EditorView({ state });
  const frame = document.createElement("div");
  frame.className = "code-editor";
  frame.dataset.kind = textarea.dataset.editor;
  frame.append(view.dom);
  textarea.after(frame);
  textarea.hidden = true;
  textarea.required = false; // the server checks; a hidden field could not show the browser's message
  const markLine = (line) => view.dispatch({ effects: mark.setLine.of(line) });
  editors.set(textarea, { view, markLine });
  if (textarea.dataset.errorLine) markLine(Number(textarea.dataset.errorLine));
  markErrors();
}

function markErrors() {
  for (const [textarea, editor] of editors) {
    if (!editor) continue;
    const error = document.querySelector(`[data-error-for="${CSS.escape(textarea.id)}"][data-line]`);
    if (error) editor.markLine(Number(error.dataset.line));
    editor.view.dom.classList.toggle("is-bad", Boolean(error) || textarea.getAttribute("aria-invalid") === "true");
  }
}

function scan() {
  for (const textarea of editors.keys()) if (!textarea.isConnected) editors.delete(textarea);
  for (const textarea of document.querySelectorAll("textarea[data-editor]"))
    if (!editors.has(textarea)) mount(textarea);
  markErrors();
}

function replaceWord(textarea, from, to) {
  const wrong = new RegExp(`(?<![\\w.])${from.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}(?!\\w)`, "g");
  const text = textarea.value.replace(wrong, () => to);
  if (text === textarea.value) return;
  const view = editors.get(textarea)?.view;
  if (view) {
    view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
    view.focus();
  } else {
    textarea.value = text;
    textarea.dispatchEvent(new Event("input", { bubbles: true }));
  }
}

document.addEventListener("click", (event) => {
  const fix = event.target.closest("[data-fix-from]");
  if (!fix) return;
  const { fixFor: id, fixFrom: from, fixTo: to } = fix.dataset;
  const places = id ? [document.getElementById(id)] : document.querySelectorAll("[data-path], [data-editor=prompt]");
  for (const place of places) replaceWord(place, from, to);
});
document.addEventListener("htmx:after:swap", scan);
scan();
