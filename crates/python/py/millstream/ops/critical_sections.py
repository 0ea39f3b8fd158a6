"""`CriticalSection`: parts of graphs that no two runs are in at a time."""

from __future__ import annotations

import collections
from typing import Any, Callable, Optional

from millstream._engine import Operation, Tensor
from millstream.framework import add_to_collection, control_dependencies, dtypes, get_collection, get_default_graph, name_scope, nest
from millstream.framework.op_functions import op
from millstream.ops import array_ops, control_flow

__all__ = ["CriticalSection"]

_SECTIONS, _EXECUTIONS = "critical_sections", "critical_section_executions"

_Execution = collections.namedtuple("_Execution", ["op", "handle", "resources", "exclusive_resource_access"])


class CriticalSection:
    """A mutex: of the parts of graphs that are executed with it, one runs at a time.

    The mutex is held from before the operations that `execute` creates until after them, also by other runs
    of the same session. If a run fails inside, the mutex is free again.

    Args:
      name: A name for the operation.
      shared_name: If it is not empty, sessions on the same resources share the mutex under this name.
        Otherwise it is that of the operation.
      critical_section_def: Must be None.
      import_scope: Must be None.

    Raises:
      ValueError: `critical_section_def` is given: no program makes one.

    Example:
      >>> counter = tf.get_variable("counter", [], initializer=tf.zeros_initializer(), use_resource=True)
      >>> def next_number():
      ...     old = counter.read_value()
      ...     with tf.control_dependencies([old]):
      ...         with tf.control_dependencies([counter.assign_add(1.0)]):
      ...             return tf.identity(old)
      >>> section = tf.CriticalSection(name="section")
      >>> numbers = [section.execute(next_number) for _ in range(3)]
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     print(sorted(float(n) for n in sess.run(numbers)), section.name)
      [0.0, 1.0, 2.0] section
    """

    def __init__(self, name: Optional[str] = None, shared_name: Optional[str] = None, critical_section_def: Any = None, import_scope: Any = None) -> None:
        if critical_section_def is not None:
            raise ValueError("critical_section_def is not supported." if name is None and shared_name is None else "critical_section_def and shared_name are mutually exclusive.")
        with name_scope(name, "CriticalSection", []) as scope:
            self._handle: Tensor = op("MutexV2")(shared_name=scope if shared_name is None else shared_name, name=scope)
        self._name = self._handle.op.name
        add_to_collection(_SECTIONS, self)

    @property
    def name(self) -> str:
        """The name of the operation."""
        return self._name

    def execute(self, fn: Callable[[], Any], exclusive_resource_access: bool = True, name: Optional[str] = None) -> Any:
        """Returns what a function returns, whose operations run while the mutex is held.

        Args:
          fn: A function without arguments that creates operations. What they need from elsewhere is computed
            before the mutex is taken.
          exclusive_resource_access: Whether it is an error if another `CriticalSection` executes operations
            on the same resources, such as variables.
          name: A name for the operations.

        Returns:
          The result of `fn`: tensors, in a structure.

        Raises:
          ValueError: `fn` executes in this section again, which would wait forever, or a resource that is to
            be exclusive is used in another section.
        """
        with name_scope(name, "critical_section_execute", []):
            lock = op("MutexLock")(self._handle)
            graph = get_default_graph()
            before = len(graph.get_operations())
            with control_dependencies([lock]):
                result = nest.map_structure(lambda leaf: leaf if isinstance(leaf, Operation) else array_ops.identity(leaf), fn())
            created = graph.get_operations()[before:]
            inside = set(created)
            needed = [tensor for made in created for tensor in made.inputs]
            if any(tensor is self._handle for tensor in needed):
                raise ValueError(
                    "The function fn attempts to directly access the CriticalSection in which it would be running.  "
                    "This is illegal and would cause deadlocks."
                )
            resources = {t for t in needed if t.dtype == dtypes.resource and t.op not in inside}
            self._check_alone(resources, exclusive_resource_access)
            # What comes from elsewhere must not wait for the mutex while the lock is held.
            outside = {t.op for t in needed} | {c for made in created for c in made.control_inputs}
            first = [made for made in graph.get_operations()[:before] if made in outside and made is not lock.op]
            if first:
                lock.op._add_control_inputs(first)
            with control_dependencies(created):
                released = op("ConsumeMutexLock")(lock)

            def after(leaf: Any) -> Any:
                if isinstance(leaf, Operation):
                    return control_flow.group(leaf, released)
                with control_dependencies([released]):
                    return array_ops.identity(leaf)

            result = nest.map_structure(after, result)
            add_to_collection(_EXECUTIONS, _Execution(lock.op, self._handle, resources, exclusive_resource_access))
            return result

    def _check_alone(self, resources: Any, exclusive: bool) -> None:
        for other in get_collection(_EXECUTIONS):
            shared = resources & other.resources
            if other.handle is not self._handle and shared and (exclusive or other.exclusive_resource_access):
                raise ValueError(
                    "This execution would access resources: %s.  Either this lock (CriticalSection: %s) or lock '%s' "
                    "(CriticalSection: %s) requested exclusive resource access of this resource. Did you mean to call "
                    "execute with keyword argument exclusive_resource_access=False?"
                    % (sorted(t.name for t in shared), self._handle, other.op.name, other.handle)
                )
