// button[data-copy="#id"] copies the text of that element and says so on itself.
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const source = document.querySelector(button.dataset.copy);
  await navigator.clipboard.writeText(source.value ?? source.textContent.trim());
  const word = button.querySelector("span") ?? button;
  const before = word.textContent;
  word.textContent = "Copied";
  setTimeout(() => (word.textContent = before), 1500);
});
