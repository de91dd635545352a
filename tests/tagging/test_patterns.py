"""Regular expressions from model files: which are taken, and that those are matched in linear time.

A plain backtracking matcher, below, counts its tests of a character; nothing here looks at a clock.
"""

import itertools
import pickle
import random
import re
from re import _constants as sre
from re import _parser

import pytest
from sklearn.base import clone

from novikoff import SequenceTagger, Tagger, Templates, load_model
from novikoff.tagging import patterns, templates
from novikoff.tagging.features import TemplateFeatures
from novikoff.tagging.patterns import TESTS, refusal
from novikoff.tagging.readymade import READYMADE
from novikoff.tagging.tagger import PatternWarning
from support.commands import run

# Those of the documentation, and what people look for in words.
USUAL = [
    "-",
    "[0-9]",
    "-(.*)",
    "[0-9]+",
    "[0-9]{4}",
    "[aeiou]$",
    "^[A-Z]",
    "^[A-Z][a-z]+$",
    "^[A-Z]{2,}s?$",
    "(?:[A-Z]\\.)+",
    r"^\d{1,3}([.,]\d{3})*$",
    r"^\$?\d+(\.\d+)?%?$",
    r"(\d{1,2})[/-](\d{1,2})[/-](\d{2,4})",
    r"\d+(st|nd|rd|th)$",
    r"\w+(ing|ed|er|est|ly|ness|tion|able|s)$",
    r"^(https?://|www\.)\S+$",
    r"^[\w.+-]+@[\w-]+\.[\w.]+$",
    r"\b\w+-\w+\b",
    r"^[a-z]+-[a-z]+-[a-z]+$",
    r"^M{0,4}(CM|CD|D?C{0,3})(XC|XL|L?X{0,3})(IX|IV|V?I{0,3})$",
    r"^[:;=8][-~]?[)(DPp/|]$",
    r"^(Mr|Mrs|Dr|Prof)\.?$",
    r".*[0-9].*",
    r"\w*\d\w*",
    r"[A-Z].*[A-Z]",
    r"^.{1,3}$",
    r"\.\.\.|…",
    r"(?a)^\w+$",
    r"(?s)^.+$",
    r"^[^\W\d_]+?$",
]

REFUSED = {
    "((.?)+)+#": "can match nothing",
    "(a*)*b": "can match nothing",
    "(a|b?)+c": "can match nothing",
    "(^)*a": "can match nothing",
    "(a|a)*b": "ways of matching",
    "(x+x+)+y": "ways of matching",
    "([a-zA-Z]+)*1": "ways of matching",
    r"^(([a-z])+.)+[A-Z]([a-z])+$": "ways of matching",
    "a*a*b": "ways of matching",
    r"\w+\d+#": "ways of matching",
    "a?" * 20 + "a" * 20: "ways of matching",
    "(|||)(|||)(|||)(|||)$": "ways of matching",
    "(a|a)" * 7 + "$": "ways of matching",
    r"(.)\1": "back-reference",
    r"(a)?(?(1)b|c)": "condition",
    "(?<=a)b": "look-around",
    "a(?!b)": "look-around",
    "a*+b": "possessive",
    "(?>a*)b": "atomic",
    "(?i)mr": "lower",
    "(?i:mr)s": "lower",
    "a{1000}": "repeats written out",
    "(a{30}){30}": "repeats written out",
    "((((a{9}){9}){9}){9}){9}": "repeats written out",
    "(^){100000}": "repeats written out",
    "(){1000000}a": "repeats written out",
    "a" * 1001: "more than 1000 characters",
    "(" * 450 + "a" + ")" * 450: "nested too deeply",
    "".join(f"[{chr(98 + k)}-z]?" for k in range(24)) + "#": "",
}


@pytest.mark.parametrize("pattern", USUAL)
def test_usual_patterns_are_taken(pattern):
    assert refusal(pattern) is None


