"""`tf.contrib.learn.preprocessing`: vocabularies of texts and categories."""

import os
import tempfile

from programs.raised import WHOLE, caught

_TEXTS = ["The cat sat, on the mat.", "THE DOG-house isn't HTMLParser's", "cat cat dog", ""]


def _lists(rows):
    return [row.tolist() for row in rows]


def words_of_texts(tf):
    learn = tf.contrib.learn.preprocessing
    return list(learn.tokenizer(_TEXTS + ["ünï codeé  x_1 3.5 a--b 'q'", "ABc AbC ABC"]))


def integers_of_words(tf):
    learn = tf.contrib.learn.preprocessing
    made = learn.VocabularyProcessor(4)
    rows = made.fit_transform(_TEXTS)
    first = _lists(rows)
    return first, _lists(made.transform(["unknown cat", "mat mat mat mat mat"])), len(made.vocabulary_), list(made.reverse([[1, 2, 0], [3]])), made.max_document_length


def rare_words(tf):
    learn = tf.contrib.learn.preprocessing
    made = learn.VocabularyProcessor(5, min_frequency=1)
    rows = _lists(made.fit_transform(["b a b", "a c b", "d d e"]))
    return rows, made.vocabulary_._mapping, made.vocabulary_._reverse_mapping, sorted(made.vocabulary_._freq.items())


def own_words(tf):
    learn = tf.contrib.learn.preprocessing
    split = lambda texts: (text.split("|") for text in texts)  # noqa: E731
    made = learn.VocabularyProcessor(3, tokenizer_fn=split)
    made.fit(["a b|c", "c|d"])
    return _lists(made.transform(["c|a b|z|d"]))


def saved(tf):
    learn = tf.contrib.learn.preprocessing
    made = learn.VocabularyProcessor(3)
    made.fit(["one two"])
    path = os.path.join(tempfile.mkdtemp(), "vocabulary")
    made.save(path)
    again = learn.VocabularyProcessor.restore(path)
    return _lists(again.transform(["two one three"])), len(again.vocabulary_)


def a_vocabulary(tf):
    learn = tf.contrib.learn.preprocessing
    words = learn.CategoricalVocabulary("?")
    for word, count in (("x", 5), ("y", 1), (3, 2), ("a", 2), ("z", 1), ("?", 4)):
        words.add(word, count)
    before = words._mapping.copy()
    words.trim(1, 5)
    words.freeze()
    after = words._mapping, words.get("x"), words.get("a"), words.reverse(0), len(words)
    words.freeze(False)
    mute = learn.CategoricalVocabulary(support_reverse=False)
    return before, after, words.get("new"), caught(lambda: mute.reverse(0), WHOLE)


def categories(tf):
    learn = tf.contrib.learn.preprocessing
    rows = [["a", 1], ["b", 2], ["a", float("nan")], ["c", 2]]
    made = learn.CategoricalProcessor()
    return [_lists(made.fit_transform(rows)), _lists(made.transform([["b", 9]])), _lists(learn.CategoricalProcessor(share=True).fit_transform([["a", "b"], ["b", "a"]])), _lists(learn.CategoricalProcessor(1).fit_transform(rows))]


def text_as_bytes(tf):
    made = tf.contrib.learn.preprocessing.ByteProcessor(5)
    made.fit(["x"])
    rows = list(made.fit_transform(["abc", b"longer than that", u"\u00fc"]))
    return rows, list(made.reverse(rows))
