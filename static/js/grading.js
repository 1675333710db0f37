// The grading screen. The next item stands ready in #g-following: a submitted grade is put into an outbox on this
// device, the next item is shown at once, and the outbox is sent in the background, again after a lost connection.
// Each answer of the server brings the item after the next. Keys: digits and A, B, E choose, or type the number that is
// asked for, Enter submits, J and K walk, the others are pressed by keys.js.
const frame = document.querySelector("[data-grading]");
const stage = document.getElementById("g-stage");
const following = document.getElementById("g-following");
const notice = document.getElementById("g-offline");
const outboxKey = `grades-${frame.dataset.person}-${frame.dataset.queue}`; // others may sign in on this device
const draftKey = (item) => `grade-draft-${frame.dataset.person}-${item}`;
const behind = frame.dataset.behind.split(" ").filter(Boolean); // items graded, the latest last; each keeps its place
let shownAt = performance.now();
let sending = null; // the promise of a sending under way
let drafting;

const unstored = new Map(); // what this device has no room for, as long as the page is open
const store = {
  read(key, otherwise) {
    if (unstored.has(key)) return unstored.get(key);
    try {
      return JSON.parse(localStorage.getItem(key)) ?? otherwise;
    } catch {
      return otherwise;
    }
  },
  write(key, value) {
    try {
      if (value === null) localStorage.removeItem(key);
      else localStorage.setItem(key, JSON.stringify(value));
      unstored.delete(key);
    } catch {
      unstored.set(key, value);
    }
  },
};

const article = () => stage.querySelector("[data-item]");
const waiting = () => following.querySelector("[data-item]");
const isOpen = (item) => Boolean(item) && !item.hasAttribute("data-done"); // not gone back to
const form = () => stage.querySelector("form.g-dec");
const headers = () => ({ "X-CSRFToken": document.querySelector("[name=csrfmiddlewaretoken]").value, "HX-Request": "true" });
const say = (text) => document.dispatchEvent(new CustomEvent("toast", { detail: { text, level: "error" } }));
const fragment = (html) => new DOMParser().parseFromString(html, "text/html").body;

// --- What is on the screen ---
function show(element, { focus = true } = {}) {
  stage.replaceChildren(element);
  shownAt = performance.now();
  restoreDraft();
  markActive();
  if (focus) article()?.querySelector("h2").focus({ preventScroll: true });
  scrollTo({ top: 0 });
}

function showNone() {
  const none = document.getElementById("g-none");
  if (none) show(none.content.cloneNode(true), { focus: false });
}

function restoreDraft() {
  const draft = article() && store.read(draftKey(article().dataset.item), null);
  if (!draft || article().querySelector(".fault")) return;
  for (const [name, value] of Object.entries(draft)) {
    const field = form().elements[name];
    if (field) field.value = value;
  }
}

// The keys of options belong to the first question without an answer, or else to the last one.
function markActive() {
  const questions = [...(form()?.querySelectorAll("[data-question]") ?? [])];
  const open = questions.find((question) => !answered(question)) ?? questions.at(-1);
  for (const question of questions) question.toggleAttribute("data-active", question === open);
  return open;
}

const answered = (question) => {
  const text = question.querySelector("input[type=text]");
  return text ? text.value.trim() !== "" : question.querySelector("input:checked") !== null;
};

// --- Sending ---
function submit(act) {
  clearTimeout(drafting);
  const sent = form();
  const item = article().dataset.item;
  const questions = [...sent.querySelectorAll("[data-question]")];
  const missing = act === "submit" && questions.find((question) => !answered(question));
  if (missing) {
    missing.querySelector("input").focus();
    say("Choose one first, or say that you cannot judge it.");
    return;
  }
  const said = Object.fromEntries(new FormData(sent));
  delete said.csrfmiddlewaretoken;
  said.do = act;
  said.seconds = ((performance.now() - shownAt) / 1000).toFixed(1);
  const id = `${item}-${Date.now()}`;
  store.write(outboxKey, [...store.read(outboxKey, []), { id, url: sent.action, item, said }]);
  store.write(draftKey(item), null);
  if (act !== "skip" && !behind.includes(item)) behind.push(item);
  const next = waiting();
  if (next) show(next);
  else stage.setAttribute("aria-busy", "true");
  send();
}

const send = () => (sending ??= empty().finally(() => (sending = null)));

async function empty() {
  try {
    for (let outbox = store.read(outboxKey, []); outbox.length; outbox = store.read(outboxKey, [])) {
      const [first] = outbox;
      const body = new URLSearchParams({ ...first.said, shown: article()?.dataset.item ?? "" });
      const reply = await fetch(first.url, { method: "POST", body, headers: headers(), redirect: "manual" });
      if (reply.status >= 500 || reply.status === 429) throw new Error(`status ${reply.status}`);
      if (isRefused(reply)) {
        tellRefused();
        return;
      }
      store.write(outboxKey, store.read(outboxKey, []).filter((one) => one.id !== first.id)); // another tab sends, too
      await arrived(reply, first);
    }
    tellWaiting(0);
  } catch {
    const left = store.read(outboxKey, []).length;
    tellWaiting(left);
    if (left) setTimeout(send, 4000);
  } finally {
    stage.removeAttribute("aria-busy");
  }
}

