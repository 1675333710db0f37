// What an answer to htmx means to a person. A followed redirect is a new page. An error page is never swapped into
// a part of this one: a toast says what happened and what was typed stays. 422 is a form with its errors: swapped.
const say = (text) => document.dispatchEvent(new CustomEvent("toast", { detail: { text, level: "error" } }));

const sentences = {
  400: "The server did not understand this request. Load the page again and repeat the last step.",
  403: "You may not do this, or the page was open for too long. Load it again and repeat the last step.",
  404: "This is not there any more.",
  413: "That is too large to send.",
  429: "Too many requests at once. Wait a moment and repeat the last step.",
};

document.addEventListener("htmx:before:response", (event) => {
  const { raw, status } = event.detail.ctx.response;
  if (raw.redirected) {
    event.preventDefault();
    location.assign(raw.url);
  } else if (status >= 400 && status !== 422) {
    event.preventDefault();
    say(sentences[status] ?? "The server failed at this, and its log says why. Nothing you typed is lost.");
  }
});

document.addEventListener("htmx:error", () => {
  say("The server cannot be reached. Nothing you typed is lost; repeat the last step when it is back.");
});
