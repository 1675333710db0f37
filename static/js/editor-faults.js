// After a test or a refused save: fields with a fault are marked as invalid, the others are not, and after a refused
// save the first wrong one has the focus.
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

function focusFirst() {
  const error = document.querySelector(".faults [data-error-for]");
  const field = error && document.getElementById(error.dataset.errorFor);
  const shown = field?.hidden ? field.parentElement.querySelector(".cm-content") : field;
  (shown ?? error)?.scrollIntoView({ block: "center" });
  shown?.focus({ preventScroll: true });
}

document.addEventListener("htmx:after:swap", (event) => {
  mark();
  if (event.target.id === "editor") focusFirst();
});
