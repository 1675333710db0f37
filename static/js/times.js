// Keeps "12 min ago" true while a page stays open. Older than a day, the server's words stay.
const MINUTE = 60_000;

function words(age) {
  if (age < MINUTE) return "just now";
  if (age < 60 * MINUTE) return `${Math.floor(age / MINUTE)}\u00a0min ago`;
  return `${Math.floor(age / (60 * MINUTE))}\u00a0h ago`;
}

setInterval(() => {
  for (const time of document.querySelectorAll('time[data-time="ago"]')) {
    const age = Date.now() - Date.parse(time.dateTime);
    if (age < 24 * 60 * MINUTE) time.textContent = words(age);
  }
}, 30_000);
