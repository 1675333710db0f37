// A connection serves more models than its default one: "Another model on …" opens a field for its name.
const select = document.querySelector("select[data-models]");

function another(id, connection) {
  const option = new Option(`Another model on ${connection} …`, `${id}:`);
  option.dataset.connection = connection;
  return option;
}

function ask(option) {
  const field = document.createElement("input");
  field.type = "text";
  field.maxLength = 200;
  field.setAttribute("aria-label", `Name of the model on ${option.dataset.connection}`);
  field.placeholder = "Name of the model";
  field.addEventListener("input", () => {
    const id = option.value.slice(0, option.value.indexOf(":"));
    option.value = `${id}:${field.value.trim()}`;
  });
  select.after(field);
  field.focus();
  return field;
}

if (select) {
  const names = new Map();
  for (const { value, text } of select.options) {
    const id = value.slice(0, value.indexOf(":"));
    if (id) names.set(id, text.slice(text.lastIndexOf(" · ") + 3));
  }
  for (const [id, connection] of names) select.append(another(id, connection));
  let field;
  select.addEventListener("input", () => {
    field?.remove();
    field = null;
    const option = select.selectedOptions[0];
    if (option.dataset.connection) field = ask(option);
  });
}
