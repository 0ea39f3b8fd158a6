"""Data sets in files of `tf.contrib.learn.datasets.base`, and how examples of estimators are parsed."""

import os
import tempfile

import numpy as np

from programs.raised import WHOLE, caught


def tables(tf):
    base = tf.contrib.learn.datasets.base
    folder = tempfile.mkdtemp()
    first, second, short = (os.path.join(folder, name) for name in ("first.csv", "second.csv", "short.csv"))
    for path, text in ((first, "3,2,a,b\n1.5,2,0\n3,4.25,1\n5,6,2\n"), (second, "1,2,0\n3,4,1\n"), (short, "3,2,a,b\n1.5,2,0\n")):
        with open(path, "w") as out:
            out.write(text)
    found = [
        base.load_csv_with_header(first, np.int64, np.float32),
        base.load_csv_with_header(first, np.float32, np.float64, 0),
        base.load_csv_without_header(second, np.int64, np.float32),
        base.load_csv_without_header(second, np.int64, np.float32, 1),
        base.load_csv_with_header(short, np.int64, np.float32),
    ]
    return [[f.data, f.target] for f in found], base.Dataset._fields, base.Datasets._fields


def specifications_of_examples(tf):
    columns = [tf.feature_column.numeric_column("x", shape=[2]), tf.feature_column.categorical_column_with_hash_bucket("c", 5)]
    classes, numbers = tf.estimator.classifier_parse_example_spec, tf.estimator.regressor_parse_example_spec
    weights = tf.feature_column.numeric_column("w", dtype=tf.float64)
    found = [
        classes(columns, "y"),
        classes(columns, "y", tf.string, "a", weight_column="w"),
        numbers(columns, "y", label_dimension=3),
        numbers(columns, "y", tf.int64, [1, 2], 2, weights),
        classes([], "y"),
    ]
    wrong = [
        caught(lambda: classes(columns, "x"), WHOLE),
        caught(lambda: classes(columns, "y", weight_column="y"), WHOLE),
        caught(lambda: numbers(columns, "y", weight_column="x"), WHOLE),
        caught(lambda: classes(columns, "y", weight_column=3), WHOLE),
    ]
    return [sorted((k, repr(v)) for k, v in f.items()) for f in found], wrong
