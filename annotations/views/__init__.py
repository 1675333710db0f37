"""Pages of human review."""
