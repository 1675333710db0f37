"""The connections of a project over REST."""