async function arrived(reply, sent) {
  if (reply.status === 422) {
    show(fragment(await reply.text()).firstElementChild);
    return;
  }
  if (!reply.ok) {
    say("This item is no longer there; its grade was not kept.");
    return;
  }
  const got = fragment(await reply.text());
  document.getElementById("g-progress").replaceChildren(...got.querySelector("#g-progress").childNodes);
  const next = got.querySelector("#g-following").firstElementChild;
  if (article() && article().dataset.item !== sent.item) following.replaceChildren(...(next ? [next] : []));
  else if (next) show(next);
  else showNone();
}

// Who has been signed out is led to the door; a page from before they signed in again holds a token that is no longer good.
const isRefused = (reply) => reply.type === "opaqueredirect" || reply.status === 401 || reply.status === 403;

function tellWaiting(count) {
  const grades = count === 1 ? "1 grade waits" : `${count} grades wait`;
  tell(count, `${grades} for the connection, kept on this device. Go on if you like.`);
}

function tellRefused() {
  const count = store.read(outboxKey, []).length;
  const grades = count === 1 ? "1 grade is" : `${count} grades are`;
  tell(count, `The server takes no grades from this page now. Sign in again and reload it: ${grades} kept on this device.`);
}

function tell(count, text) {
  notice.hidden = !count;
  notice.querySelector("span").textContent = text;
}

// What was done last must have arrived, or else the server would take back, or bring, what was done before.
async function bring(url, options) {
  await send();
  if (store.read(outboxKey, []).length) return say("The last grade is still on its way.");
  const reply = await fetch(url, { headers: headers(), redirect: "manual", ...options }).catch(() => null);
  if (!reply?.ok) return say("The server cannot be reached, or the item is gone.");
  if (reply.status === 204) return say("There is nothing to undo.");
  const brought = fragment(await reply.text()).firstElementChild;
  const current = article();
  if (isOpen(current) && current.dataset.item !== brought.dataset.item) following.replaceChildren(current);
  show(brought);
}

// --- Drafts ---
stage.addEventListener("input", () => {
  const typed = form();
  const said = Object.fromEntries([...new FormData(typed)].filter(([name]) => /^(grade-|comment$)/.test(name)));
  store.write(draftKey(article().dataset.item), said);
  markActive();
  clearTimeout(drafting);
  drafting = setTimeout(async () => {
    const kept = typed.querySelector("[data-kept]");
    const sent = { method: "POST", body: new URLSearchParams(said), headers: headers(), redirect: "manual" };
    const reply = await fetch(typed.dataset.draftUrl, sent).catch(() => null);
    if (!kept.isConnected) return;
    kept.textContent = reply?.ok ? await reply.text() : "Draft kept on this device";
  }, 800);
});

// --- Hands ---
stage.addEventListener("submit", (event) => {
  event.preventDefault();
  const button = event.submitter;
  if (button?.hasAttribute("data-undo")) bring(button.formAction, { method: "POST" });
  else submit(button?.value || "submit");
});

stage.addEventListener("click", (event) => {
  const again = event.target.closest("[data-again]");
  if (again) take(again);
  if (event.target.closest("[data-next]")) forward();
  if (event.target.closest("[data-previous]")) back();
});

function take(again) {
  const question = again.closest("[data-question]");
  for (const input of question.querySelectorAll("input")) {
    if (input.type === "text") input.value = again.dataset.again;
    else input.checked = input.value === again.dataset.again;
  }
  question.dispatchEvent(new Event("input", { bubbles: true }));
}

function forward() {
  const next = waiting();
  if (!next) return;
  const current = article();
  show(next);
  following.replaceChildren(...(isOpen(current) ? [current] : []));
}

function back() {
  const at = article() ? behind.indexOf(article().dataset.item) : -1;
  const before = at === -1 ? behind.at(-1) : behind[at - 1];
  if (before) bring(`${frame.dataset.page}?item=${before}`);
}

// What was graded before a reload and has not arrived yet.
for (const { item, said } of store.read(outboxKey, [])) {
  if (said.do !== "skip" && !behind.includes(item)) behind.push(item);
}

const typing = (element) => element.matches("textarea, select, input[type=text]");

document.addEventListener(
  "keydown",
  (event) => {
    if (event.altKey || event.metaKey || document.querySelector("dialog[open]:modal") || !article()) return;
    if (event.key === "Enter") {
      const rests = event.target.matches("textarea") ? !event.ctrlKey : event.target.matches("a, button, summary, select");
      if (!rests) {
        event.preventDefault();
        submit("submit");
      }
      return;
    }
    if (event.key === "Escape" && typing(event.target)) event.target.blur();
    if (event.ctrlKey || typing(event.target)) return;
    const key = event.key.toLowerCase();
    const question = markActive();
    const number = question?.querySelector("input[type=text]");
    if (number && /^[\d.,-]$/.test(key)) {
      number.select(); // and the key types into it
      event.stopImmediatePropagation();
      return;
    }
    const choice = question?.querySelector(`[data-choice="${CSS.escape(key)}"] input`);
    if (choice) choice.click();
    else if (key === "j") forward();
    else if (key === "k") back();
    else if (key === "c") form().elements.comment.focus();
    else return;
    event.preventDefault();
    event.stopImmediatePropagation();
  },
  { capture: true },
);

addEventListener("online", send);
restoreDraft();
markActive();
send();