@pytest.mark.parametrize(("pattern", "why"), REFUSED.items(), ids=[p[:30] for p in REFUSED])
def test_what_is_refused_and_why(pattern, why):
    found = refusal(pattern)
    assert found is not None
    assert why in found


def test_ready_made_templates_are_taken_from_files():
    for text in READYMADE.values():
        loaded = Templates(text, trust_patterns=False)
        assert loaded.slow_patterns() == []


# ---- counting ----------------------------------------------------------------------------------------
class Counting:
    """Backtracking as `re` does it: alternatives from the left, repeats greedy or not; tests are counted."""

    def __init__(self, pattern):
        self.tree, self.one = _parser.parse(pattern), {}

    def match(self, text):
        """The end of the match at the text's beginning, or None."""
        self.text, self.tests = text, 0
        return self.sequence(list(self.tree), 0, lambda i: i)

    def sequence(self, items, i, then):
        if not items:
            return then(i)
        (op, value), rest = items[0], items[1:]

        def on(j):
            return self.sequence(rest, j, then) if rest else then(j)

        if op in (sre.LITERAL, sre.NOT_LITERAL, sre.ANY, sre.IN):
            self.tests += 1
            return on(i + 1) if i < len(self.text) and self.reads(op, value, self.text[i]) else None
        if op is sre.SUBPATTERN:
            return self.sequence(list(value[3]), i, on)
        if op is sre.BRANCH:
            found = (self.sequence(list(branch), i, on) for branch in value[1])
            return next((j for j in found if j is not None), None)
        if op is sre.AT:
            at_end = i == len(self.text) or (i == len(self.text) - 1 and self.text[i] == "\n")
            return on(i) if (i == 0 if value is sre.AT_BEGINNING else at_end) else None
        least, most, body = value
        return self.repeat(op is sre.MAX_REPEAT, least, most, list(body), i, on, 0)

    def repeat(self, greedy, least, most, body, i, then, count):
        def again():
            def next_one(j):
                return None if j == i and count >= least else self.repeat(*same, j, then, count + 1)

            same = greedy, least, most, body
            return self.sequence(body, i, next_one) if most is sre.MAXREPEAT or count < most else None

        if count < least:
            return again()
        if greedy:
            found = again()
            return then(i) if found is None else found
        found = then(i)
        return again() if found is None else found

    def reads(self, op, value, c):
        key = op, str(value)
        if key not in self.one:
            tree = _parser.parse("x")
            tree.data = [(op, value)]
            self.one[key] = re._compiler.compile(tree)
        return self.one[key].match(c) is not None


def random_pattern(rng, depth=3):
    kind = rng.randrange(10 if depth else 3)
    if kind < 3:
        return rng.choice(["a", "b", ".", "[ab]", "[^a]", "a", "b", r"\w"])
    if kind < 6:
        return "".join(random_pattern(rng, depth - 1) for _ in range(rng.randint(2, 3)))
    if kind < 7:
        return "(" + "|".join(random_pattern(rng, depth - 1) for _ in range(rng.randint(2, 3))) + ")"
    inner = random_pattern(rng, depth - 1)
    return f"(?:{inner})" + rng.choice(["*", "+", "?", "*?", "+?", "??", "{2}", "{1,3}", "{2,}"])


WORDS = ["".join(w) for n in range(1, 4) for w in itertools.product("ab#", repeat=n)]


def texts(rng):
    """Short ones, and some that a word makes long: what makes matchers slow is to be found there."""
    yield from rng.sample(WORDS, 12)
    for _ in range(12):
        yield rng.choice(WORDS) + rng.choice(WORDS) * rng.randint(5, 12) + rng.choice(["", "#", "b"])


def test_what_is_taken_is_matched_in_linear_time():
    """At most TESTS·(n + 1) tests from one beginning, and n + r for r repeats at the end; and it is `re`."""
    rng, taken, refused = random.Random(0), 0, 0
    while taken < 250:
        pattern = random_pattern(rng) + rng.choice(["", "#", "$", "c"])
        if refusal(pattern) is not None:
            refused += 1
            continue
        taken += 1
        counting = Counting(pattern)
        for text in texts(rng):
            found = re.match(pattern, text)
            assert counting.match(text) == (None if found is None else found.end()), (pattern, text)
            assert counting.tests <= TESTS * (len(text) + 1) + len(text) + 8, (pattern, text)
    assert refused > 40


