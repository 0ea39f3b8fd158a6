"""Internal modules of helpers that know nothing of graphs, such as `python.util.object_identity`: `NAMES`."""

from __future__ import annotations

import builtins
import collections
import collections.abc
import functools
import importlib
import inspect
import os
import re
import sys
import threading
import types
import weakref
from typing import Any, Callable, Dict, Iterator, List, Optional

from google.protobuf.message import Message

# Objects as keys --------------------------------------------------------------------------------------------


class _Wrapper:
    """An object as a key: equal to other wrappers of the same object."""

    def __init__(self, wrapped: Any) -> None:
        self._wrapped = wrapped

    @property
    def unwrapped(self) -> Any:
        """The object."""
        return self._wrapped

    def _assert_type(self, other: Any) -> None:
        if not isinstance(other, _Wrapper):
            raise TypeError("Cannot compare wrapped object with unwrapped object")

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, _Wrapper) and self.unwrapped is other.unwrapped

    def __ne__(self, other: Any) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return id(self._wrapped)

    def __repr__(self) -> str:
        return "<%s wrapping %r>" % (type(self).__name__, self._wrapped)


class _ObjectIdentityWrapper(_Wrapper):
    pass


class _WeakObjectIdentityWrapper(_Wrapper):
    """A wrapper that does not keep the object alive."""

    def __init__(self, wrapped: Any, key: Any = None) -> None:
        super().__init__(weakref.ref(wrapped))
        self._hash = id(wrapped)

    @property
    def unwrapped(self) -> Any:
        """The object, or None if it is gone."""
        return self._wrapped()

    def __eq__(self, other: Any) -> bool:
        return self is other or super().__eq__(other) and self.unwrapped is not None

    def __hash__(self) -> int:
        return self._hash


class Reference(_ObjectIdentityWrapper):
    """An object as a key of sets and dicts."""

    def deref(self) -> Any:
        """Returns the object."""
        return self._wrapped


class ObjectIdentityDictionary(collections.abc.MutableMapping):
    """A dict whose keys are objects themselves, whatever they are equal to."""

    def __init__(self) -> None:
        self._storage: Dict[Any, Any] = {}

    def _wrap_key(self, key: Any) -> Any:
        return _ObjectIdentityWrapper(key)

    def __getitem__(self, key: Any) -> Any:
        return self._storage[self._wrap_key(key)]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._storage[self._wrap_key(key)] = value

    def __delitem__(self, key: Any) -> None:
        del self._storage[self._wrap_key(key)]

    def __len__(self) -> int:
        return len(self._storage)

    def __iter__(self) -> Iterator[Any]:
        return (key.unwrapped for key in list(self._storage))

    def __repr__(self) -> str:
        return "ObjectIdentityDictionary(%r)" % self._storage


def _alive(storage: Any) -> List[Any]:
    """Returns the objects of weak keys, and removes the keys whose objects are gone."""
    found = []
    for key in list(storage):
        value = key.unwrapped
        if value is None:
            storage.pop(key) if isinstance(storage, dict) else storage.discard(key)
        else:
            found.append(value)
    return found


class ObjectIdentityWeakKeyDictionary(ObjectIdentityDictionary):
    """A dict of the same kind that does not keep its keys alive."""

    def _wrap_key(self, key: Any) -> Any:
        return _WeakObjectIdentityWrapper(key)

    def __len__(self) -> int:
        return len(_alive(self._storage))

    def __iter__(self) -> Iterator[Any]:
        return iter(_alive(self._storage))


class ObjectIdentitySet(collections.abc.MutableSet):
    """A set of objects themselves, whatever they are equal to."""

    def __init__(self, *args: Any) -> None:
        given: Any = args[0] if args else ()
        self._storage = {self._wrap_key(one) for one in given}

    def _wrap_key(self, key: Any) -> Any:
        return _ObjectIdentityWrapper(key)

    @classmethod
    def _from_storage(cls, storage: Any) -> Any:
        made = cls()
        made._storage = storage
        return made

    def __contains__(self, key: Any) -> bool:
        return self._wrap_key(key) in self._storage

    def discard(self, key: Any) -> None:
        """Removes an object if it is there."""
        self._storage.discard(self._wrap_key(key))

    def add(self, key: Any) -> None:
        """Adds an object."""
        self._storage.add(self._wrap_key(key))

    def update(self, items: Any) -> None:
        """Adds objects."""
        self._storage.update([self._wrap_key(one) for one in items])

    def intersection(self, items: Any) -> Any:
        """Returns the objects that are in both, as a set of wrappers."""
        return self._storage.intersection([self._wrap_key(one) for one in items])

    def difference(self, items: Any) -> Any:
        """Returns the objects that are not in `items`."""
        return self._from_storage(self._storage.difference([self._wrap_key(one) for one in items]))

    def __len__(self) -> int:
        return len(self._storage)

    def __iter__(self) -> Iterator[Any]:
        return (key.unwrapped for key in builtins.list(self._storage))


