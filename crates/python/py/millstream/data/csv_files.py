"""Files of comma-separated values as datasets: `CsvDataset` and `make_csv_dataset`."""

from __future__ import annotations

import collections
import csv
import gzip
import math
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence

from millstream.data.arguments import AUTOTUNE
from millstream.data.datasets import Dataset, TextLineDataset
from millstream.data.interleaving import parallel_interleave
from millstream.data.options import Options
from millstream.data.shuffling import shuffled
from millstream._engine import Tensor
from millstream.framework import constant, convert_to_tensor, dtypes, shapes
from millstream.framework.constant_values import constant_value
from millstream.io import files as gfile
from millstream.io.readers import decode_csv
from millstream.ops import math_ops

# The dtypes of columns, in the order in which `make_csv_dataset` tries them.
_TYPES = (dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64, dtypes.string)


def _defaults(values: Sequence[Any]) -> List[Any]:
    """Returns the default values of columns. That of a column without one, given by its dtype, is empty."""
    return [constant([], dtype=v) if not isinstance(v, Tensor) and _is_type(v) else v for v in values]


def _is_type(value: Any) -> bool:
    try:
        return dtypes.as_dtype(value) in _TYPES
    except TypeError:
        return False


def _known(value: Any, what: str) -> Any:
    """Returns an argument as a Python value.

    Raises:
      ValueError: It is a tensor that is not known while the graph is built.
    """
    found = constant_value(value) if isinstance(value, Tensor) else value
    if found is None:
        raise ValueError("CsvDataset: `%s` must be known while the graph is built, found %s" % (what, value))
    found = found.item() if hasattr(found, "item") else found
    return found.decode() if isinstance(found, bytes) else found


class CsvDataset(Dataset):
    """A dataset of the rows of files of comma-separated values, as tuples of scalars.

    A row is a line: a field in quotes that contains the end of a line is an error of the run.

    Args:
      filenames: The name of a file, or a list of names.
      record_defaults: For each selected column its default value, or the dtype of a column that has none.
      compression_type: None, "GZIP" or "ZLIB".
      buffer_size: The size of a buffer in bytes, which does not change the elements.
      header: Whether the first line of a file is skipped.
      field_delim: The character between fields.
      use_quote_delim: Whether `"` quotes fields.
      na_value: A further text, besides the empty one, for which the default value is taken.
      select_cols: The numbers of the columns, ascending; None is all.

    Raises:
      ValueError: `field_delim`, `use_quote_delim` or `na_value` is not known while the graph is built.

    Example:
      >>> import os, tempfile
      >>> name = os.path.join(tempfile.mkdtemp(), "points.csv")
      >>> with open(name, "w") as f:
      ...     _ = f.write("x,y\\n1,2.5\\n3,\\n")
      >>> x = tf.data.experimental.CsvDataset(name, [tf.int32, 0.0], header=True).make_one_shot_iterator().get_next()
      >>> with tf.Session() as sess:
      ...     print(*sess.run(x), *sess.run(x))
      1 2.5 3 0.0
    """

    def __init__(
        self,
        filenames: Any,
        record_defaults: Sequence[Any],
        compression_type: Any = None,
        buffer_size: Any = None,
        header: Any = False,
        field_delim: Any = ",",
        use_quote_delim: Any = True,
        na_value: Any = "",
        select_cols: Any = None,
    ) -> None:
        names = convert_to_tensor(filenames, dtype=dtypes.string, name="filenames")
        skipped = math_ops.cast(convert_to_tensor(header, dtype=dtypes.bool, name="header"), dtypes.int64)
        defaults = [convert_to_tensor(v, name="record_defaults") for v in _defaults(record_defaults)]
        delimiter, quotes, missing = _known(field_delim, "field_delim"), _known(use_quote_delim, "use_quote_delim"), _known(na_value, "na_value")
        columns = None if select_cols is None else [int(n) for n in select_cols]

        def lines(name: Any) -> Any:
            return TextLineDataset(name, compression_type, buffer_size).skip(skipped)

        def row(line: Any) -> Any:
            return tuple(decode_csv(line, defaults, delimiter, quotes, na_value=missing, select_cols=columns))

        listed = Dataset.from_tensors(names) if names.shape.ndims == 0 else Dataset.from_tensor_slices(names)
        made = listed.flat_map(lines).map(row)
        super().__init__(made._variant_tensor, tuple(shapes.TensorSpec([], v.dtype) for v in defaults), [made])


