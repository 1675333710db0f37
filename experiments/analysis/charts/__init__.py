"""The charts of pages: dataclasses in, a Chart out. One file a page."""