class ObjectIdentityWeakSet(ObjectIdentitySet):
    """A set of the same kind that does not keep its objects alive."""

    def _wrap_key(self, key: Any) -> Any:
        return _WeakObjectIdentityWrapper(key)

    def __len__(self) -> int:
        return len(_alive(self._storage))

    def __iter__(self) -> Iterator[Any]:
        return iter(_alive(self._storage))


# Registries and stacks --------------------------------------------------------------------------------------


class Registry:
    """Values by name, each with the place that registered it."""

    def __init__(self, name: str) -> None:
        self._name, self._registry = name, {}  # type: ignore[var-annotated]

    def register(self, candidate: Any, name: Optional[str] = None) -> None:
        """Registers a value under a name, by default its own.

        Raises:
          KeyError: The name is taken.
        """
        if not name:
            name = candidate.__name__
        if name in self._registry:
            file, line, function = self._registry[name][1]
            raise KeyError("Registering two %s with name '%s'! (Previous registration was in %s %s:%d)" % (self._name, name, function, file, line))
        frame = sys._getframe(1)
        self._registry[name] = candidate, (frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)

    def list(self) -> Any:
        """Returns the names."""
        return self._registry.keys()

    def lookup(self, name: Any) -> Any:
        """Returns the value of a name.

        Raises:
          LookupError: There is none.
        """
        name = name.decode() if isinstance(name, bytes) else name
        if name not in self._registry:
            raise LookupError("%s registry has no entry for: %s" % (self._name, name))
        return self._registry[name][0]


class TraceableObject:
    """An object with the line of the program that it comes from."""

    SUCCESS, HEURISTIC_USED, FAILURE = 0, 1, 2

    def __init__(self, obj: Any, filename: Optional[str] = None, lineno: Optional[int] = None) -> None:
        self.obj, self.filename, self.lineno = obj, filename, lineno

    def set_filename_and_line_from_caller(self, offset: int = 0) -> int:
        """Sets the line: that of the caller, or of a caller further out; returns how it was found."""
        stack = inspect.stack(context=0)[1:]
        at = stack[min(offset, len(stack) - 1)]
        self.filename, self.lineno = at.filename, at.lineno
        return self.SUCCESS if offset < len(stack) else self.HEURISTIC_USED

    def copy_metadata(self) -> "TraceableObject":
        """Returns an object without a value from the same line."""
        return TraceableObject(None, self.filename, self.lineno)


class TraceableStack:
    """A stack of `TraceableObject`s."""

    def __init__(self, existing_stack: Any = None) -> None:
        self._stack: List[TraceableObject] = existing_stack[:] if existing_stack else []

    def push_obj(self, obj: Any, offset: int = 0) -> int:
        """Puts an object on top; returns how its line was found."""
        traceable = TraceableObject(obj)
        self._stack.append(traceable)
        return traceable.set_filename_and_line_from_caller(offset + 1)

    def pop_obj(self) -> Any:
        """Removes the top and returns its object."""
        return self._stack.pop().obj

    def peek_top_obj(self) -> Any:
        """Returns the object on top."""
        return self._stack[-1].obj

    def peek_objs(self) -> Any:
        """Returns the objects from the top down."""
        return (one.obj for one in reversed(self._stack))

    def peek_traceable_objs(self) -> Any:
        """Returns the `TraceableObject`s from the top down."""
        return reversed(self._stack)

    def __len__(self) -> int:
        return len(self._stack)

    def copy(self) -> "TraceableStack":
        """Returns another stack of the same objects."""
        return TraceableStack(self._stack)


