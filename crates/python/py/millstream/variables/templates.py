"""`make_template`: functions whose variables are created by the first call and shared by later ones."""

from __future__ import annotations

import functools
import sys
import traceback
from typing import Any, List, Optional

from millstream.framework import get_default_graph
from millstream.framework.graph_keys import GraphKeys
from millstream.variables.scopes import variable_scope


class Template:
    """A function with a variable scope of its own."""

    def __init__(self, name: str, func: Any, create_scope_now: bool = False, unique_name: Optional[str] = None, custom_getter: Any = None) -> None:
        if name is None:
            raise ValueError("name cannot be None.")
        self._func, self._name, self._unique_name, self._custom_getter = func, name, unique_name, custom_getter
        self._variables_created = False
        self._scope: Any = None
        # The source lines are read when an error asks for them.
        self._made_at = traceback.StackSummary.extract(traceback.walk_stack(sys._getframe(1)), lookup_lines=False)
        if create_scope_now:
            # The name scope is that of the first call.
            with self._first_scope(auxiliary_name_scope=False) as scope:
                self._scope = scope

    def __repr__(self) -> str:
        called = "not called yet" if self._scope is None else "with variables in '%s'" % self._scope.name
        return "<Template %r of %s, %s>" % (self._unique_name or self._name, getattr(self._func, "__name__", self._func), called)

    def _first_scope(self, **options: Any) -> Any:
        if self._unique_name is not None:
            return variable_scope(self._unique_name, custom_getter=self._custom_getter, **options)
        return variable_scope(None, default_name=self._name, custom_getter=self._custom_getter, **options)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._scope is None:
            with self._first_scope() as scope:
                self._scope = scope
                return self._first(args, kwargs)
        if self._variables_created:
            with variable_scope(self._scope, reuse=True):
                return self._again(args, kwargs)
        with variable_scope(self._scope):
            return self._first(args, kwargs)

    def _first(self, args: Any, kwargs: Any) -> Any:
        """Makes the call that creates the variables."""
        known = len(get_default_graph().get_collection(GraphKeys.GLOBAL_VARIABLES))
        result = self._called(args, kwargs)
        inside = self._collection(GraphKeys.TRAINABLE_VARIABLES)
        # A call without variables leaves their creation to a later one.
        self._variables_created = bool(inside) or known < len(get_default_graph().get_collection(GraphKeys.GLOBAL_VARIABLES))
        return result

    def _called(self, args: Any, kwargs: Any) -> Any:
        """Calls the function. An error of it also tells where the template was made."""
        try:
            return self._func(*args, **kwargs)
        except Exception as error:
            made = self._made_at[::-1]
            here = traceback.extract_stack()
            shared = 0
            while shared < min(len(made), len(here)) - 1 and (made[shared].filename, made[shared].lineno) == (here[shared].filename, here[shared].lineno):
                shared += 1
            place = "".join(traceback.format_list(made[shared:]))
            error.args = ("%s\n\noriginally defined at:\n%s" % (error.args[0] if error.args else "", place),) + error.args[1:]
            raise

    def _again(self, args: Any, kwargs: Any) -> Any:
        """Makes a later call, which may create no variables that are trained."""
        trained = len(get_default_graph().get_collection(GraphKeys.TRAINABLE_VARIABLES))
        result = self._called(args, kwargs)
        made = get_default_graph().get_collection(GraphKeys.TRAINABLE_VARIABLES)[trained:]
        if made:
            raise ValueError(
                "Trainable variable created when calling a template after the first time, perhaps you used tf.Variable when you meant tf.get_variable: %s"
                % [v.name for v in made]
            )
        return result

    def _collection(self, key: str) -> List[Any]:
        return [] if self._scope is None else get_default_graph().get_collection(key, self.variable_scope_name)

    name = property(lambda self: self._name, doc="The name.")
    func = property(lambda self: self._func, doc="The function.")
    variable_scope = property(lambda self: self._scope, doc="Its variable scope; None before the first call.")
    var_scope = property(lambda self: self._scope, doc="Its variable scope; None before the first call.")
    global_variables = property(lambda self: self._collection(GraphKeys.GLOBAL_VARIABLES), doc="Its variables.")
    local_variables = property(lambda self: self._collection(GraphKeys.LOCAL_VARIABLES), doc="Its local variables.")
    trainable_variables = property(lambda self: self._collection(GraphKeys.TRAINABLE_VARIABLES), doc="Its trainable variables.")
    weights = property(lambda self: self.variables, doc="Its variables.")
    trainable_weights = property(lambda self: self.trainable_variables, doc="Its trainable variables.")

    @property
    def variable_scope_name(self) -> Optional[str]:
        """The prefix of the names of its variables, with the final slash; None before the first call."""
        if self._scope is None:
            return None
        name = self._scope.name
        return name if not name or name.endswith("/") else name + "/"

    @property
    def variables(self) -> List[Any]:
        """Its variables, global and local."""
        return self.global_variables + self.local_variables

    @property
    def non_trainable_variables(self) -> List[Any]:
        """Its variables that are not trainable."""
        trained = self.trainable_variables
        return [v for v in self.variables if v not in trained]


def make_template(
    name_: str, func_: Any, create_scope_now_: bool = False, unique_name_: Optional[str] = None, custom_getter_: Any = None, **kwargs: Any
) -> Template:
    """Returns `func_` as a function that shares its variables (of `tf.get_variable`) between calls.

    Args:
      name_: The name of the variable scope.
      func_: A function.
      create_scope_now_: If true, the scope is opened now rather than by the first call.
      unique_name_: A name that is not made unique.
      custom_getter_: A function that makes variables instead; see `tf.get_variable`.
      **kwargs: Arguments for `func_`.

    Returns:
      A function.

    Example:
      >>> line = tf.make_template("line", lambda x: x * tf.get_variable("w", []))
      >>> y, z = line(tf.constant(1.0)), line(tf.constant(2.0))
      >>> [v.name for v in tf.trainable_variables()]
      ['line/w:0']
    """
    return Template(name_, functools.partial(func_, **kwargs) if kwargs else func_, create_scope_now_, unique_name_, custom_getter_)
