"""Completion in shells: a script for each shell, and the words that the script requests."""

from __future__ import annotations

from novikoff.cli.app import GLOBAL, GROUPS, load
from novikoff.cli.options import Option

# Where the command suggests no words, each shell completes file names.
SCRIPTS = {
    "bash": """\
_novikoff() {
    local IFS=$'\\n'
    COMPREPLY=($(novikoff --complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _novikoff novikoff""",
    "zsh": """\
#compdef novikoff
_novikoff() {
    local -a found
    found=(${(f)"$(novikoff --complete "${(@)words[2,CURRENT]}" 2>/dev/null)"})
    if (( $#found )); then compadd -a found; else _files; fi
}
compdef _novikoff novikoff""",
    "fish": """\
complete -c novikoff -a '(novikoff --complete (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'""",
}


def candidates(words: list[str]) -> list[str]:
    """The commands, options or values that complete the last of these words.

    >>> candidates(["fit", "train.svm", "--rule", "pa"])
    ['pa', 'pa1', 'pa2']
    >>> candidates(["tag", "e"])
    ['evaluate']
    """
    *before, current = words or [""]
    if current == "=":  # bash splits --rule=pa into three words
        current = ""
    elif before[-1:] == ["="]:
        before.pop()
    previous, names = before[-1:], list[str]()
    while before and (known := GROUPS.get(" ".join(names))):
        word = before.pop(0)
        if word in known:
            names.append(word)
        elif not word.startswith("-"):
            return []
    group = GROUPS.get(" ".join(names))
    options = _options(names, is_group=group is not None)
    takes = [options[word] for word in previous if word in options and not options[word].is_flag]
    if takes:
        found = list(takes[0].parameter.choices)
    elif current.startswith("-"):
        found = [*options, "--help", "--help-all"]
    else:
        found = list(group or ())
    return [each for each in found if each.startswith(current)]


def _options(names: list[str], *, is_group: bool) -> dict[str, Option]:
    each_option = (() if names else GLOBAL) if is_group else load(*names).options
    return {flag: each for each in each_option for flag in [*each.flags, each.opposite] if flag}