class GroupLock:
    """A lock that any number of threads of one group hold at a time."""

    def __init__(self, num_groups: int = 2) -> None:
        if num_groups < 1:
            raise ValueError("num_groups must be a positive integer, got {}".format(num_groups))
        self._ready = threading.Condition(threading.Lock())
        self._num_groups = num_groups
        self._group_member_counts = [0] * num_groups

    def group(self, group_id: int) -> Any:
        """Returns a context manager that holds the lock for a group."""
        self._check(group_id)
        return _Group(self, group_id)

    def acquire(self, group_id: int) -> None:
        """Waits until no other group holds the lock, and takes it."""
        self._check(group_id)
        with self._ready:
            self._ready.wait_for(lambda: not any(n for i, n in enumerate(self._group_member_counts) if i != group_id))
            self._group_member_counts[group_id] += 1

    def release(self, group_id: int) -> None:
        """Gives the lock back."""
        self._check(group_id)
        with self._ready:
            self._group_member_counts[group_id] -= 1
            if not self._group_member_counts[group_id]:
                self._ready.notify_all()

    def _check(self, group_id: int) -> None:
        if not 0 <= group_id < self._num_groups:
            raise ValueError("group_id={} is out of range for num_groups={}".format(group_id, self._num_groups))


class _Group:
    def __init__(self, lock: GroupLock, group_id: int) -> None:
        self._lock, self._group_id = lock, group_id

    def __enter__(self) -> None:
        self._lock.acquire(self._group_id)

    def __exit__(self, *why: Any) -> None:
        self._lock.release(self._group_id)


class LazyLoader(types.ModuleType):
    """A module that is imported when a name is asked of it."""

    def __init__(self, local_name: str, parent_module_globals: Any, name: str, warning: Optional[str] = None) -> None:
        self._local_name, self._parent_module_globals, self._warning = local_name, parent_module_globals, warning
        super().__init__(name)

    def _load(self) -> types.ModuleType:
        module = importlib.import_module(self.__name__)
        self._parent_module_globals[self._local_name] = module
        if self._warning:
            importlib.import_module("millstream.framework.logging").warning(self._warning)
            self._warning = None
        self.__dict__.update(module.__dict__)
        return module

    def __getattr__(self, item: str) -> Any:
        return getattr(self._load(), item)

    def __dir__(self) -> List[str]:
        return dir(self._load())


def dismantle_ordered_dict(ordered_dict: Any) -> None:
    """Empties a dict."""
    ordered_dict.clear()


def path_to_str(path: Any) -> Any:
    """Returns a path as a str; what is no path, as it is."""
    return os.fspath(path) if hasattr(path, "__fspath__") else path


def get_json_type(obj: Any) -> Any:
    """Returns what JSON writes for objects that it does not know: shapes, dtypes, arrays, types.

    Raises:
      TypeError: The object is of no such kind.
    """
    if hasattr(obj, "get_config"):
        return {"class_name": obj.__class__.__name__, "config": obj.get_config()}
    if type(obj).__module__ == "numpy":
        return obj.tolist() if hasattr(obj, "shape") and obj.shape else obj.item()
    if callable(obj) or isinstance(obj, type):
        return obj.__name__
    if hasattr(obj, "as_list") and hasattr(obj, "ndims"):
        return obj.as_list()
    if hasattr(obj, "as_datatype_enum"):
        return obj.name
    if isinstance(obj, collections.abc.Mapping):
        return dict(obj)
    raise TypeError("Not JSON Serializable:", obj)


# Decorators -------------------------------------------------------------------------------------------------


