"""Builds, runs and stores a golden case: a graph, its feeds, and TensorFlow's results.

A case function receives a `Case`, on which it declares feeds, fetches, targets and the expected error.
`store` imports the finished graph from its bytes, as a reader will, runs it, and writes the folder. Nothing
depends on the time or the machine, so running it again writes the same bytes.
"""
import collections
import io
import json
import os
import re
import zipfile

import numpy as np
import tensorflow.compat.v1 as tf

CODES = {
    1: 'CANCELLED', 2: 'UNKNOWN', 3: 'INVALID_ARGUMENT', 4: 'DEADLINE_EXCEEDED', 5: 'NOT_FOUND',
    6: 'ALREADY_EXISTS', 7: 'PERMISSION_DENIED', 8: 'RESOURCE_EXHAUSTED', 9: 'FAILED_PRECONDITION',
    10: 'ABORTED', 11: 'OUT_OF_RANGE', 12: 'UNIMPLEMENTED', 13: 'INTERNAL', 14: 'UNAVAILABLE',
    15: 'DATA_LOSS', 16: 'UNAUTHENTICATED',
}

CASES = collections.OrderedDict()  # name -> (group, about, function, made with TensorFlow 2?)

# Attributes that TensorFlow 2 writes with their default value, and that TensorFlow 1.15 does not have.
NEW_ATTRS = ('grad_a', 'grad_b', 'debug_name', 'bad_indices_policy', 'allowed_devices')

FLOATS = {np.dtype('float16'): (4e-3, 4e-3), np.dtype('float32'): (1e-5, 1e-6), np.dtype('float64'): (1e-10, 1e-12),
          np.dtype('complex64'): (1e-5, 1e-6), np.dtype('complex128'): (1e-10, 1e-12)}


class GoldenError(Exception):
    """A case that does not behave as it declares."""


def case(name, group, about):
    """Registers the decorated function as the builder of case `name`."""
    def add(build):
        if name in CASES:
            raise GoldenError('two cases are called %s' % name)
        CASES[name] = (group, about, build, name.startswith('tf2_'))
        return build
    return add


class Case(object):
    """The declarations of a case, besides the graph itself."""

    def __init__(self):
        self.feeds = collections.OrderedDict()
        self.fetches = []       # (tensor name, options)
        self.targets = []
        self.error = None
        self.keep_new_attrs = False
        self.graph_def = None   # Set by builders that do not use the default graph.

    def feed(self, name, value, dtype=None, shape='same'):
        """Adds a placeholder `name` with the static shape `shape`, and the value to feed."""
        value = np.asarray(value)
        dtype = dtype or (tf.string if value.dtype.kind in 'SU' else tf.as_dtype(value.dtype))
        tensor = tf.placeholder(dtype, value.shape if shape == 'same' else shape, name=name)
        self.feeds[tensor.name] = value
        return tensor

    def feed_at(self, tensor, value):
        """Feeds a tensor that is not a placeholder."""
        self.feeds[tensor.name] = np.asarray(value)

    def fetch(self, *tensors, **options):
        """Fetches tensors; options: exact=True for floats that must agree bit for bit, rtol, atol,
        multiset."""
        for tensor in tf.nest.flatten(list(tensors)):
            if isinstance(tensor, (tf.SparseTensor, tf.IndexedSlices)):
                parts = [tensor.indices, tensor.values, tensor.dense_shape]
                self.fetch(*[p for p in parts if p is not None], **options)
            else:
                name = tensor if isinstance(tensor, str) else tensor.name
                self.fetches.append((name, options))

    def target(self, *ops):
        """Declares operations to run first, in this order, each in a step of its own."""
        for op in ops:
            self.targets.append(op if isinstance(op, str) else op.name)

    def init(self):
        """Declares that the initialisers of all variables run first."""
        self.target(tf.global_variables_initializer())

    def fails(self, code):
        """Declares that the run must end with this status code."""
        self.error = code


def to_stored(value):
    """An array in its stored form: strings as NumPy bytes, without trailing zeros."""
    value = np.asarray(value)
    if value.dtype.kind in 'OU':
        flat = [v if isinstance(v, bytes) else str(v).encode('utf8') for v in value.ravel().tolist()]
        width = max([len(v) for v in flat] + [1])
        return np.array(flat, dtype='S%d' % width).reshape(value.shape)
    return value


