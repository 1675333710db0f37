"""Pages of data sets, experiments, results and runs."""