def make_csv_dataset(
    file_pattern: Any,
    batch_size: int,
    column_names: Optional[List[str]] = None,
    column_defaults: Optional[Sequence[Any]] = None,
    label_name: Optional[str] = None,
    select_columns: Optional[List[Any]] = None,
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    header: bool = True,
    num_epochs: Optional[int] = None,
    shuffle: bool = True,
    shuffle_buffer_size: int = 10000,
    shuffle_seed: Any = None,
    prefetch_buffer_size: Optional[int] = None,
    num_parallel_reads: Optional[int] = None,
    sloppy: bool = False,
    num_rows_for_inference: Optional[int] = 100,
    compression_type: Any = None,
    ignore_errors: bool = False,
) -> Dataset:
    """Returns a dataset of batches of rows of files of comma-separated values, as mappings from columns.

    Args:
      file_pattern: A pattern of names of files, or a list of patterns.
      batch_size: The number of rows in a batch.
      column_names: The names of all columns; None is the first line of the files.
      column_defaults: For each selected column its default value, or the dtype of a column that has none.
        None is 0 or the empty string, of the dtype that the first rows have.
      label_name: The column that is taken out of the mapping: elements are then pairs.
      select_columns: The names or numbers of the columns; None is all.
      field_delim: The character between fields.
      use_quote_delim: Whether `"` quotes fields.
      na_value: A further text, besides the empty one, for which the default value is taken.
      header: Whether the first line of a file is skipped.
      num_epochs: How often the rows come; None is for ever.
      shuffle: Whether files and rows come in random order.
      shuffle_buffer_size: The number of rows that the next one is drawn from.
      shuffle_seed: The seed of the order.
      prefetch_buffer_size: The number of batches that may be made ahead.
      num_parallel_reads: The number of files that are read in turns; None is 1.
      sloppy: Ignored: the order is the same.
      num_rows_for_inference: The number of rows that tell the dtypes; None is all.
      compression_type: None, "GZIP" or "ZLIB".
      ignore_errors: Whether rows that cannot be read are left out.

    Returns:
      A `Dataset`.

    Raises:
      ValueError: No file matches, the columns are not told or told twice, or `label_name` is none of them.

    Example:
      >>> import os, tempfile
      >>> name = os.path.join(tempfile.mkdtemp(), "points.csv")
      >>> with open(name, "w") as f:
      ...     _ = f.write("x,y\\n1,2.5\\n3,4.5\\n")
      >>> rows = tf.data.experimental.make_csv_dataset(name, 2, label_name="y", num_epochs=1, shuffle=False)
      >>> print(tf.Session().run(rows.make_one_shot_iterator().get_next()))
      (OrderedDict([('x', array([1, 3], dtype=int32))]), array([2.5, 4.5], dtype=float32))
    """
    reads = 1 if num_parallel_reads is None else num_parallel_reads
    filenames = file_names(file_pattern)
    dataset = Dataset.from_tensor_slices(filenames)
    if shuffle:
        dataset = dataset.shuffle(len(filenames), shuffle_seed)
    rows = _Rows(filenames, field_delim, use_quote_delim, compression_type if column_names is None or column_defaults is None else None)
    if column_names is None:
        if not header:
            raise ValueError("Cannot infer column names without a header line.")
        column_names = rows.names()
    if len(column_names) != len(set(column_names)):
        raise ValueError("Cannot have duplicate column names.")
    chosen = None if select_columns is None else column_indices(select_columns, column_names)
    if column_defaults is not None:
        defaults = _defaults(column_defaults)
    else:
        defaults = rows.defaults(len(column_names), na_value, header, num_rows_for_inference, chosen)
    if chosen is not None and len(defaults) != len(chosen):
        raise ValueError("If specified, column_defaults and select_columns must have same length.")
    if chosen is not None and len(column_names) > len(chosen):
        column_names = [column_names[i] for i in chosen]
    if label_name is not None and label_name not in column_names:
        raise ValueError("`label_name` provided must be one of the columns.")
    named: List[str] = column_names

    def of_file(name: Any) -> Any:
        made = CsvDataset(name, defaults, compression_type, None, header, field_delim, use_quote_delim, na_value, chosen)
        return made._same("IgnoreErrorsDataset") if ignore_errors else made

    def mapping(*columns: Any) -> Any:
        features: Dict[str, Any] = collections.OrderedDict(zip(named, columns))
        return features if label_name is None else (features, features.pop(label_name))

    if reads == AUTOTUNE:
        dataset = dataset.interleave(of_file, num_parallel_calls=reads)
        options = Options()
        options.experimental_deterministic = not sloppy
        dataset = dataset.with_options(options)
    else:
        dataset = dataset.apply(parallel_interleave(of_file, reads, sloppy=sloppy))
    dataset = shuffled(dataset, num_epochs, shuffle, shuffle_buffer_size, shuffle_seed)
    dataset = dataset.batch(batch_size, drop_remainder=num_epochs is None).map(mapping)
    return dataset.prefetch(AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size)