class TFDecorator:
    """A decorator's result, with the function that it decorates."""

    def __init__(self, decorator_name: str, target: Any, decorator_doc: str = "", decorator_argspec: Any = None) -> None:
        self._decorated_target, self._decorator_name = target, decorator_name
        self._decorator_doc, self._decorator_argspec = decorator_doc, decorator_argspec
        if hasattr(target, "__name__"):
            self.__name__ = target.__name__
        if self._decorator_doc:
            self.__doc__ = self._decorator_doc
        elif getattr(target, "__doc__", None):
            self.__doc__ = target.__doc__
        else:
            self.__doc__ = ""
        if decorator_argspec:
            self.__signature__ = _signature(decorator_argspec)
        elif callable(target):
            try:
                self.__signature__ = inspect.signature(target)
            except (TypeError, ValueError):
                pass

    def __get__(self, instance: Any, owner: Any) -> Any:
        return self._decorated_target.__get__(instance, owner)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._decorated_target(*args, **kwargs)

    decorated_target = property(lambda self: self._decorated_target, lambda self, target: setattr(self, "_decorated_target", target), doc="The function.")
    decorator_name = property(lambda self: self._decorator_name, doc="The name of the decorator.")
    decorator_doc = property(lambda self: self._decorator_doc, doc="Its docstring.")
    decorator_argspec = property(lambda self: self._decorator_argspec, doc="Its arguments, or None.")


def _signature(argspec: Any) -> inspect.Signature:
    defaults = argspec.defaults or ()
    first = len(argspec.args) - len(defaults)
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [inspect.Parameter(name, kind, default=defaults[i - first] if first <= i else inspect.Parameter.empty) for i, name in enumerate(argspec.args)]
    if argspec.varargs:
        parameters.append(inspect.Parameter(argspec.varargs, inspect.Parameter.VAR_POSITIONAL))
    keywords = getattr(argspec, "varkw", None) or getattr(argspec, "keywords", None)
    if keywords:
        parameters.append(inspect.Parameter(keywords, inspect.Parameter.VAR_KEYWORD))
    return inspect.Signature(parameters)


def make_decorator(target: Any, decorator_func: Any, decorator_name: Optional[str] = None, decorator_doc: str = "", decorator_argspec: Any = None) -> Any:
    """Makes a function a decorator's result: `unwrap` finds the target."""
    if decorator_name is None:
        decorator_name = sys._getframe(1).f_code.co_name
    decorator = TFDecorator(decorator_name, target, decorator_doc, decorator_argspec)
    decorator_func._tf_decorator = decorator
    if hasattr(target, "__name__"):
        decorator_func.__name__ = target.__name__
    if hasattr(target, "__module__"):
        decorator_func.__module__ = target.__module__
    if hasattr(target, "__dict__"):
        for name, value in target.__dict__.items():
            if name not in decorator_func.__dict__:
                decorator_func.__dict__[name] = value
    decorator_func.__doc__ = decorator.__doc__ or getattr(target, "__doc__", None)
    decorator_func.__wrapped__ = target
    decorator_func.__original_wrapped__ = target
    if hasattr(decorator, "__signature__"):
        decorator_func.__signature__ = decorator.__signature__
    return decorator_func


def unwrap(maybe_tf_decorator: Any) -> Any:
    """Returns the decorators around a function, outermost first, and the function."""
    decorators: List[Any] = []
    current = maybe_tf_decorator
    while True:
        if isinstance(current, TFDecorator):
            decorators.append(current)
        elif hasattr(current, "_tf_decorator"):
            decorators.append(current._tf_decorator)
        else:
            break
        current = decorators[-1].decorated_target
    return decorators, current


def rewrap(decorator_func: Any, previous_target: Any, new_target: Any) -> None:
    """Replaces the innermost function of decorators by another.

    Raises:
      ValueError: `previous_target` is not the innermost function.
    """
    decorators, target = unwrap(decorator_func)
    if target is not previous_target:
        raise ValueError("%s is not the function that %s decorates: that is %s" % (previous_target, decorator_func, target))
    for one in decorators:
        if one.decorated_target is previous_target:
            one.decorated_target = new_target
    if hasattr(decorator_func, "__wrapped__") and decorator_func.__wrapped__ is previous_target:
        decorator_func.__wrapped__ = new_target


class _ClassProperty:
    def __init__(self, func: Any) -> None:
        self._func = func

    def __get__(self, owner_self: Any, owner_cls: Any) -> Any:
        return self._func(owner_cls)


def get_qualified_name(function: Any) -> str:
    """Returns a function's name with that of its class."""
    if getattr(function, "__qualname__", None):
        return function.__qualname__
    return function.im_class.__name__ + "." + function.__name__ if hasattr(function, "im_class") else function.__name__


