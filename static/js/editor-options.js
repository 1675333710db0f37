// The rows of a scale: "Add option" and the crosses work in place here; without JavaScript they submit the form.
const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/** Give the rows their letters, ids and button values again, in the order in which they stand. */
function renumber(body) {
  [...body.querySelectorAll("[data-option]")].forEach((row, index) => {
    const letter = letters[index] ?? "";
    for (const place of row.querySelectorAll("[data-letter]")) place.textContent = letter;
    for (const name of ["id", "for", "aria-describedby"]) {
      for (const element of row.querySelectorAll(`[${name}]`)) {
        element.setAttribute(name, element.getAttribute(name).replace(/\d+$/, String(index)));
      }
    }
    const remove = row.querySelector("[data-remove-option]");
    remove.value = `remove-option:${index}`;
    remove.setAttribute("aria-label", `Remove option ${letter}`);
  });
  body.closest("[data-options]").querySelector("[data-add-option]").disabled = body.rows.length >= letters.length;
}

const changed = (body) => body.dispatchEvent(new Event("input", { bubbles: true }));

function add(options) {
  const body = options.querySelector("tbody");
  const row = options.querySelector("template[data-option-row]").content.cloneNode(true);
  body.append(row);
  renumber(body);
  body.lastElementChild.querySelector("input").focus();
  changed(body);
}

function remove(row) {
  const body = row.parentElement;
  const next = row.nextElementSibling ?? row.previousElementSibling;
  row.remove();
  renumber(body);
  (next?.querySelector("input") ?? body.closest("[data-options]").querySelector("[data-add-option]")).focus();
  changed(body);
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-add-option], [data-remove-option]");
  const options = button?.closest("[data-options]");
  if (!options) return;
  event.preventDefault();
  if (button.matches("[data-add-option]")) add(options);
  else remove(button.closest("[data-option]"));
});
