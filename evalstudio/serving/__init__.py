"""Web and background worker under one command: what is made ready, what is started, what is restarted."""