def validate_callable(func: Any, decorator_name: str) -> None:
    """Checks that what is decorated is a function.

    Raises:
      ValueError: It is not.
    """
    if not hasattr(func, "__call__"):
        raise ValueError("%s is not a function. If this is a property, make sure @property appears before @%s in your source code:\n\n@property\n@%s\ndef method(...)" % (func, decorator_name, decorator_name))


class OpDispatcher:
    """A function that an op is tried with if it cannot convert its arguments."""

    NOT_SUPPORTED = object()

    def handle(self, args: Any, kwargs: Any) -> Any:
        """Returns the result, or `NOT_SUPPORTED`."""
        return self.NOT_SUPPORTED

    def register(self, op: Any) -> None:
        """Adds this to the dispatchers of an op."""
        if not hasattr(op, "_tf_dispatchers"):
            raise AssertionError("Dispatching not enabled for %s" % op)
        op._tf_dispatchers.append(self)


class _TypeBasedDispatcher(OpDispatcher):
    def __init__(self, override_func: Any, types: Any) -> None:
        self._kinds = tuple(types)
        self._override_func = override_func

    def handle(self, args: Any, kwargs: Any) -> Any:
        """Returns the result if an argument, or an element of one that is a list, is of one of the types."""
        for one in (*args, *kwargs.values()):
            if isinstance(one, self._kinds) or isinstance(one, (list, tuple)) and any(isinstance(x, self._kinds) for x in one):
                return self._override_func(*args, **kwargs)
        return self.NOT_SUPPORTED


def dispatch(op: Any, *args: Any, **kwargs: Any) -> Any:
    """Returns the result of the first dispatcher of an op that takes the arguments, or `NOT_SUPPORTED`."""
    for dispatcher in op._tf_dispatchers:
        result = dispatcher.handle(args, kwargs)
        if result is not OpDispatcher.NOT_SUPPORTED:
            return result
    return OpDispatcher.NOT_SUPPORTED


def dispatch_for_types(op: Any, *types: Any) -> Callable[[Any], Any]:
    """Returns a decorator of the function that is called for arguments of types."""

    def decorator(func: Any) -> Any:
        _TypeBasedDispatcher(func, types).register(op)
        return func

    return decorator


def add_dispatch_list(target: Any) -> Any:
    """Gives a function a list of dispatchers.

    Raises:
      AssertionError: It has one.
    """
    if hasattr(target, "_tf_dispatchers"):
        raise AssertionError("%s already has a dispatch list" % target)
    target._tf_dispatchers = []
    return target


def add_dispatch_support(target: Any) -> Any:
    """A decorator of a function whose dispatchers are tried if it raises a `TypeError` or `ValueError`."""

    @functools.wraps(target)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        try:
            return target(*args, **kwargs)
        except (TypeError, ValueError):
            result = dispatch(wrapper, *args, **kwargs)
            if result is not OpDispatcher.NOT_SUPPORTED:
                return result
            raise

    add_dispatch_list(wrapper)
    return make_decorator(target, wrapper, "add_dispatch_support")


# Deprecation ------------------------------------------------------------------------------------------------

DeprecatedArgSpec = collections.namedtuple("DeprecatedArgSpec", ["position", "has_ok_value", "ok_value"])


class DeprecatedNamesAlreadySet(Exception):
    """Deprecated names of a symbol are set a second time."""


class HiddenTfApiAttribute(property):
    """A property that raises: the attribute of a base class is hidden."""

    def __init__(self, deprecation_message: str) -> None:
        def raise_error(unused_self: Any) -> Any:
            raise AttributeError(deprecation_message)

        super().__init__(raise_error)


def deprecated_argument_lookup(new_name: str, new_value: Any, old_name: str, old_value: Any) -> Any:
    """Returns the value of an argument that has an old and a new name.

    Raises:
      ValueError: Both are given.
    """
    if old_value is not None:
        if new_value is not None:
            raise ValueError("Cannot specify both '%s' and '%s'" % (old_name, new_name))
        return old_value
    return new_value


def deprecated_endpoints(*args: Any) -> Callable[[Any], Any]:
    """Returns a decorator that notes old names of a function.

    Raises:
      DeprecatedNamesAlreadySet: It has some.
    """

    def decorator(func: Any) -> Any:
        if "_tf_deprecated_api_names" in func.__dict__:
            raise DeprecatedNamesAlreadySet("Cannot set deprecated names for %s to %s. Deprecated names are already set to %s." % (func.__name__, str(args), str(func._tf_deprecated_api_names)))
        func._tf_deprecated_api_names = args
        return func

    return decorator


