// [data-tabs] holds links to the ids of panels. Without JavaScript all panels stand below each other; with it they
// take turns, walk with the arrow keys, and keep their choice when htmx brings the same tabs again. With
// data-tabs="address" the open panel also stands in the address of the page, behind its "#".
const chosen = new Map();

const panelOf = (tab) => document.getElementById(tab.hash.slice(1));

function select(tabs, tab, { focus = false } = {}) {
  for (const each of tabs) {
    const here = each === tab;
    each.setAttribute("aria-selected", String(here));
    each.tabIndex = here ? 0 : -1;
    panelOf(each).hidden = !here;
  }
  const list = tab.closest("[data-tabs]");
  chosen.set(list.getAttribute("aria-label"), tab.hash);
  if (list.dataset.tabs === "address" && (location.hash || tab !== tabs[0])) history.replaceState(null, "", tab.hash);
  if (focus) tab.focus();
}

function enhance(list) {
  const tabs = [...list.querySelectorAll("a[href^='#']")].filter(panelOf);
  if (list.getAttribute("role") === "tablist" || !tabs.length) return;
  list.setAttribute("role", "tablist");
  for (const tab of tabs) {
    const panel = panelOf(tab);
    tab.id ||= `${panel.id}-tab`;
    tab.setAttribute("role", "tab");
    tab.setAttribute("aria-controls", panel.id);
    panel.setAttribute("role", "tabpanel");
    panel.setAttribute("aria-labelledby", tab.id);
    panel.tabIndex = 0;
  }
  const kept = list.dataset.tabs === "address" ? location.hash : chosen.get(list.getAttribute("aria-label"));
  select(tabs, tabs.find((tab) => tab.hash === kept) ?? tabs[0]);
}

const tabsOf = (target) => [...target.closest("[role=tablist]").querySelectorAll("[role=tab]")];

document.addEventListener("click", (event) => {
  const tab = event.target.closest("[role=tab]");
  if (!tab?.closest("[data-tabs]")) return;
  event.preventDefault();
  select(tabsOf(tab), tab);
});

document.addEventListener("keydown", (event) => {
  const tab = event.target.closest("[data-tabs] [role=tab]");
  const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!tab || !by) return;
  event.preventDefault();
  const tabs = tabsOf(tab);
  select(tabs, tabs[(tabs.indexOf(tab) + by + tabs.length) % tabs.length], { focus: true });
});

addEventListener("hashchange", () => {
  const tab = document.querySelector(`[data-tabs=address] [role=tab][href="#${CSS.escape(location.hash.slice(1))}"]`);
  if (tab) select(tabsOf(tab), tab);
});

const all = () => document.querySelectorAll("[data-tabs]").forEach(enhance);
document.addEventListener("htmx:after:swap", all);
all();
