// Asks before what cannot be undone: data-confirm (the question) on a form or on the button that submits it, with
// data-confirm-text (what will be lost) and data-confirm-action (the verb on the button).
const dialog = document.getElementById("confirm");
const confirmed = new WeakSet();

function ask(asker) {
  dialog.querySelector("#confirm-title").textContent = asker.dataset.confirm;
  dialog.querySelector("#confirm-text").textContent = asker.dataset.confirmText ?? "";
  dialog.querySelector("#confirm-yes").textContent = asker.dataset.confirmAction ?? "Go on";
  dialog.returnValue = "no";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true });
  });
}

document.addEventListener(
  "submit",
  async (event) => {
    const { target: form, submitter } = event;
    const asker = submitter?.dataset.confirm ? submitter : form.dataset.confirm ? form : null;
    if (!asker || confirmed.delete(form)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (!(await ask(asker))) return;
    confirmed.add(form);
    form.requestSubmit(submitter);
  },
  { capture: true },
);
