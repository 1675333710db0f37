// Warns before unsaved edits of a form[data-guard] are left behind, and shows [data-dirty] while there are any.
// data-guard="dirty" says that the form already differs from what is saved (a restored draft); an event "draft" with
// {differs} says whether it still does.
const fingerprint = (form) =>
  JSON.stringify([...new FormData(form)].map(([name, value]) => [name, value instanceof File ? value.name : value]));

const saved = new WeakMap();
let leaving = false;

const forms = () => [...document.querySelectorAll("form[data-guard]")];
const isDirty = (form) => saved.has(form) && saved.get(form) !== fingerprint(form);

function mark(form) {
  const dirty = isDirty(form) || form.dataset.guard === "dirty";
  for (const sign of document.querySelectorAll("[data-dirty]")) sign.hidden = !dirty;
}

function watch() {
  for (const form of forms()) {
    if (!saved.has(form)) saved.set(form, fingerprint(form));
    mark(form);
  }
}

document.addEventListener("input", (event) => {
  const form = event.target.form ?? event.target.closest?.("form");
  if (form?.matches("[data-guard]")) mark(form);
});
document.addEventListener("draft", ({ target, detail }) => {
  target.dataset.guard = detail.differs ? "dirty" : "";
  if (!detail.differs) saved.set(target, fingerprint(target)); // typed back to what is saved
  mark(target);
});
document.addEventListener("submit", (event) => {
  if (event.target.matches("[data-guard]") || event.submitter?.form?.matches("[data-guard]")) leaving = true;
});
document.addEventListener("htmx:after:swap", () => {
  leaving = false; // the form came back with its errors, or another part of the page was renewed
  watch();
});
addEventListener("beforeunload", (event) => {
  if (!leaving && forms().some(isDirty)) event.preventDefault();
});
watch();
