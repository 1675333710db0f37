// Menus are <details data-menu>: they open by themselves. This closes them again and walks them with the arrow keys.
const open = () => document.querySelector("details[data-menu][open]");
const items = (menu) => [...menu.querySelectorAll(".menu :is(a, button):not([disabled])")];

function close(menu, { refocus }) {
  menu.open = false;
  if (refocus) menu.querySelector("summary").focus();
}

function step(menu, by) {
  const all = items(menu);
  const at = all.indexOf(document.activeElement);
  const next = at < 0 ? (by > 0 ? 0 : all.length - 1) : (at + by + all.length) % all.length;
  all[next]?.focus();
}

document.addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll("details[data-menu][open]")) {
    const inside = menu.contains(event.target);
    if (!inside || event.target.closest(".menu button[data-show-keys]")) close(menu, { refocus: false });
  }
});

document.addEventListener("focusout", (event) => {
  const menu = event.target.closest("details[data-menu][open]");
  if (menu && event.relatedTarget && !menu.contains(event.relatedTarget)) close(menu, { refocus: false });
});

document.addEventListener("keydown", (event) => {
  const focused = document.activeElement.closest("details[data-menu]");
  if (event.key === "Escape" && open()) {
    close(open(), { refocus: true });
    event.stopImmediatePropagation();
  } else if (focused && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
    event.preventDefault();
    focused.open = true;
    step(focused, event.key === "ArrowDown" ? 1 : -1);
  }
});

// On a narrow window the places scroll sideways; the current one should be seen.
const strip = document.querySelector(".nav");
const current = strip?.querySelector("[aria-current]");
if (current) strip.scrollLeft = current.offsetLeft - (strip.clientWidth - current.offsetWidth) / 2;
