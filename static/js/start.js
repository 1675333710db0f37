// The last script that all pages share. By itself htmx begins with a timer, which may come after the first key or click:
// these would be lost. Begun here, a page that has loaded listens.
htmx.initialize();
