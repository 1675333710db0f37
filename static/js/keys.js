// Keys: "/" finds, "?" shows all keys, J and K walk the rows of a [data-list], a [data-key] is pressed by its own key
// ("e"; "mod+s" is Ctrl or Cmd with S and works inside fields too). Other keys rest while somebody types.
const typing = (element) =>
  element.isContentEditable ||
  element.matches("textarea, select, input:not([type=checkbox], [type=radio], [type=button])");

const rows = () => [...document.querySelectorAll("[data-list] [data-row]")].filter((row) => row.offsetParent);
const linkOf = (row) => row.querySelector("a[href]");

function walk(by) {
  const all = rows();
  if (!all.length) return;
  const at = all.findIndex((row) => row.contains(document.activeElement) || row.classList.contains("is-open"));
  const next = all[at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, at + by))];
  const link = linkOf(next);
  link?.focus({ preventScroll: true });
  next.scrollIntoView({ block: "nearest" });
  if (document.querySelector("#peek:not([hidden])") && link?.dataset.peekUrl) link.click();
}

function showKeys() {
  const dialog = document.getElementById("keys");
  const extra = dialog.querySelector("[data-page-keys]");
  extra.replaceChildren();
  for (const element of document.querySelectorAll("[data-key]")) {
    if (!element.offsetParent) continue;
    const row = dialog.querySelector("template").content.cloneNode(true);
    row.querySelector("kbd").textContent = element.dataset.key.replace("mod+", "Ctrl ").toUpperCase();
    row.querySelector("dd").textContent = labelOf(element);
    extra.append(row);
  }
  dialog.showModal();
}

function labelOf(element) {
  const copy = element.cloneNode(true);
  copy.querySelectorAll("kbd").forEach((key) => key.remove());
  return element.getAttribute("aria-label") ?? copy.textContent.trim();
}

function press(key) {
  const element = [...document.querySelectorAll(`[data-key="${CSS.escape(key)}"]`)].find((each) => each.offsetParent);
  if (!element) return false;
  element.click();
  return true;
}

function plainKey(event) {
  switch (event.key) {
    case "/": {
      const find = document.querySelector("[data-find]");
      find?.focus();
      find?.select?.();
      return Boolean(find);
    }
    case "?":
      showKeys();
      return true;
    case "j":
    case "k":
      walk(event.key === "j" ? 1 : -1);
      return true;
    default:
      return event.key.length === 1 && press(event.key.toLowerCase());
  }
}

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.altKey || document.querySelector("dialog[open]:modal")) return;
  const handled =
    event.ctrlKey || event.metaKey ? press(`mod+${event.key.toLowerCase()}`) : !typing(event.target) && plainKey(event);
  if (handled) event.preventDefault();
});

document.addEventListener("click", (event) => {
  if (event.target.closest("[data-show-keys]")) showKeys();
});
