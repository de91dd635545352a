"""The kinds of input, each a module of that name."""

KINDS = (
    "layouts",
    "natives",
    "texts",
    "tables",
    "caches",
    "models",
    "checkpoints",
    "certificates",
    "taggers",
    "threads",
)
BY_NAME = ("sharing",)  # runs only where it is asked for: for the thread sanitizer
