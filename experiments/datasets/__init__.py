"""Datasets: their versions, and the files that fill them."""
