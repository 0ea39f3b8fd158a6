"""Documents as sequences of integers: `VocabularyProcessor`, `ByteProcessor`, `tokenizer`."""

from __future__ import annotations

import pickle
import re
from typing import Any, Callable, Iterable, Iterator, List, Optional

import numpy as np

from millstream.contrib.learn.preprocessing.categorical_vocabulary import CategoricalVocabulary
from millstream.io.files import GFile

__all__ = ["ByteProcessor", "CategoricalVocabulary", "TOKENIZER_RE", "VocabularyProcessor", "tokenizer"]

# Several capitals, a capitalized word before another one, or letters, digits, hyphens and apostrophes.
TOKENIZER_RE = re.compile(r"[A-Z]{2,}(?![a-z])|[A-Z][a-z]+(?=[A-Z])|[\'\w\-]+", re.UNICODE)


def tokenizer(iterator: Iterable[str]) -> Iterator[List[str]]:
    """Yields the words of each text.

    Args:
      iterator: The texts.

    Example:
      >>> list(tf.contrib.learn.preprocessing.tokenizer(["It's a test-case, HTMLParser!"]))
      [["It's", 'a', 'test-case', 'HTML', 'Parser']]
    """
    for text in iterator:
        yield TOKENIZER_RE.findall(text)


class ByteProcessor:
    """Documents as bytes: arrays of one length, filled with zeros.

    Args:
      max_document_length: The length.

    Example:
      >>> processor = tf.contrib.learn.preprocessing.ByteProcessor(4)
      >>> processor.fit(["ab"])
      >>> [row.tolist() for row in processor.fit_transform(["ab", b"longer"])]
      [[97, 98, 0, 0], [108, 111, 110, 103]]
      >>> list(processor.reverse(list(processor.transform(["ab"]))))
      ['ab']
    """

    def __init__(self, max_document_length: int) -> None:
        self.max_document_length = max_document_length

    def fit(self, x: Any) -> None:
        """Does nothing.

        Args:
          x: The documents.
        """

    def fit_transform(self, x: Iterable[Any]) -> Iterator[Any]:
        """Yields the arrays; see `transform`.

        Args:
          x: The documents.
        """
        return self.transform(x)

    def reverse(self, x: Iterable[Any]) -> Iterator[str]:
        """Yields the text of each array; the empty one where the bytes are no text.

        Args:
          x: Arrays of bytes.
        """
        for data in x:
            document = np.trim_zeros(data.astype(np.int8), trim="b").tobytes()
            try:
                yield document.decode("utf-8")
            except UnicodeDecodeError:
                yield ""

    def transform(self, x: Iterable[Any]) -> Iterator[Any]:
        """Yields an array of `uint8` for each document.

        Args:
          x: The documents: text, which is encoded as UTF-8, or bytes.
        """
        for document in x:
            data = document.encode("utf-8") if isinstance(document, str) else document
            row = np.frombuffer(memoryview(data)[: self.max_document_length], dtype=np.uint8)
            yield np.pad(row, (0, self.max_document_length - len(row)), "constant")


class VocabularyProcessor:
    """Documents as integers of their words: arrays of one length, filled with zeros.

    Args:
      max_document_length: The length.
      min_frequency: Words seen this often or less while fitting are unknown.
      vocabulary: A `CategoricalVocabulary`; by default a new one.
      tokenizer_fn: A function from documents to their words; by default `tokenizer`.

    Example:
      >>> processor = tf.contrib.learn.preprocessing.VocabularyProcessor(4)
      >>> [row.tolist() for row in processor.fit_transform(["a word", "a longer list of words"])]
      [[1, 2, 0, 0], [1, 3, 4, 5]]
      >>> [row.tolist() for row in processor.transform(["an unknown word"])], len(processor.vocabulary_)
      ([[0, 0, 2, 0]], 7)
      >>> list(processor.reverse([[1, 2]]))
      ['a word']
    """

    def __init__(
        self,
        max_document_length: int,
        min_frequency: int = 0,
        vocabulary: Optional[CategoricalVocabulary] = None,
        tokenizer_fn: Optional[Callable[[Any], Iterable[Any]]] = None,
    ) -> None:
        self.max_document_length = max_document_length
        self.min_frequency = min_frequency
        self.vocabulary_ = vocabulary or CategoricalVocabulary()
        self._tokenizer = tokenizer_fn or tokenizer

    def fit(self, raw_documents: Any, unused_y: Any = None) -> "VocabularyProcessor":
        """Gives integers to the words of documents, after which other words are unknown.

        Args:
          raw_documents: The documents.
          unused_y: Ignored.

        Returns:
          The processor.
        """
        for words in self._tokenizer(raw_documents):
            for word in words:
                self.vocabulary_.add(word)
        if 0 < self.min_frequency:
            self.vocabulary_.trim(self.min_frequency)
        self.vocabulary_.freeze()
        return self

    def fit_transform(self, raw_documents: Any, unused_y: Any = None) -> Iterator[Any]:
        """Fits the documents, and yields their arrays.

        Args:
          raw_documents: The documents; they are read twice.
          unused_y: Ignored.
        """
        self.fit(raw_documents)
        return self.transform(raw_documents)

    def transform(self, raw_documents: Any) -> Iterator[Any]:
        """Yields an array of `int64` for each document.

        Args:
          raw_documents: The documents.
        """
        for words in self._tokenizer(raw_documents):
            row = np.zeros(self.max_document_length, np.int64)
            for i, word in zip(range(self.max_document_length), words):
                row[i] = self.vocabulary_.get(word)
            yield row

    def reverse(self, documents: Iterable[Any]) -> Iterator[str]:
        """Yields the words of each array, with spaces between.

        Args:
          documents: Arrays of integers.
        """
        for row in documents:
            yield " ".join(self.vocabulary_.reverse(i) for i in row)

    def save(self, filename: str) -> None:
        """Writes the processor to a file, as Python's `pickle` does.

        Args:
          filename: The path.
        """
        with GFile(filename, "wb") as file:
            file.write(pickle.dumps(self))

    @classmethod
    def restore(cls, filename: str) -> "VocabularyProcessor":
        """Returns the processor that a file holds. Reading runs what the file says: read only your own files.

        Args:
          filename: The path.
        """
        with GFile(filename, "rb") as file:
            return pickle.loads(file.read())  # type: ignore[no-any-return]
