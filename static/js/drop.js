// A file can be dropped on .drop[data-drop]; its name is shown in [data-drop-name]. The file field inside does the rest.
const zoneOf = (event) => event.target.closest?.("[data-drop]");
const fieldOf = (zone) => zone.querySelector("input[type=file]");

for (const name of ["dragover", "dragleave", "drop"]) {
  document.addEventListener(name, (event) => {
    const zone = zoneOf(event);
    if (!zone) return;
    event.preventDefault();
    zone.classList.toggle("is-over", name === "dragover");
    if (name !== "drop" || !event.dataTransfer.files.length) return;
    fieldOf(zone).files = event.dataTransfer.files;
    fieldOf(zone).dispatchEvent(new Event("change", { bubbles: true }));
  });
}

document.addEventListener("change", (event) => {
  const label = zoneOf(event)?.querySelector("[data-drop-name]");
  const file = event.target.files?.[0];
  if (label && file) label.textContent = `${file.name}, ${(file.size / 1e6).toFixed(file.size < 1e5 ? 3 : 1)} MB`;
});
