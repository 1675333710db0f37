// The test bench: which paths the chosen or pasted sample has (for the completion in editors and of inputs that take a
// path), and a pasted sample that is still there after a reload. Running the test itself is htmx.
const source = document.getElementById("bench-source");
const pasted = document.querySelector("[data-pasted-sample]");
const paths = document.getElementById("bench-paths");
const place = `pasted sample ${location.pathname}`;
const PAUSE = 600;

let timer;
let pastedPaths = "[]";

const pasting = () => source.querySelector("[value=paste]").checked;

function offer() {
  const offered = pasting() ? pastedPaths : (document.getElementById("case-paths")?.textContent ?? "[]");
  if (paths.textContent === offered) return;
  paths.textContent = offered;
  const options = JSON.parse(offered).map(({ path, preview }) => new Option(preview, path));
  document.getElementById("case-path-list")?.replaceChildren(...options);
}

async function read() {
  const body = new FormData();
  body.set("pasted_sample", pasted.value);
  const headers = { "X-CSRFToken": document.querySelector("#editor [name=csrfmiddlewaretoken]").value };
  const answer = await fetch(pasted.dataset.pathsUrl, { method: "POST", body, headers }).catch(() => null);
  if (!answer?.ok) return; // half-typed JSON keeps the paths it had
  pastedPaths = await answer.text();
  offer();
}

function keep() {
  try {
    sessionStorage.setItem(place, JSON.stringify({ text: pasted.value, chosen: pasting() }));
  } catch { /* Storage is off: the pasted sample lasts for this page. */ }
}

function restore() {
  try {
    const kept = JSON.parse(sessionStorage.getItem(place));
    if (!kept) return;
    pasted.value = kept.text;
    source.querySelector(kept.chosen ? "[value=paste]" : "[value=case]").checked = true;
  } catch { /* nothing was kept */ }
}

source?.addEventListener("input", (event) => {
  if (event.target === pasted) {
    clearTimeout(timer);
    timer = setTimeout(read, PAUSE);
  }
  keep();
  offer();
});
document.addEventListener("htmx:after:swap", offer);
if (source) {
  restore();
  read();
}
