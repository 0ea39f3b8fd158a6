"""`tf.contrib.learn.preprocessing`: documents and categories as integers, made in Python."""

from millstream.contrib.learn.preprocessing import categorical as categorical, text as text
from millstream.contrib.learn.preprocessing.categorical import CategoricalProcessor
from millstream.contrib.learn.preprocessing.categorical_vocabulary import CategoricalVocabulary
from millstream.contrib.learn.preprocessing.text import ByteProcessor, VocabularyProcessor, tokenizer
from millstream.framework import namespaces

__all__ = ["ByteProcessor", "CategoricalProcessor", "CategoricalVocabulary", "VocabularyProcessor", "tokenizer"]

__dir__ = namespaces.dir_of(globals())
