"""Where examples come from: files of every format as blocks of rows. `formats.open_source` opens them."""

from novikoff.lazy import attach

attach(__name__)