def file_names(file_pattern: Any) -> List[str]:
    """Returns the sorted names of the files that match a pattern, or one of a list of patterns.

    Raises:
      ValueError: There are none.
    """
    if isinstance(file_pattern, list) and not file_pattern:
        raise ValueError("File pattern is empty.")
    patterns = file_pattern if isinstance(file_pattern, list) else [file_pattern]
    found = [name for pattern in patterns for name in gfile.Glob(pattern)]
    if not found:
        raise ValueError("No files match %s." % file_pattern)
    return sorted(found)


def column_indices(select_columns: List[Any], column_names: Sequence[str]) -> List[int]:
    """Returns the sorted numbers of columns that are given by names or numbers.

    Raises:
      ValueError: There is no such column, or one is given twice.
    """
    chosen = []
    for column in select_columns:
        if isinstance(column, int):
            if not 0 <= column < len(column_names):
                raise ValueError("Column index %d specified in select_columns out of valid range." % column)
            chosen.append(column)
        elif column in column_names:
            chosen.append(list(column_names).index(column))
        else:
            raise ValueError("Value '%s' specified in select_columns not a valid column index or name." % column)
    if len(set(chosen)) != len(chosen):
        raise ValueError("select_columns contains duplicate columns")
    return sorted(chosen)


class _Rows:
    """The rows of files, read while the graph is built to learn names and dtypes of columns."""

    def __init__(self, filenames: Sequence[str], field_delim: str, use_quote_delim: bool, compression_type: Any) -> None:
        self._names = filenames
        self._form: Dict[str, Any] = {"delimiter": field_delim, "quoting": csv.QUOTE_MINIMAL if use_quote_delim else csv.QUOTE_NONE}
        kind = None if compression_type is None else _known(compression_type, "compression_type")
        if kind == "ZLIB":
            raise ValueError("compression_type (%s) is not supported for probing columns" % compression_type)
        if kind not in (None, "", "GZIP"):
            raise ValueError("compression_type (%s) is not supported" % compression_type)
        self._open: Callable[[str], Any] = (lambda name: gzip.open(name, "rt")) if kind == "GZIP" else (lambda name: gfile.GFile(name, "r"))

    def _of(self, name: str) -> Iterator[List[str]]:
        with self._open(name) as lines:
            yield from csv.reader(lines, **self._form)

    def names(self) -> List[str]:
        """Returns the first row, which is that of all files."""
        found: List[List[str]] = []
        for name in self._names:
            first = next(self._of(name), None)
            if first is None:
                raise ValueError("Received StopIteration when reading the header line of %s.  Empty file?" % name)
            if found and first != found[0]:
                raise ValueError("Files have different column names in the header row.")
            found.append(first)
        return found[0]

    def defaults(self, n_columns: int, na_value: str, header: bool, n_rows: Optional[int], chosen: Optional[List[int]]) -> List[Any]:
        """Returns a default value of each column, of the dtype that its first values have."""
        columns = list(range(n_columns)) if chosen is None else chosen
        types: List[Any] = [None] * len(columns)
        for i, row in enumerate(self._rows(n_columns, header)):
            if n_rows is not None and i >= n_rows:
                break
            types = [_wider(t, row[column], na_value) for t, column in zip(types, columns)]
        types = [t or dtypes.string for t in types]
        return [constant([0 if t is not dtypes.string else ""], dtype=t) for t in types]

    def _rows(self, n_columns: int, header: bool) -> Iterator[List[str]]:
        for name in self._names:
            rows = self._of(name)
            if header:
                next(rows, None)
            for row in rows:
                if len(row) != n_columns:
                    raise ValueError("Problem inferring types: CSV row has different number of fields than expected.")
                yield row


def _wider(known: Any, text: str, na_value: str) -> Any:
    """Returns the first dtype, from that of a column so far, that a further value has."""
    if text in ("", na_value):
        return known
    least = 0 if known is None else _TYPES.index(known)
    return next(t for t in _TYPES[least:] if _is_of(text, t))


def _is_of(text: str, dtype: Any) -> bool:
    if dtype == dtypes.string:
        return True
    try:
        value = dtype.as_numpy_dtype(text)
        return value == int(text) if dtype.is_integer else bool(value < math.inf)
    except (ValueError, OverflowError):
        return False
