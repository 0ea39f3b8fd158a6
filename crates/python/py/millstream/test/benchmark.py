"""`tf.test.Benchmark`: measures of runs."""

from __future__ import annotations

import time
from typing import Any, Dict, Optional

import numpy as np

from millstream.framework import protos
from millstream.framework.session import get_default_session


class Benchmark:
    """The base class of benchmarks: methods whose names start with `benchmark`.

    Example:
      >>> class Product(tf.test.Benchmark):
      ...     def benchmark_small(self):
      ...         with tf.Session() as sess:
      ...             return self.run_op_benchmark(sess, tf.constant(2.0) * 3.0, burn_iters=1, min_iters=3)
      >>> found = Product().benchmark_small()  # doctest: +ELLIPSIS
      entry { name: Product, iters: 3, wall_time: ... }
      >>> found["iters"], 0 < found["wall_time"] < 1.0, Product.is_abstract()
      (3, True, False)
      >>> Product().report_benchmark(iters=2, name="Other")
      entry { name: Other, iters: 2 }
      >>> with tf.Session():
      ...     print(Product().evaluate(tf.constant(2.0)))
      2.0
    """

    @classmethod
    def is_abstract(cls) -> bool:
        """Returns whether this is the base class itself."""
        return cls is Benchmark

    def report_benchmark(
        self,
        iters: Optional[int] = None,
        cpu_time: Optional[float] = None,
        wall_time: Optional[float] = None,
        throughput: Optional[float] = None,
        extras: Optional[Dict[str, Any]] = None,
        name: Optional[str] = None,
        metrics: Optional[Any] = None,
    ) -> None:
        """Prints a result.

        Args:
          iters: The number of iterations.
          cpu_time: The time of the processor for one, in seconds.
          wall_time: The time for one, in seconds.
          throughput: Megabytes a second.
          extras: Other results by name.
          name: The name of the benchmark; by default that of the class.
          metrics: Other results, as a list of dictionaries.
        """
        shown = {"iters": iters, "cpu_time": cpu_time, "wall_time": wall_time, "throughput": throughput, "extras": extras, "metrics": metrics}
        parts = ["%s: %s" % (key, value) for key, value in shown.items() if value]
        print("entry { name: %s, %s }" % (name or type(self).__name__, ", ".join(parts)))

    def evaluate(self, tensors: Any) -> Any:
        """Returns the values of tensors, by the default session.

        Raises:
          ValueError: There is no default session.
        """
        session = get_default_session()
        if session is None:
            raise ValueError("there is no default session to evaluate tensors with: enter `with tf.Session():`")
        return session.run(tensors)

    def run_op_benchmark(
        self,
        sess: Any,
        op_or_tensor: Any,
        feed_dict: Any = None,
        burn_iters: int = 2,
        min_iters: int = 10,
        store_trace: bool = False,
        store_memory_usage: bool = True,
        name: Optional[str] = None,
        extras: Optional[Dict[str, Any]] = None,
        mbs: float = 0,
    ) -> Dict[str, Any]:
        """Measures the runs of an operation, and reports the median.

        Args:
          sess: A session.
          op_or_tensor: What to run. The value of a tensor is not fetched.
          feed_dict: The feeds.
          burn_iters: The number of runs before those that are measured.
          min_iters: The number of runs that are measured.
          store_trace: If true, one more run is traced; the result has its `RunMetadata` as "trace".
          store_memory_usage: Ignored.
          name: The name of the benchmark.
          extras: Other results by name, which are reported.
          mbs: The megabytes that a run reads and writes, for the throughput.

        Returns:
          A dictionary with the number of runs `"iters"`, the median `"wall_time"`, `"throughput"` and
          `"extras"`.
        """
        target = getattr(op_or_tensor, "op", op_or_tensor)
        for _ in range(burn_iters):
            sess.run(target, feed_dict=feed_dict)
        times = []
        for _ in range(min_iters):
            start = time.time()
            sess.run(target, feed_dict=feed_dict)
            times.append(time.time() - start)
        median = float(np.median(times)) if times else -1.0
        found: Dict[str, Any] = {"iters": min_iters, "wall_time": median, "throughput": mbs / median if median > 0 else 0.0, "extras": extras or {}}
        self.report_benchmark(iters=min_iters, wall_time=median, throughput=found["throughput"], extras=extras, name=name)
        if store_trace:
            found["trace"] = protos.RunMetadata()
            options = protos.RunOptions(trace_level=protos.RunOptions.FULL_TRACE)
            sess.run(target, feed_dict=feed_dict, options=options, run_metadata=found["trace"])
        return found
