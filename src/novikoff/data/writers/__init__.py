"""Writers of rows to files of any format; a file is written completely or not at all."""

from novikoff.lazy import attach

attach(__name__)
