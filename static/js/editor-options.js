// Rows that repeat (the options of a scale, variables, images): [data-options] holds rows [data-option], a template of
// one and a button that adds it. Adding and removing work in place here; without JavaScript they submit the form.
const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

const rowsOf = (options) => [...options.querySelectorAll("[data-option]")];
const placeOf = (options) => options.querySelector("tbody, [data-rows]");

/** Give the rows their letters or numbers, ids and button values again, in the order in which they stand. */
function renumber(options) {
  const lettered = Boolean(options.querySelector("tbody"));
  rowsOf(options).forEach((row, index) => {
    const sign = lettered ? (letters[index] ?? "") : String(index + 1);
    for (const place of row.querySelectorAll("[data-letter]")) place.textContent = sign;
    for (const name of ["id", "for", "aria-describedby", "value"]) {
      for (const element of row.querySelectorAll(name === "value" ? "[data-remove-option]" : `[${name}]`)) {
        element.setAttribute(name, element.getAttribute(name).replace(/\d+$/, String(index)));
      }
    }
    const remove = row.querySelector("[data-remove-option]");
    remove.setAttribute("aria-label", remove.getAttribute("aria-label").replace(/(?<= )\S*$/, sign));
  });
  if (lettered) options.querySelector("[data-add-option]").disabled = rowsOf(options).length >= letters.length;
}

const changed = (options) => options.dispatchEvent(new Event("input", { bubbles: true }));

function add(options) {
  const row = options.querySelector("template[data-option-row]").content.cloneNode(true);
  placeOf(options).append(row);
  renumber(options);
  placeOf(options).lastElementChild.querySelector("input").focus();
  changed(options);
}

function remove(row) {
  const options = row.closest("[data-options]");
  const next = row.nextElementSibling ?? row.previousElementSibling;
  row.remove();
  renumber(options);
  (next?.querySelector("input") ?? options.querySelector("[data-add-option]")).focus();
  changed(options);
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-add-option], [data-remove-option]");
  const options = button?.closest("[data-options]");
  if (!options) return;
  event.preventDefault();
  if (button.matches("[data-add-option]")) add(options);
  else remove(button.closest("[data-option]"));
});
document.addEventListener("input", ({ target }) => {
  if (!target.matches("[data-scale-choice]")) return;
  for (const shown of document.querySelectorAll("[data-scale]")) shown.hidden = shown.dataset.scale !== target.value;
});
