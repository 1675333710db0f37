"""Pure numbers: estimates with their intervals. No Django; closed forms work on a handful of sums, in plain Python.

What works on arrays imports numpy inside its functions, so that importing these modules costs nothing.
"""
