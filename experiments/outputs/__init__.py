"""Outputs of systems, as pipelines send them."""
