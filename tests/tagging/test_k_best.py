"""The k best labellings as `SequenceTagger` and `Tagger` give them."""

import pytest

import novikoff

X = [[["w=the"], ["w=dog"], ["w=barks"]], [["w=cats"], ["w=sleep"]], [["w=a"], ["w=cat"]]]
Y = [["DET", "NOUN", "VERB"], ["NOUN", "VERB"], ["DET", "NOUN"]]


def test_scores_are_those_of_the_weights_that_predict():
    tagger = novikoff.SequenceTagger(random_state=0, transitions="any").fit(X * 3, Y * 3)
    for sentence, best in zip(X, tagger.predict_k(X, 4), strict=True):
        assert best[0][0] == tagger.predict_one(sentence)
        assert [score for _, score in best] == sorted((score for _, score in best), reverse=True)
        terms = tagger.explain(sentence)
        assert [label for label, _ in terms] == best[0][0]
        assert sum(value for _, own in terms for _, value in own) == pytest.approx(best[0][1])
    assert [len(best) for best in tagger.predict_k([[], [["w=the"]]], 10)] == [1, 3]
    loaded = tagger.to_model()
    assert loaded.predict_k(X, 4) == tagger.predict_k(X, 4)
    assert loaded.predict(X) == loaded.tag(X) == tagger.predict(X)


@pytest.mark.parametrize("k", [0, -1, 1.5, True, None])
def test_k_is_a_whole_number(k):
    tagger = novikoff.SequenceTagger(random_state=0).fit(X, Y)
    with pytest.raises(ValueError, match=r"k=.* is not possible: expected a whole number ≥ 1"):
        tagger.predict_k(X, k)


def test_the_native_call_checks_its_arguments():
    tagger = novikoff.SequenceTagger(random_state=0).fit(X, Y).to_model()
    x = tagger.sequences(X)
    for arguments in ((0, 4, 1), (-1, 1, 1), (2, 1, 1), (0, 1, 0)):
        with pytest.raises(ValueError, match=r"out of range|at least 1"):
            tagger.scorer.native.k_best(x.native, *arguments)


def test_an_explanation_shows_itself_and_is_a_list():
    X, y = [[["w=dogs"]], [["w=the"], ["w=dog"]]], [["NOUN"], ["<D>", "NOUN"]]
    tagger = novikoff.SequenceTagger(random_state=0, average=False).fit(X, y)
    found = tagger.explain(X[1])
    total = sum(value for _, terms in found for _, value in terms)
    assert total == tagger.predict_k([X[1]], 1)[0][0][1]
    assert str(found).splitlines()[0] == f"score {total:g}"
    assert "&lt;D&gt;" in found._repr_html_()
    assert repr(found) == repr(list(found))
    assert "2 sentences" in tagger.to_model()._repr_html_()
