"""`tf.test`: a `TestCase` for tensors and sessions, gradient checks, and queries of capabilities."""

from millstream.framework import namespaces
from millstream.test.benchmark import Benchmark
from millstream.test.case import (
    TestCase,
    assert_equal_graph_def,
    compute_gradient,
    compute_gradient_error,
    get_temp_dir,
    gpu_device_name,
    is_built_with_cuda,
    is_built_with_gpu_support,
    is_built_with_rocm,
    is_gpu_available,
    main,
    mock,
)
from millstream.test.commands import StubOutForTesting, benchmark_config, test_src_dir_path

__all__ = [
    "Benchmark",
    "StubOutForTesting",
    "TestCase",
    "assert_equal_graph_def",
    "benchmark_config",
    "compute_gradient",
    "compute_gradient_error",
    "get_temp_dir",
    "gpu_device_name",
    "is_built_with_cuda",
    "is_built_with_gpu_support",
    "is_built_with_rocm",
    "is_gpu_available",
    "main",
    "mock",
    "test_src_dir_path",
]

__dir__ = namespaces.dir_of(globals())
