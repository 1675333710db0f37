// "16 lines, 4 paths" above a code editor: [data-count-of="<id of its textarea>"].
const PATH = /\{\{-?\s*([a-zA-Z]\w*(?:\.\w+|\[[^\]]*\])*)|\{((?:testCase\.|experimentCase\.)?[a-z]\w*)\}/g;
const many = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

function count(place) {
  const textarea = document.getElementById(place.dataset.countOf);
  const lines = many(textarea.value.split("\n").length, "line");
  const paths = new Set([...textarea.value.matchAll(PATH)].map((match) => match[1] ?? match[2]));
  place.textContent = textarea.dataset.editor === "prompt" ? `${lines}, ${many(paths.size, "path")}` : lines;
}

for (const place of document.querySelectorAll("[data-count-of]")) {
  count(place);
  document.getElementById(place.dataset.countOf).addEventListener("input", () => count(place));
}
