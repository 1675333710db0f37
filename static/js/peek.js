// Peek: a[data-peek-url] opens that fragment in #peek beside its list; the link's own address becomes the page's, so
// the view can be shared, and without JavaScript the link simply opens the page with its peek.
const NARROW = matchMedia("(max-width: 1199px)");
const panel = () => document.getElementById("peek");
let opener = null;

const peekOf = (place) => place && new URL(place.href).searchParams.get("peek");

function markRow(shown) {
  for (const row of document.querySelectorAll("[data-row]")) {
    const link = row.querySelector("a[data-peek-url]");
    const here = Boolean(link) && peekOf(link) === peekOf(shown);
    row.classList.toggle("is-open", here);
    if (here) link.setAttribute("aria-current", "true");
    else link?.removeAttribute("aria-current");
  }
}

// Under the panel on a small screen nothing can be reached, so nothing there may take the focus either.
function settle() {
  const peek = panel();
  if (!peek) return;
  for (const other of peek.parentElement.children) if (other !== peek) other.inert = !peek.hidden && NARROW.matches;
}

function open(link) {
  const walking = !panel().hidden;
  opener = link;
  markRow(link);
  htmx.ajax("GET", link.dataset.peekUrl, {
    source: link,
    target: "#peek",
    swap: "innerHTML",
    [walking ? "replace" : "push"]: link.href,
  });
}

function close() {
  const peek = panel();
  const url = new URL(location.href);
  url.searchParams.delete("peek");
  history.replaceState(history.state, "", url);
  peek.hidden = true;
  peek.replaceChildren();
  settle();
  markRow(null);
  const back = opener?.isConnected ? opener : document.querySelector("[data-row] a[data-peek-url]");
  back?.focus();
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-peek-url]");
  if (link && panel() && !event.ctrlKey && !event.metaKey && !event.shiftKey && event.button === 0) {
    event.preventDefault();
    open(link);
  } else if (event.target.closest("[data-peek-close]") && panel()) {
    event.preventDefault();
    close();
  }
});

function arrived() {
  if (opener) markRow(opener); // the list may have come anew while the page's address was still the former one's
  const inside = opener?.isConnected && panel().contains(opener);
  panel().hidden = false;
  panel().scrollTop = 0;
  if (!inside) panel().querySelector("h2")?.focus({ preventScroll: true });
}

document.addEventListener("htmx:after:swap", (event) => {
  if (!panel()) return;
  if (event.detail.ctx.target === panel()) arrived();
  else if (!panel().hidden) markRow(location); // the list came anew
  settle();
});

document.addEventListener("keydown", (event) => {
  const shown = panel() && !panel().hidden;
  if (event.key !== "Escape" || !shown || document.querySelector("dialog[open]:modal, details[data-menu][open]"))
    return;
  if (event.target.closest(".cm-editor, textarea, input")) return;
  close();
});

NARROW.addEventListener("change", settle);
settle();
