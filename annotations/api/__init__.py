"""REST views of human review."""
