"""Pages of accounts and projects."""
