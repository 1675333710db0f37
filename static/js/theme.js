// Loaded before the first paint, so that a chosen theme never flashes. Without a choice the system's theme holds.
(() => {
  const root = document.documentElement;
  const read = () => {
    try {
      return localStorage.getItem("theme");
    } catch {
      return null;
    }
  };
  const keep = (theme) => {
    try {
      localStorage.setItem("theme", theme);
    } catch {
      /* Storage is off: the choice lasts for this page. */
    }
  };
  const chosen = new URLSearchParams(location.search).get("theme") || read();
  if (chosen === "light" || chosen === "dark") root.dataset.theme = chosen;
  addEventListener("click", (event) => {
    if (!event.target.closest("[data-toggle-theme]")) return;
    const dark = root.dataset.theme
      ? root.dataset.theme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    keep(root.dataset.theme);
  });
})();
