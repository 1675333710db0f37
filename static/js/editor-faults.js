// After a test or a refused save: fields with a fault are marked as invalid, the others are not, and after a refused
// save the first wrong one has the focus. A step of the editor says how many of its faults there are.
function mark() {
  for (const slot of document.querySelectorAll(".faults[id]")) {
    const fields = document.querySelectorAll(`[aria-describedby~="${CSS.escape(slot.id)}"]`);
    const named = new Set([...slot.querySelectorAll("[data-error-for]")].map((error) => error.dataset.errorFor));
    for (const field of fields) {
      const wrong = named.size > 0 && (fields.length === 1 || named.has(field.id));
      if (wrong) field.setAttribute("aria-invalid", "true");
      else field.removeAttribute("aria-invalid");
    }
  }
}

/** The steps with faults say how many, and a fault in a hidden step opens it. */
function markSteps() {
  for (const count of document.querySelectorAll("[data-faults-of]")) {
    const faults = document.querySelectorAll(`#${count.dataset.faultsOf} .faults .err`).length;
    count.textContent = faults || "";
    count.title = faults ? "Not right yet" : "";
  }
  const step = document.querySelector("#editor .faults .err")?.closest("[role=tabpanel]");
  if (step?.hidden) document.querySelector(`[role=tab][aria-controls="${step.id}"]`).click();
}

function focusFirst() {
  const error = document.querySelector(".faults [data-error-for]");
  const field = error && document.getElementById(error.dataset.errorFor);
  const shown = field?.hidden ? field.parentElement.querySelector(".cm-content") : field;
  (shown ?? error)?.scrollIntoView({ block: "center" });
  shown?.focus({ preventScroll: true });
}

document.addEventListener("htmx:after:swap", (event) => {
  mark();
  if (event.target.matches?.("#editor, [data-run-test]")) markSteps();
  if (event.target.matches?.("[data-run-test]")) document.querySelector("[data-refused-save]")?.remove(); // faults are newer
  if (event.target.id === "editor") focusFirst();
});
markSteps();