@pytest.mark.parametrize(("pattern", "power"), [("a*a*#", 2), ("a*a*a*#", 3)])
def test_what_is_refused_is_not_linear(pattern, power):
    """So the criterion is no empty one: twice the text, four or eight times the tests."""
    counting, tests = Counting(pattern), []
    for n in (16, 32):
        assert counting.match("a" * n) is None
        tests.append(counting.tests)
    assert refusal(pattern) is not None
    assert tests[1] > 0.8 * 2**power * tests[0]


def test_the_issues_pattern_is_exponential():
    counting, tests = Counting("((.?)+)+#"), []
    for n in (4, 5, 6):
        counting.match("a" * n)
        tests.append(counting.tests)
    assert tests[2] > 1.9 * tests[1] > 1.9**2 * tests[0]


@pytest.mark.parametrize("category", [r"\d", r"\D", r"\s", r"\S", r"\w", r"\W", r"[^\W\d_x-z]", "[^a]", "."])
@pytest.mark.parametrize("flags", ["", "(?a)", "(?s)"])
def test_classes_are_those_of_re(category, flags):
    """Every hundredth character, and all of the first thousand."""
    writer = patterns._Writer()
    tree = _parser.parse(flags + category)
    writer.sequence(tree, tree.state.flags)
    (chars,) = writer.classes
    compiled = re.compile(flags + category)
    for code in [*range(1000), *range(1000, 0x110000, 97)]:
        inside = sum(at <= code for at in chars) % 2 == 1
        assert inside == (compiled.match(chr(code)) is not None)


# ---- files -------------------------------------------------------------------------------------------
SLOW = "((.?)+)+#"
LINES = ["columns: w", "w[0]", f'has(w[0],"{SLOW}")']
X, Y = [["a", "b"], ["b", "a#"]], [["A", "B"], ["B", "C"]]


def saved(tmp_path, lines=LINES):
    tagger = SequenceTagger(features=Templates(lines), random_state=0).fit(X, Y)
    with pytest.warns(PatternWarning, match=r"tagger.novikoff: the pattern .* trust_patterns=True"):
        tagger.save(tmp_path / "tagger.novikoff")
    return tagger, tmp_path / "tagger.novikoff"


def test_a_file_with_another_pattern_loads_only_when_trusted(tmp_path):
    tagger, path = saved(tmp_path)
    for load in (load_model, Tagger.load, SequenceTagger.load):
        with pytest.raises(ValueError, match=r"tagger\.novikoff: .*line 3.*pass trust_patterns") as error:
            load(path)
        assert "\n" not in str(error.value)
        loaded = load(path, trust_patterns=True)
        assert (loaded.predict if load is not load_model and load != Tagger.load else loaded.tag)(X) == Y
    assert tagger.predict(X) == Y


def test_ones_own_patterns_stay_usable_in_the_process(tmp_path):
    """Copies, clones, pickles and further learning need no option, and warn of nothing."""
    tagger, _ = saved(tmp_path)
    assert pickle.loads(pickle.dumps(tagger)).predict(X) == Y
    assert clone(tagger).fit(X, Y).partial_fit(X, Y).predict(X) == Y
    assert pickle.loads(pickle.dumps(tagger.to_model())).tag(X) == Y


def test_other_files_do_not_warn(tmp_path, recwarn):
    tagger = SequenceTagger(features=Templates(["columns: w", 'has(w[0],"[0-9]+")']), random_state=0)
    tagger.fit(X, Y).save(tmp_path / "t.novikoff")
    assert load_model(tmp_path / "t.novikoff").tag(X) == tagger.predict(X)
    assert not [w for w in recwarn if w.category is PatternWarning]


