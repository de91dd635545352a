"""Checks of HTML."""

from __future__ import annotations

import html.parser


def check_nesting(page):
    """Every tag that is opened is closed, in the right order."""
    open_tags = []

    class Reader(html.parser.HTMLParser):
        def handle_starttag(self, tag, attrs):
            if tag not in ("meta", "img"):
                open_tags.append(tag)

        def handle_endtag(self, tag):
            assert open_tags.pop() == tag

    Reader().feed(page)
    assert not open_tags