def write_npz(path, arrays):
    """Writes an npz whose bytes depend on the arrays alone."""
    with zipfile.ZipFile(path, 'w', zipfile.ZIP_DEFLATED) as archive:
        for name, value in arrays.items():
            data = io.BytesIO()
            value = to_stored(value)
            if not value.flags.c_contiguous:
                value = np.array(value, order='C')
            np.lib.format.write_array(data, value, version=(1, 0), allow_pickle=False)
            entry = zipfile.ZipInfo(name + '.npy', date_time=(1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o600 << 16
            archive.writestr(entry, data.getvalue())


def code_of(error):
    """The name of the status code of an exception that `Session.run` raised."""
    return CODES[error.error_code]


def short_message(error):
    """TensorFlow's message without the stack of nodes at its end."""
    text = error.message or ''
    for cut in ('\n\t [[', '\n\nOriginal stack', '\n\t[[', '\n[[', '\n\nErrors may'):
        text = text.split(cut)[0]
    return re.sub(r' \(defined at [^)]*\)', '', text).strip()


def execute(graph_bytes, feeds, targets, fetches, config=None):
    """Imports the graph and runs it. Returns the list of values, or raises TensorFlow's error."""
    graph_def = tf.GraphDef()
    graph_def.ParseFromString(graph_bytes)
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(graph_def, name='')
    with tf.Session(graph=graph, config=config) as session:
        for target in targets:
            session.run(graph.get_operation_by_name(target), feeds)
        return [to_stored(v) for v in session.run(list(fetches), feeds)]


def attempt(graph_bytes, feeds, targets, fetches, config):
    """The values and None, or None and the error."""
    try:
        return execute(graph_bytes, feeds, targets, fetches, config), None
    except tf.errors.OpError as error:
        return None, error


def without_rewriting():
    """A session configuration without graph optimisation."""
    config = tf.ConfigProto()
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    config.graph_options.optimizer_options.opt_level = -1
    return config


def rename_functions(graph_def):
    """Numbers the library's functions by the order of their creation, and sorts them. TensorFlow's own
    numbers and order vary."""
    names = [f.signature.name for f in graph_def.library.function]
    ordered = sorted(names, key=lambda n: (int(re.search(r'(\d+)$', n).group(1)) if re.search(r'\d+$', n) else -1, n))
    renamed = {old: '%s_%d' % (re.sub(r'_\d+$', '', old), k) for k, old in enumerate(ordered)}

    def mend(value):
        if value.WhichOneof('value') == 'func' and value.func.name in renamed:
            value.func.name = renamed[value.func.name]
        for func in value.list.func:
            func.name = renamed.get(func.name, func.name)
        if value.WhichOneof('value') == 's' and value.s.decode('latin1') in renamed:
            value.s = renamed[value.s.decode('latin1')].encode('latin1')
    for nodes in [graph_def.node] + [f.node_def for f in graph_def.library.function]:
        for node in nodes:
            node.op = renamed.get(node.op, node.op)
            for key in list(node.attr):
                if node.attr[key].WhichOneof('value') in ('func', 'list', 's'):
                    mend(node.attr[key])
    functions = list(graph_def.library.function)
    for function in functions:
        for key in list(function.attr):
            if function.attr[key].WhichOneof('value') in ('func', 'list', 's'):
                mend(function.attr[key])
    functions.sort(key=lambda f: ordered.index(f.signature.name))
    for function in functions:
        function.signature.name = renamed[function.signature.name]
    del graph_def.library.function[:]
    graph_def.library.function.extend(functions)
    for gradient in graph_def.library.gradient:
        gradient.function_name = renamed.get(gradient.function_name, gradient.function_name)
        gradient.gradient_func = renamed.get(gradient.gradient_func, gradient.gradient_func)


def how_to_compare(value, options):
    """The comparison fields of a fetch."""
    if options.get('multiset'):
        return collections.OrderedDict(compare='multiset')
    if options.get('exact') or value.dtype not in FLOATS:
        return collections.OrderedDict(compare='exact')
    rtol, atol = FLOATS[value.dtype]
    rtol, atol = options.get('rtol', rtol), options.get('atol', atol)
    finite = np.abs(value[np.isfinite(value)].astype(np.complex128))
    scale = float(finite.max()) if finite.size else 1.0
    atol = float('%.3g' % (atol * max(scale, 1e-3)))
    return collections.OrderedDict([('compare', 'close'), ('rtol', rtol), ('atol', atol)])


def agrees(got, want, how):
    """Whether a value agrees with the case, under the fetch's own comparison."""
    got, want = np.asarray(got), np.asarray(want)
    if got.shape != want.shape:
        return False
    if how['compare'] == 'multiset':
        return sorted(r.tobytes() for r in got) == sorted(r.tobytes() for r in want)
    if how['compare'] == 'exact':
        if want.dtype.kind in 'fc':
            return bool(np.all((got == want) | (np.isnan(got) & np.isnan(want))))
        return np.array_equal(got.astype(want.dtype), want)
    wide = np.complex128 if want.dtype.kind == 'c' else np.float64
    return bool(np.allclose(got.astype(wide), want.astype(wide), how['rtol'], how['atol'], equal_nan=True))


def dtype_name(value):
    """TensorFlow's name of a stored array's dtype."""
    return 'string' if value.dtype.kind == 'S' else value.dtype.name


def describe(value):
    """The dtype and shape of an array, in the form of case.json."""
    return [('dtype', dtype_name(value)), ('shape', list(value.shape))]


def count_ops(graph_def):
    """The number of nodes of each op in the graph and its functions."""
    nodes = list(graph_def.node)
    for function in graph_def.library.function:
        nodes.extend(function.node_def)
    return collections.OrderedDict(sorted(collections.Counter(n.op for n in nodes).items()))


def drop_new_attrs(graph_def):
    """Removes attributes that TensorFlow 1.15 would refuse. They hold their default, so the meaning stays the
    same."""
    for nodes in [graph_def.node] + [f.node_def for f in graph_def.library.function]:
        for node in nodes:
            for name in NEW_ATTRS:
                node.attr.pop(name, None)
            if node.op == 'AssignVariableOp':
                node.attr.pop('validate_shape', None)
            if node.op == 'TensorListGetItem':
                node.attr.pop('Tshape', None)


def to_json(record):
    """JSON with one line per feed and fetch."""
    def line(value):
        return json.dumps(value)

    lines = []
    for key, value in record.items():
        if key in ('feeds', 'fetches') and value:
            text = '[\n    ' + ',\n    '.join(line(v) for v in value) + '\n  ]'
        else:
            text = line(value)
        lines.append('  "%s": %s' % (key, text))
    return '{\n' + ',\n'.join(lines) + '\n}\n'


def store(name, folder):
    """Builds, runs twice and writes case `name`. Raises `GoldenError` if it does not behave as declared."""
    group, about, build, _ = CASES[name]
    tf.reset_default_graph()
    made = Case()
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(1234)
        build(made)
        graph_def = made.graph_def or graph.as_graph_def()
    if not made.keep_new_attrs:
        drop_new_attrs(graph_def)
    rename_functions(graph_def)
    graph_bytes = graph_def.SerializeToString(deterministic=True)
    feeds = collections.OrderedDict((k, to_stored(v)) for k, v in made.feeds.items())
    names = [n for n, _ in made.fetches]
    values, error = attempt(graph_bytes, feeds, made.targets, names, None)
    # The value must not depend on TensorFlow's graph rewriting.
    again, second_error = attempt(graph_bytes, feeds, made.targets, names, without_rewriting())
    if (error is None) != (second_error is None) or error is not None and code_of(error) != code_of(second_error):
        raise GoldenError('%s: %s with graph rewriting, %s without' % (name, error, second_error))
    if made.error:
        if error is None:
            raise GoldenError('%s: ran to the end but must fail with %s' % (name, made.error))
        if code_of(error) != made.error:
            raise GoldenError('%s: failed with %s: %s' % (name, code_of(error), short_message(error)))
    elif error is not None:
        raise GoldenError('%s: %s: %s' % (name, code_of(error), short_message(error)))

    path = os.path.join(folder, name)
    if not os.path.isdir(path):
        os.makedirs(path)
    record = collections.OrderedDict([
        ('name', name), ('group', group), ('about', about),
        ('producer', 'TensorFlow ' + tf.__version__ if hasattr(tf, '__version__') else 'TensorFlow ' + tf.version.VERSION),
        ('graph_def_version', graph_def.versions.producer),
        ('feeds', [collections.OrderedDict([('name', k)] + describe(v)) for k, v in feeds.items()]),
        ('targets', made.targets),
    ])
    fetched = os.path.join(path, 'fetches.npz')
    if made.error:
        record['fetches'] = [collections.OrderedDict(name=n) for n in names]
        message = short_message(error)
        record['error'] = collections.OrderedDict([('code', made.error), ('message', message)])
        if os.path.exists(fetched):
            os.remove(fetched)
    else:
        record['fetches'] = []
        for (fetch, options), value, second in zip(made.fetches, values, again):
            how = how_to_compare(value, options)
            if not agrees(second, value, how):
                raise GoldenError('%s: %s differs from run to run' % (name, fetch))
            record['fetches'].append(collections.OrderedDict([('name', fetch)] + describe(value) + list(how.items())))
        record['error'] = None
        write_npz(fetched, collections.OrderedDict(zip(names, values)))
    record['timeout_s'] = 30
    record['ops'] = count_ops(graph_def)
    with open(os.path.join(path, 'graph.pb'), 'wb') as out:
        out.write(graph_bytes)
    write_npz(os.path.join(path, 'feeds.npz'), feeds)
    with open(os.path.join(path, 'case.json'), 'w') as out:
        out.write(to_json(record))
