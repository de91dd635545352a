"""The table of real data in docs/cli.md: every command gives the accuracy that stands there.

The files are found in ../shared/data or NOVIKOFF_DATA. The suite runs the quick ones, `make real-data` all.
"""

import json
import os
import re
import shlex

import pytest

from support.commands import run
from support.places import DATA, ROOT

SLOW = {"covtype", "kdd99", "newsgroups"}
FILES = {
    "a9a": ("libsvm/a9a.xz", "libsvm/a9a.t.xz"),
    "w8a": ("libsvm/w8a.xz", None),
    "ijcnn1": ("libsvm/ijcnn1.trn.bz2", "libsvm/ijcnn1.tst.bz2"),
    "mushrooms": ("libsvm/mushrooms.txt.xz", None),
    "phishing": ("libsvm/phishing.txt.xz", None),
    "covtype": ("covtype/covtype.csv.gz", None),
    "kdd99": ("kdd99/kddcup.data_10_percent.gz", None),
    "adult": ("adult/adult.data.gz", "adult/adult.test.gz"),
    "sms_spam": ("sms_spam/SMSSpamCollection.gz", None),
    "newsgroups": ("newsgroups/20newsgroups-train.tab.gz", "newsgroups/20newsgroups-test.tab.gz"),
}
GUIDE = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
TABLE = re.findall(r"^\| ([^|]+) \| (`--[^|]+|none) \| ([\d.]+) % \((test|training)", GUIDE, flags=re.M)


def test_the_table_is_found():
    assert {row[0].split(",")[0] for row in TABLE} == set(FILES)


@pytest.mark.parametrize(("title", "options", "accuracy", "where"), TABLE, ids=[row[0] for row in TABLE])
def test_accuracy(tmp_path, title, options, accuracy, where):
    name = title.split(",")[0]
    train, test = (None if file is None else DATA / file for file in FILES[name])
    if not train.exists():
        pytest.skip("the data are not at hand")
    if name in SLOW and "NOVIKOFF_REAL_DATA" not in os.environ:
        pytest.skip("takes long: make real-data")
    if "the same" in options:  # as the row before, and one more
        options += next(row[1] for row in TABLE if row[0].startswith(f"{name},"))
    given = [part for code in re.findall(r"`([^`]+)`", options) for part in shlex.split(code)]
    model = tmp_path / "m.novikoff"
    run("fit", train, *given, "--model", model, "--quiet")
    more = []
    if name == "adult":  # what the guide says about its test file
        (line,) = re.findall(r"`novikoff evaluate adult.novikoff adult.test.gz ([^`]+)`", GUIDE)
        more = shlex.split(line)
    assert (where == "test") == (test is not None)
    found = json.loads(run("evaluate", model, test or train, *more, "--json").stdout)
    assert f"{100 * found['accuracy']:.2f}" == f"{float(accuracy):.2f}"
