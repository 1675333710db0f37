// The kit's own: buttons that show a toast.
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-say]");
  if (button) document.dispatchEvent(new CustomEvent("toast", { detail: { text: button.dataset.say } }));
});
