// Keeps what is typed: posts a form[data-draft-url] a moment after each edit and says when in [data-draft-note].
// The answer may be a plain sentence about the draft ("Prompt and 2 options differ from v7."), shown before the time.
const PAUSE = 1200;
const timers = new WeakMap();
const latest = new WeakMap();

const note = (form) => document.querySelector(form.dataset.draftNote || "[data-draft-note]");
const clock = () => new Date().toLocaleTimeString("en-GB");

function say(form, text) {
  const place = note(form);
  if (place) place.textContent = text;
}

async function keep(form) {
  clearTimeout(timers.get(form));
  timers.delete(form);
  const turn = Symbol("draft");
  latest.set(form, turn);
  const answer = await fetch(form.dataset.draftUrl, { method: "POST", body: new FormData(form), keepalive: true })
    .then(async (response) => ({ ok: response.ok, text: (await response.text()).trim() }))
    .catch(() => ({ ok: false, text: "" }));
  if (latest.get(form) !== turn) return; // a later edit is on its way
  const sentence = answer.ok && answer.text.length < 300 && !answer.text.includes("<") ? `${answer.text} ` : "";
  say(form, answer.ok ? `${sentence}Draft kept at ${clock()}.`.trim() : "The draft could not be kept.");
}

document.addEventListener("input", (event) => {
  const form = event.target.form ?? event.target.closest?.("form");
  if (!form?.dataset.draftUrl) return;
  clearTimeout(timers.get(form));
  timers.set(
    form,
    setTimeout(() => keep(form), PAUSE),
  );
});

addEventListener("pagehide", () => {
  for (const form of document.querySelectorAll("form[data-draft-url]")) if (timers.has(form)) keep(form);
});