def rewrite_argument_docstring(old_doc: str, old_argument: str, new_argument: str) -> str:
    """Returns a docstring with another name for an argument."""
    return old_doc.replace("`%s`" % old_argument, "`%s`" % new_argument).replace("%s:" % old_argument, "%s:" % new_argument)


# Messages ---------------------------------------------------------------------------------------------------


def _is_map(value: Any) -> bool:
    return isinstance(value, collections.abc.Mapping)


def _is_repeated(value: Any) -> bool:
    return not isinstance(value, (str, bytes, Message)) and hasattr(value, "__len__")


def ProtoEq(a: Any, b: Any) -> bool:
    """Returns whether two messages or values are equal, field by field."""
    if isinstance(a, Message) and isinstance(b, Message):
        if a.DESCRIPTOR.full_name != b.DESCRIPTOR.full_name:
            return False
        ours, theirs = ({field.number: value for field, value in one.ListFields()} for one in (a, b))
        return set(ours) == set(theirs) and all(ProtoEq(ours[n], theirs[n]) for n in ours)
    if _is_map(a) and _is_map(b):
        return set(a) == set(b) and all(ProtoEq(a[k], b[k]) for k in a)
    if _is_repeated(a) and _is_repeated(b):
        return len(a) == len(b) and all(ProtoEq(x, y) for x, y in zip(a, b))
    return a == b


def NormalizeNumberFields(pb: Any) -> Any:
    """Rounds the numbers of a message as its text shows them, in place, and returns it."""
    for field, values in pb.ListFields():
        is_list = _is_repeated(values) and not _is_map(values)
        if field.cpp_type == field.CPPTYPE_MESSAGE:
            inner = values.values() if _is_map(values) else values if is_list else [values]
            for one in inner:
                if isinstance(one, Message):
                    NormalizeNumberFields(one)
        elif field.cpp_type in (field.CPPTYPE_FLOAT, field.CPPTYPE_DOUBLE):
            digits = "%.7g" if field.cpp_type == field.CPPTYPE_FLOAT else "%.6g"
            rounded = [float(digits % v) for v in (values if is_list else [values])]
            pb.ClearField(field.name)
            if is_list:
                getattr(pb, field.name).extend(rounded)
            else:
                setattr(pb, field.name, rounded[0])
    return pb


def assertProtoEqual(self: Any, a: Any, b: Any, check_initialized: bool = True, normalize_numbers: bool = False, msg: Optional[str] = None) -> None:
    """Asserts in a test that two messages are equal; one of them may be text."""
    from google.protobuf import text_format

    pool = importlib.import_module("google.protobuf.descriptor_pool").Default()
    if isinstance(a, str):
        a = text_format.Parse(a, b.__class__(), descriptor_pool=pool)
    if isinstance(b, str):
        b = text_format.Parse(b, a.__class__(), descriptor_pool=pool)
    for one in (a, b):
        if check_initialized:
            errors = one.FindInitializationErrors()
            if errors:
                self.fail("Initialization errors: %s\n%s" % (errors, one))
        if normalize_numbers:
            NormalizeNumberFields(one)
    texts = [text_format.MessageToString(one, descriptor_pool=pool) for one in (a, b)]
    if texts[0] != texts[1]:
        self.assertMultiLineEqual(texts[0], texts[1], msg=msg)


class ProtoAssertions:
    """A base of tests with `assertProtoEqual`."""

    def assertProtoEqual(self, *args: Any, **kwargs: Any) -> None:  # noqa: N802
        """Asserts that two messages are equal."""
        return assertProtoEqual(self, *args, **kwargs)


# Names of the public interface ------------------------------------------------------------------------------


class InvalidSymbolNameError(Exception):
    """A symbol is exported under an invalid name."""


class SymbolAlreadyExposedError(Exception):
    """A symbol is exported a second time."""


def get_canonical_name(api_names: Any, deprecated_api_names: Any) -> Optional[str]:
    """Returns the first name that is not deprecated, else the first one, else None."""
    current = next((name for name in api_names if name not in deprecated_api_names), None)
    return current if current is not None else api_names[0] if api_names else None


