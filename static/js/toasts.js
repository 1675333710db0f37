// Toasts: messages that came with the page or a fragment, and those of other scripts (a "toast" event with a text).
// They leave after a while, unless they report an error or somebody points at them.
const list = document.getElementById("toasts");
const patience = (toast) => (toast.querySelector("form") ? 15000 : 7000);

function dismissal(toast) {
  const button = document.getElementById("toast-close").content.cloneNode(true).firstElementChild;
  button.addEventListener("click", () => toast.remove());
  return button;
}

function prepare(toast) {
  if (toast.dataset.ready) return;
  toast.dataset.ready = "yes";
  toast.append(dismissal(toast));
  if (toast.dataset.toast === "error") return;
  let timer;
  const wait = () => (timer = setTimeout(() => toast.remove(), patience(toast)));
  const stay = () => clearTimeout(timer);
  for (const name of ["pointerenter", "focusin"]) toast.addEventListener(name, stay);
  for (const name of ["pointerleave", "focusout"]) toast.addEventListener(name, wait);
  wait();
}

function show({ text, level = "info" }) {
  for (const other of list.children) if (other.querySelector("span")?.textContent === text) other.remove();
  const kind = level === "error" ? "toast-bad" : "toast-good";
  const toast = document.getElementById(kind).content.cloneNode(true).firstElementChild;
  toast.querySelector("span").textContent = text;
  list.append(toast);
}

if (list) {
  new MutationObserver(() => [...list.children].forEach(prepare)).observe(list, { childList: true });
  [...list.children].forEach(prepare);
  document.addEventListener("toast", (event) => show(event.detail));
}
