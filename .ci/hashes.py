"""requirements.txt: the versions of constraints.txt with the hashes of their files, for `--require-hashes`.

All wheels of every version for Linux and CPython 3.11 or later are listed, so that the file serves every such
machine; where there is no wheel, the source is listed. The hashes come from the index that pip is configured
to use. pip's own code requests them (under internal names that may change, but the version of pip is also
pinned in constraints.txt); nothing is downloaded, and no address is written.

    python .ci/hashes.py            write requirements.txt
    python .ci/hashes.py --check    check that it has the versions of constraints.txt, each with hashes
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parents[1]
CONSTRAINTS, REQUIREMENTS = ROOT / "constraints.txt", ROOT / "requirements.txt"
HEAD = """\
# Every version of constraints.txt with the hashes of its files. Made by `make hashes`.
#   python -m pip install --require-hashes -r requirements.txt
#   python -m pip install --no-build-isolation --no-deps .
"""
PIN = re.compile(r"(?P<name>[\w.-]+)==(?P<version>[\w.!+]+)")
ENTRY = re.compile(r"(?P<pin>\S+==\S+)(?P<hashes>( \\\n    --hash=sha256:[0-9a-f]{64})+)\n")
OLDEST = 11  # minor version of CPython 3


def pins() -> dict[str, str]:
    """The version of each package."""
    found = [PIN.fullmatch(line) for line in CONSTRAINTS.read_text().splitlines()]
    return {match["name"]: match["version"] for match in found if match}


def serves(tags: Iterable[tuple[str, str, str]]) -> bool:
    """Whether a wheel with these tags (interpreter, ABI, platform) is for Linux and a supported CPython."""

    def one(interpreter: str, abi: str, platform: str) -> bool:
        version = re.fullmatch(r"cp3(\d+)", interpreter)
        right = interpreter.startswith("py3") or (
            version is not None
            and (abi == "abi3" or (int(version[1]) >= OLDEST and abi in ("none", interpreter)))
        )
        return right and (platform == "any" or "linux" in platform)

    return any(one(*tag) for tag in tags)


def hashes(name: str, version: str, links: Iterable[tuple[str, str]]) -> list[str]:
    """The hashes of the files of a version, from the names and hashes in `links`."""
    from pip._vendor.packaging.utils import (
        InvalidSdistFilename,
        InvalidWheelFilename,
        parse_sdist_filename,
        parse_wheel_filename,
    )
    from pip._vendor.packaging.version import InvalidVersion, Version

    wheels, sources = set(), set()
    for filename, digest in links:
        try:
            if filename.endswith(".whl"):
                _, is_of, _, tags = parse_wheel_filename(filename)
                if is_of == Version(version) and serves((t.interpreter, t.abi, t.platform) for t in tags):
                    wheels.add(digest)
            elif parse_sdist_filename(filename)[1] == Version(version):
                sources.add(digest)
        except (InvalidWheelFilename, InvalidSdistFilename, InvalidVersion):  # old file names
            continue
    if not wheels | sources:
        raise SystemExit(f"{name}=={version}: the index has no file for Linux with a hash")
    return sorted(wheels or sources)


def write() -> None:
    """Request the hashes and write the file."""
    from pip._internal.commands import create_command
    from pip._internal.index.collector import parse_links
    from pip._internal.models.link import Link

    command = create_command("download")
    options, _ = command.parse_args([])
    out = [HEAD]
    with command.main_context():
        session = command.get_default_session(options)
        finder = command._build_package_finder(options, session)
        for name, version in pins().items():
            pages = map(
                finder._link_collector.fetch_response,
                map(Link, finder.search_scope.get_index_urls_locations(name)),
            )
            links = [
                (link.filename, link.hash)
                for page in pages
                if page is not None
                for link in parse_links(page)
                if link.hash_name == "sha256"
            ]
            found = "".join(f" \\\n    --hash=sha256:{digest}" for digest in hashes(name, version, links))
            out.append(f"{name}=={version}{found}\n")
    REQUIREMENTS.write_text("".join(out))


def problems() -> list[str]:
    """The differences between requirements.txt and constraints.txt."""
    text = REQUIREMENTS.read_text()
    if not text.startswith(HEAD):
        return ["the first lines are not those that this program writes"]
    text = text.removeprefix(HEAD)
    entries = [match["pin"] for match in ENTRY.finditer(text)]
    wrong = [f"not a version with its hashes: {line}" for line in ENTRY.sub("", text).splitlines()]
    expected = [f"{name}=={version}" for name, version in pins().items()]
    wrong += [f"missing: {pin}" for pin in expected if pin not in entries]
    wrong += [f"not in constraints.txt: {pin}" for pin in entries if pin not in expected]
    return wrong + [f"twice: {pin}" for pin in {*entries} if entries.count(pin) > 1]


if __name__ == "__main__":
    if sys.argv[1:] != ["--check"]:
        write()
    if wrong := problems():
        sys.exit("\n".join(["requirements.txt does not agree with constraints.txt:", *wrong]))
