"""Pure numbers: estimates with their intervals. No Django, no numpy; everything works on a handful of sums."""
