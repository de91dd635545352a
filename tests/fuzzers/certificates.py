"""Certificates with claims forged under digests that fit, and with text changed, given to both verifiers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

import novikoff
from fuzzers.mutation import Rng, altered, damaged, one_of
from novikoff import checker, theory
from novikoff.checker import Refused
from support.certified import certified, forged
from support.lecture import SIX, SIX_Y
from support.oracles import is_true


class Fuzzer:
    def __init__(self, folder: Path) -> None:
        self.path = folder / "certificate.json"
        self.made: list[tuple[Any, Any, list[Any]]] = [
            certified(np.random.default_rng([5, k])) for k in range(8)
        ]
        X, y = SIX, SIX_Y
        model = novikoff.KernelPerceptron("poly", order="cyclic").fit(X, y)  # claims with parts of their own
        self.made.append((X, y, [json.loads(theory.certify(X, y, model).to_json())]))

    def __call__(self, rng: Rng) -> str:
        X, y, made = one_of(rng, self.made)
        content = one_of(rng, made)
        way = int(rng.integers(3))
        if way == 0:
            text = damaged(json.dumps(content).encode(), rng)
        else:
            try:
                text = json.dumps(forged(content, rng) if way == 1 else altered(content, rng)).encode()
            except RecursionError:
                return "refused"
        self.path.write_bytes(text)
        try:
            claims = checker.parse(self.path.read_text("utf-8"))
            said = checker.verify(claims, (X, y))
        except (Refused, UnicodeDecodeError):
            said = None
        try:
            theirs = theory.read_certificate(self.path).verify(X, y)
        except ValueError:
            theirs = None
        assert said == theirs, (said, theirs)
        if said is None:
            return "refused"
        if all(claim["claim"] != "kernel separable" for claim in claims["claims"]):
            for claim in claims["claims"]:
                assert is_true(claims, claim, X, y), claim
        return "accepted"
