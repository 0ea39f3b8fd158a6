"""`match_filenames_once`: a variable with the names of matching files."""

from __future__ import annotations

from typing import Any, Optional

from millstream.framework import name_scope
from millstream.framework.graph_keys import GraphKeys
from millstream.framework.op_functions import op
from millstream.variables.variable import Variable


def match_filenames_once(pattern: Any, name: Optional[str] = None) -> Any:
    """Returns the names of files that match a pattern, looked up once.

    Args:
      pattern: A glob pattern, or a list of them.
      name: A name for the new operations.

    Returns:
      A local variable, a vector of strings: initialize it before use.

    Example:
      >>> import os, tempfile
      >>> folder = tempfile.mkdtemp()
      >>> for n in "ab":
      ...     open(os.path.join(folder, n + ".txt"), "w").close()
      >>> names = tf.train.match_filenames_once(os.path.join(folder, "*.txt"))
      >>> with tf.Session() as sess:
      ...     sess.run(tf.local_variables_initializer())
      ...     print([os.path.basename(n) for n in sorted(sess.run(names))])
      [b'a.txt', b'b.txt']
    """
    with name_scope(name, "matching_filenames", [pattern]) as name:
        return Variable(
            op("MatchingFiles")(pattern),
            name=name,
            trainable=False,
            validate_shape=False,
            collections=[GraphKeys.LOCAL_VARIABLES],
        )
