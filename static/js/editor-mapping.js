// Step 2 of the editor: how far the cases have the paths that are typed. It is asked for while it can be seen, a moment
// after an edit, and when the bench is set to other cases.
const place = document.querySelector("[data-coverage]");
const PAUSE = 700;

let isStale = true;
let isSeen = false;
let timer;
let chosen = document.getElementById("case-pick");

function look() {
  if (!isSeen || !isStale) return;
  isStale = false;
  place.dispatchEvent(new CustomEvent("look"));
}

function changed() {
  isStale = true;
  clearTimeout(timer);
  timer = setTimeout(look, PAUSE);
}

if (place) {
  new IntersectionObserver(([entry]) => {
    isSeen = entry.isIntersecting;
    look();
  }).observe(place);
  document.getElementById("editor").addEventListener("input", changed);
  document.addEventListener("htmx:after:swap", () => {
    const source = document.getElementById("case-pick");
    if (source !== chosen) changed();
    chosen = source;
  });
}
