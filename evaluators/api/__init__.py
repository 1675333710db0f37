"""The evaluators of a project over REST."""
