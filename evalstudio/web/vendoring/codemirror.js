// The parts of CodeMirror 6 that static/js/editor.js uses; build.mjs makes one ES module of them.
export { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
export { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
export { javascript } from "@codemirror/lang-javascript";
export { bracketMatching, indentOnInput, indentUnit, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
export { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
export { EditorState, StateEffect, StateField } from "@codemirror/state";
export { Decoration, drawSelection, EditorView, keymap, lineNumbers } from "@codemirror/view";
export { classHighlighter, tags } from "@lezer/highlight";