@pytest.mark.filterwarnings("always::novikoff.tagging.tagger.PatternWarning")
def test_the_command_line_names_its_option(tmp_path):
    (tmp_path / "lines.txt").write_text("\n".join(LINES))
    (tmp_path / "train.txt").write_text("a A\nb B\n\nb B\na# C\n")
    train, model = str(tmp_path / "train.txt"), str(tmp_path / "m.novikoff")
    arguments = ["--templates", str(tmp_path / "lines.txt"), "--test", train, "--model", model]
    done = run("tag", "fit", train, *arguments)
    assert "warning" in done.output
    assert "--trust-patterns" in done.output
    for command in (["tag", "predict", model, train], ["tag", "evaluate", model, train], ["inspect", model]):
        assert "--trust-patterns" in run(*command, code=1).output
        run(*command, "--trust-patterns")


def test_very_many_patterns_are_not_looked_at():
    """It would take long to decide, though each of them is fine."""
    lines = [f'has(w[0],"a{k}")' for k in range(101)]
    with pytest.raises(ValueError, match=r"line 101.*at most 100 different patterns.*trust_patterns=True"):
        Templates(lines, trust_patterns=False)
    assert len(Templates(lines).slow_patterns()) == 101
    same = [f"other{k}={line}" for k, line in enumerate(lines[:100])]  # not different
    assert Templates(lines[:100] + same, trust_patterns=False).slow_patterns() == []


# ---- what multiplies ---------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("w[-100..100]|w[-100..100]|w[-100..100]", "more than 1,000 templates"),
        ("prefix(w[-100..100],1..100)", "more than 1,000 templates"),
        ("prefix(suffix(prefix(w[0],1..90),1..90),1..90)", "more than 1,000 templates"),
        ("w[-1000000..1000000]", "too long"),
        ("w[0]" + "|w[0]" * 16, "more than 16 parts"),
        ("lower(" * 10_000 + "w[0]" + ")" * 10_000, "more than 16 nested functions"),
        ("99999999999[0]", "at most 9,999"),
        ('has(w[0],"a{99999999999}")', "is not a regular expression"),
        ('has(w[0],"' + "(" * 5000 + ")" * 5000 + '")', "is not a regular expression"),
        ('sub(w[0],"a","' + "b" * 1001 + '")', "up to 1000 characters"),
        ("w[" + "9" * 10_000 + "]", "line 1"),
    ],
)
def test_what_explodes_is_refused_before_it_does(line, said):
    with pytest.raises(ValueError, match=said) as error:
        Templates([line])
    assert len(str(error.value)) < 1000


def test_many_lines_are_too_many_together():
    lines = [f"w[{k}..{k + 9}]|w[{k}]" for k in range(-50, 50, 1)]
    assert len(Templates(lines)) == templates.MOST_TEMPLATES
    with pytest.raises(ValueError, match=r"line 101.*more than 1,000 templates"):
        Templates([*lines, "w[99]"])


def test_substitutions_of_substitutions_do_not_grow():
    """Eleven in one another made 4·10^10 characters of one letter."""
    part = "w[0]"
    for _ in range(11):
        part = f'sub({part},".","xxxxxxxxx")'
    features = TemplateFeatures(Templates(["columns: w", f"sub={part}", 'few=sub(w[0],".","xxxxxxxxx")']))
    assert features.attributes(["a"]) == [["few=xxxxxxxxx"]]


def test_patterns_meet_texts_of_up_to_a_thousand_characters():
    lines = ['h=has(w[0],"^a+$")', 'f=find(w[0],"^a+$")', 's=sub(w[0],"^a","b")', 'g=sub(w[0],"$","!")']
    features = TemplateFeatures(Templates(["columns: w", *lines]))
    assert features.attributes(["a" * 1001]) == [[]]
    text = "a" * 1000
    assert features.attributes([text]) == [["h=1", f"f={text}", f"s=b{text[1:]}"]]  # g would be longer
