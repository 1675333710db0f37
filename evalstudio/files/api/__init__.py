"""The files of a project over REST."""
