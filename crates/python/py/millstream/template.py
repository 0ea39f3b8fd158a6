"""`tf.make_template`: a function whose variables are made by its first call and shared by the others."""

from __future__ import annotations

from typing import Any, Callable, List, Optional

from millstream.framework import get_default_graph
from millstream.graph_keys import GraphKeys
from millstream.variable_scopes import variable_scope

__all__ = ["make_template"]


def make_template(
    name_: str,
    func_: Callable[..., Any],
    create_scope_now_: bool = False,
    unique_name_: Optional[str] = None,
    custom_getter_: Any = None,
    **kwargs: Any,
) -> "Template":
    """`func_` with these arguments given, as a function that makes its variables in its first call, in a scope of its own, and uses them in the others.

        scale = tf.make_template("scale", lambda x: x * tf.get_variable("w", []))
        y, z = scale(a), scale(b)  # one `scale/w`
    """
    return Template(name_, func_, create_scope_now_, unique_name_, custom_getter_, kwargs)


class Template:
    """What `make_template` gives."""

    def __init__(self, name: str, func: Callable[..., Any], now: bool, unique_name: Optional[str], custom_getter: Any, kwargs: Any) -> None:
        if name is None:
            raise ValueError("name cannot be None.")
        self._name, self._func, self._unique_name, self._getter, self._kwargs = name, func, unique_name, custom_getter, kwargs
        self._scope: Any = None
        self._variables_made = False
        if now:
            with variable_scope(self._unique_name, self._name, custom_getter=custom_getter, auxiliary_name_scope=False) as scope:
                self._scope = scope

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._scope is None:
            with variable_scope(self._unique_name, self._name, custom_getter=self._getter) as scope:
                self._scope = scope
                return self._call(args, kwargs)
        with variable_scope(self._scope, reuse=self._variables_made):
            return self._call(args, kwargs)

    def _call(self, args: Any, kwargs: Any) -> Any:
        trainable = len(get_default_graph().get_collection(GraphKeys.TRAINABLE_VARIABLES))
        result = self._func(*args, **{**self._kwargs, **kwargs})
        if self._variables_made and trainable != len(get_default_graph().get_collection(GraphKeys.TRAINABLE_VARIABLES)):
            raise ValueError(
                "New trainable variable created when calling a template after the first time, perhaps you used tf.Variable "
                "when you meant tf.get_variable: in template %r" % self._name
            )
        self._variables_made = True
        return result

    @property
    def name(self) -> str:
        """The name it was given."""
        return self._name

    @property
    def func(self) -> Callable[..., Any]:
        """The function."""
        return self._func

    @property
    def variable_scope(self) -> Any:
        """The scope of its variables; None before the first call."""
        return self._scope

    @property
    def var_scope(self) -> Any:
        """The scope of its variables, by an older name."""
        return self._scope

    def _of(self, key: str) -> List[Any]:
        if self._scope is None:
            return []
        return get_default_graph().get_collection(key, scope=self._scope.name + "/")

    @property
    def variables(self) -> List[Any]:
        """Its variables."""
        return self._of(GraphKeys.GLOBAL_VARIABLES)

    global_variables = variables

    @property
    def trainable_variables(self) -> List[Any]:
        """Those of them that are trained."""
        return self._of(GraphKeys.TRAINABLE_VARIABLES)

    @property
    def local_variables(self) -> List[Any]:
        """Its local variables."""
        return self._of(GraphKeys.LOCAL_VARIABLES)
