"""Models as things to keep: one plain object with all that belongs to it, and its files."""
