// Keeps what is typed: posts a form[data-draft-url] a moment after each edit and says when in [data-draft-note].
// The answer may be a plain sentence about the draft ("Prompt and 2 options differ from v7."), shown before the time.
// Its header Draft-Kept is the time of the draft, or "none" where nothing differs any more; the form sends the time that
// it knows as `kept_at`, and 409 says that another page kept something since, which this one may only replace knowingly.
const PAUSE = 1200;
const timers = new WeakMap();
const latest = new WeakMap();

const note = (form) => document.querySelector(form.dataset.draftNote || "[data-draft-note]");
const clock = () => new Date().toLocaleTimeString("en-GB");

function say(form, text) {
  const place = note(form);
  if (place) place.textContent = text;
}

function typedIn(form) {
  const body = new FormData(form);
  if ("keptAt" in form.dataset) body.set("kept_at", form.dataset.keptAt);
  return body;
}

function remember(form, keptAt) {
  if (!keptAt) return;
  form.dataset.keptAt = keptAt === "none" ? "" : keptAt;
  form.dispatchEvent(new CustomEvent("draft", { bubbles: true, detail: { differs: keptAt !== "none" } }));
}

function sentence(status, text, keptAt) {
  const plain = text.length < 300 && !text.includes("<") ? text : "";
  if (status === 409) return plain;
  if (status >= 300) return "The draft could not be kept.";
  return keptAt === "none" ? plain : `${plain} Draft kept at ${clock()}.`.trim();
}

async function keep(form) {
  clearTimeout(timers.get(form));
  timers.delete(form);
  const turn = Symbol("draft");
  latest.set(form, turn);
  try {
    const answer = await fetch(form.dataset.draftUrl, { method: "POST", body: typedIn(form), keepalive: true });
    const [text, keptAt] = [(await answer.text()).trim(), answer.headers.get("Draft-Kept")];
    remember(form, keptAt);
    if (latest.get(form) === turn) say(form, sentence(answer.status, text, keptAt)); // else a later edit is on its way
  } catch {
    say(form, "The draft could not be kept.");
  }
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
