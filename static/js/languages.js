// The colours of prompts and JSON: two small stream parsers, so that no grammar has to be shipped for them.

const prompt = {
  name: "prompt",
  startState: () => ({ within: null, heading: false }),
  token(stream, state) {
    if (stream.sol()) state.heading = !state.within && /^#{1,6}\s/.test(stream.string);
    if (state.within) {
      const end = { "{{": "}}", "{%": "%}", "{#": "#}", "{": "}" }[state.within];
      if (stream.match(end)) {
        const comment = state.within === "{#";
        state.within = null;
        return comment ? "comment" : "bracket";
      }
      if (state.within === "{#") return stream.next() && "comment";
      if (stream.eatSpace()) return "variableName";
      if (stream.match(/^(?:"[^"]*"|'[^']*')/)) return "string";
      if (stream.match(/^\|\s*\w+/)) return "keyword";
      if (stream.match(/^(?:if|else|elif|endif|for|endfor|in|not|and|or|set|is)\b/)) return "keyword";
      if (stream.match(/^[\w.[\]]+/)) return "variableName";
      stream.next();
      return null;
    }
    const open = stream.match(/^\{(?:\{|%|#)/) || stream.match(/^\{(?=[A-Za-z_][\w.[\]]*\})/);
    if (open) {
      state.within = open[0];
      return open[0] === "{#" ? "comment" : "bracket";
    }
    if (stream.match(/^<\/?[A-Za-z_][\w-]*>/)) return "tagName";
    stream.next();
    stream.eatWhile(/[^{<]/);
    return state.heading ? "heading" : null;
  },
};

const json = {
  name: "json",
  token(stream) {
    if (stream.eatSpace()) return null;
    if (stream.match(/^"(?:[^"\\]|\\.)*"(?=\s*:)/)) return "propertyName";
    if (stream.match(/^"(?:[^"\\]|\\.)*"?/)) return "string";
    if (stream.match(/^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/)) return "number";
    if (stream.match(/^(?:true|false|null)\b/)) return "atom";
    if (stream.match(/^[{}[\],:]/)) return "bracket";
    stream.next();
    return null;
  },
};

/** The language of a kind of editor, as a CodeMirror extension. */
export function languageFor(kind, { javascript, StreamLanguage }) {
  if (kind === "javascript") return javascript();
  return StreamLanguage.define(kind === "json" ? json : prompt);
}