def kwarg_only(f: Any) -> Any:
    """A decorator of a function whose arguments are given by their names alone."""
    wanted = inspect.getfullargspec(f)

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if args:
            raise TypeError("{f} only takes keyword args (possible keys: {kwargs}). Please pass these args as kwargs instead.".format(f=f.__name__, kwargs=wanted.args))
        return f(**kwargs)

    return make_decorator(f, wrapper, "kwarg_only", decorator_argspec=wanted)


def camel_to_snake(value: str) -> str:
    """Returns a name with underscores: `my_name` of `MyName`."""
    return re.sub(r"((?<=[a-z0-9])[A-Z]|(?!^)[A-Z](?=[a-z]))", r"_\1", value).lower()


def valid_identifier(name: str) -> bool:
    """Returns whether a name is one that Python takes for a variable."""
    return bool(re.match(r"^[a-zA-Z_]([a-zA-Z0-9_])*$", name))


NAMES: Dict[str, Dict[str, Any]] = {
    "python.framework.registry": {"Registry": Registry},
    "python.framework.traceable_stack": {"TraceableObject": TraceableObject, "TraceableStack": TraceableStack},
    "python.util.compat_internal": {"path_to_str": path_to_str},
    "python.util.decorator_utils": {"classproperty": _ClassProperty, "get_qualified_name": get_qualified_name, "validate_callable": validate_callable},
    "python.util.deprecation": {
        "DeprecatedArgSpec": DeprecatedArgSpec,
        "DeprecatedNamesAlreadySet": DeprecatedNamesAlreadySet,
        "HIDDEN_ATTRIBUTE": HiddenTfApiAttribute("This attribute has been deprecated."),
        "HiddenTfApiAttribute": HiddenTfApiAttribute,
        "deprecated_argument_lookup": deprecated_argument_lookup,
        "deprecated_endpoints": deprecated_endpoints,
        "hide_attribute_from_api": HiddenTfApiAttribute,
        "rewrite_argument_docstring": rewrite_argument_docstring,
    },
    "python.util.dispatch": {
        "DISPATCH_ATTR": "_tf_dispatchers",
        "OpDispatcher": OpDispatcher,
        "_TypeBasedDispatcher": _TypeBasedDispatcher,
        "add_dispatch_list": add_dispatch_list,
        "add_dispatch_support": add_dispatch_support,
        "dispatch": dispatch,
        "dispatch_for_types": dispatch_for_types,
    },
    "python.util.function_utils": {"get_func_code": lambda func: getattr(unwrap(func)[1], "__code__", None)},
    "python.util.lazy_loader": {"LazyLoader": LazyLoader},
    "python.util.lock_util": {"GroupLock": GroupLock},
    "python.util.memory": {"dismantle_ordered_dict": dismantle_ordered_dict},
    "python.util.object_identity": {
        "ObjectIdentityDictionary": ObjectIdentityDictionary,
        "ObjectIdentitySet": ObjectIdentitySet,
        "ObjectIdentityWeakKeyDictionary": ObjectIdentityWeakKeyDictionary,
        "ObjectIdentityWeakSet": ObjectIdentityWeakSet,
        "Reference": Reference,
        "_ObjectIdentityWrapper": _ObjectIdentityWrapper,
        "_WeakObjectIdentityWrapper": _WeakObjectIdentityWrapper,
    },
    "python.util.protobuf.compare": {"NormalizeNumberFields": NormalizeNumberFields, "ProtoAssertions": ProtoAssertions, "ProtoEq": ProtoEq, "assertProtoEqual": assertProtoEqual},
    "python.util.serialization": {"get_json_type": get_json_type},
    "python.util.tf_decorator": {"TFDecorator": TFDecorator, "make_decorator": make_decorator, "rewrap": rewrap, "unwrap": unwrap},
    "python.util.tf_export": {
        "InvalidSymbolNameError": InvalidSymbolNameError,
        "SymbolAlreadyExposedError": SymbolAlreadyExposedError,
        "get_canonical_name": get_canonical_name,
        "kwarg_only": kwarg_only,
    },
    "python.module.module": {"camel_to_snake": camel_to_snake, "valid_identifier": valid_identifier},
}
