"""Data sets, experiments, runs and results of a project over REST."""
