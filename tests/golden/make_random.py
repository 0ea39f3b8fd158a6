"""Writes `random.txt`, the results of TensorFlow's random ops, or checks that it would not change.

    python make_random.py [--check] [--hashed] [--wide] [FILE]

Each entry is a line `Op(arguments; attributes)`, in the form of the op library's examples, then a line for
each of three runs of one session: the values, or for more than 24 elements `# crc32 of their little-endian
bytes`. The last bit of a logarithm, sine or exponential depends on the C library: such results are marked
`~`, and only short ones are kept, unless `--hashed` asks for a checksum of all. `--wide` uses more shapes
than the stored file. TensorFlow 1.15 (without later ops) and 2 give equal results; the stored file was made
with 2.
"""
import io
import os
import sys
import zlib

os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')
import numpy as np
import tensorflow.compat.v1 as tf
from tensorflow.python.framework import op_def_registry

HERE = os.path.dirname(os.path.abspath(__file__))
NAMES = {'float16': 'f16', 'bfloat16': 'bf16', 'float32': 'f32', 'float64': 'f64', 'int32': 'i32', 'int64': 'i64',
         'uint32': 'u32', 'uint64': 'u64', 'string': 'str', 'object': 'str', 'int8': 'i8', 'uint8': 'u8', 'int16': 'i16',
         'uint16': 'u16'}
GRAPH_OPTIONS = tf.GraphOptions()
GRAPH_OPTIONS.rewrite_options.disable_meta_optimizer = True
RUNS = 3
SHORT = 24


def number(v):
    if isinstance(v, (bytes, str)):
        return '"%s"' % (v.decode() if isinstance(v, bytes) else v)
    if v.dtype.kind in 'iu':
        return str(int(v))
    if v.dtype == np.float64:
        return repr(float(v))
    return repr(float(np.float32(v))) if v.dtype != np.float32 else str(np.format_float_positional(v, unique=True)) \
        if 1e-5 < abs(v) < 1e9 or v == 0 else str(np.format_float_scientific(v, unique=True))


def literal(value):
    """A tensor in the form of the examples."""
    def nested(v):
        return number(v) if np.ndim(v) == 0 else '[%s]' % ' '.join(nested(x) for x in v)
    value = value if isinstance(value, np.ndarray) else np.asarray(value)
    return '%s[%s] %s' % (NAMES[value.dtype.name], ','.join(map(str, value.shape)), nested(value if value.ndim else value[()]))


def attr(value):
    if isinstance(value, tf.DType):
        return NAMES[value.name]
    return '"%s"' % value if isinstance(value, str) else str(value)


def has(op):
    known = getattr(op_def_registry, 'get_registered_ops', None)
    return op in known() if known else op_def_registry.get(op) is not None


def runs(op, args, attrs):
    # The CPU is named because ops without a CPU kernel would otherwise go to an XLA device, which draws other
    # numbers.
    with tf.Graph().as_default() as graph, tf.device('/cpu:0'):
        inputs = [tf.constant(a) for a in args]
        outputs = list(node_of(graph, op, inputs, attrs).outputs)
        with tf.Session(config=tf.ConfigProto(intra_op_parallelism_threads=1, graph_options=GRAPH_OPTIONS)) as session:
            return [session.run(outputs) for _ in range(RUNS)]


def node_of(graph, op, inputs, attrs):
    from tensorflow.core.framework import attr_value_pb2
    values = {}
    for name, value in attrs.items():
        message = attr_value_pb2.AttrValue()
        if isinstance(value, tf.DType):
            message.type = value.as_datatype_enum
        else:
            message.i = value
        values[name] = message
    known = getattr(op_def_registry, 'get_registered_ops', None)
    definition = known()[op] if known else op_def_registry.get(op)
    out_types = []
    for arg, t in zip(definition.input_arg, inputs):
        if arg.type_attr and arg.type_attr not in values:
            values[arg.type_attr] = attr_value_pb2.AttrValue(type=t.dtype.as_datatype_enum)
    for spec in definition.attr:
        if spec.name not in values and spec.HasField('default_value'):
            values[spec.name] = spec.default_value
    for arg in definition.output_arg:
        out_types.append(tf.as_dtype(values[arg.type_attr].type if arg.type_attr else arg.type))
    return graph.create_op(op, inputs, out_types, attrs=values, name='n')


def entry(out, op, args, exact=True, hashed=False, **attrs):
    if not has(op):
        return
    text = '%s(%s; %s)' % (op, ', '.join(literal(a) for a in args),
                           ', '.join('%s=%s' % (k, attr(v)) for k, v in sorted(attrs.items())))
    lines = []
    try:
        results = runs(op, args, attrs)
    except tf.errors.InvalidArgumentError as e:
        if not any(known in str(e) for known in ('No OpKernel', 'Could not satisfy explicit device')):
            raise
        return
    for values in results:
        if all(v.size <= SHORT for v in values) and not hashed:
            lines.append('%s %s' % ('=' if exact else '~', ', '.join(literal(v) for v in values)))
        else:
            lines.append('# %08x' % zlib.crc32(b''.join(np.ascontiguousarray(v).tobytes() for v in values)))
    if not exact and not hashed and any(l.startswith('#') for l in lines):
        return
    out.write('\n'.join([text] + lines) + '\n')


SHAPES = [[], [0], [3], [5], [2, 4], [4099]]
MORE_SHAPES = [[1], [2], [4], [7], [3, 3], [2, 1, 6], [1023], [70001]]
FLOATS = [tf.float16, tf.bfloat16, tf.float32, tf.float64]


def everything(out, hashed=False):
    def floats(ops_and_exact, args=lambda shape: [np.array(shape, np.int32)], **attrs):
        for op, exact in ops_and_exact:
            for dtype in FLOATS:
                for shape in SHAPES:
                    entry(out, op, args(shape), exact=exact, hashed=hashed, dtype=dtype, **attrs)

    floats([('RandomUniform', True), ('RandomStandardNormal', False), ('TruncatedNormal', False)], seed=87654321, seed2=-42)
    seed = lambda shape: [np.array(shape, np.int32), np.array([5, -7], np.int64)]
    floats([('StatelessRandomUniform', True), ('StatelessRandomNormal', False), ('StatelessTruncatedNormal', False)], args=seed)
    seed32 = lambda shape: [np.array(shape, np.int64), np.array([-5, 7], np.int32)]
    floats([('StatelessRandomUniform', True)], args=seed32)
    key = lambda shape: [np.array(shape, np.int64), np.array([2**63 + 5], np.uint64),
                         np.array([2**64 - 2, 77], np.uint64), np.int32(1)]
    floats([('StatelessRandomUniformV2', True), ('StatelessRandomNormalV2', False),
            ('StatelessTruncatedNormalV2', False)], args=key)

    for shape in SHAPES:
        for t, low, high in [(np.int32, -5, 7), (np.int64, -2**40, 2**50 + 3), (np.int32, -2**31, 2**31 - 1)]:
            bounds = [t(low), t(high)]
            entry(out, 'RandomUniformInt', [np.array(shape, np.int32)] + bounds, hashed=hashed, seed=0, seed2=9)
            entry(out, 'StatelessRandomUniformInt', seed(shape) + bounds, hashed=hashed)
            entry(out, 'StatelessRandomUniformIntV2', key(shape) + bounds, hashed=hashed)
        for dtype in [tf.int32, tf.int64, tf.uint32, tf.uint64]:
            entry(out, 'StatelessRandomUniformFullInt', seed(shape), hashed=hashed, dtype=dtype)
            entry(out, 'StatelessRandomUniformFullIntV2', key(shape), hashed=hashed, dtype=dtype)
    for pair in [np.array([0, 0], np.int32), np.array([-1, 2**40], np.int64)]:
        entry(out, 'StatelessRandomGetKeyCounter', [pair])
        entry(out, 'StatelessRandomGetKeyCounterAlg', [pair])

    for shape in [(), (0,), (1,), (2,), (3,), (4,), (5,), (6,), (9,), (21,), (1, 4), (4, 1), (5, 3), (9, 2), (2, 2, 3), (3, 0),
                  (1000,), (1001, 3)]:
        value = np.arange(int(np.prod(shape)), dtype=np.int32).reshape(shape)
        entry(out, 'RandomShuffle', [value], hashed=hashed, seed=3, seed2=4)
    entry(out, 'RandomShuffle', [np.array(['a', 'b', 'c', 'd', 'e'], object)], seed=3, seed2=4)

    logits = np.array([[0., -1., 2.5, 1., -np.inf], [3., 3., 3., -20., 0.]])
    for dtype in [np.float16, np.float32, np.float64]:
        for count in [0, 1, 2, 3, 4, 5, 7, 10]:
            entry(out, 'Multinomial', [logits.astype(dtype), np.int32(count)], seed=8, seed2=2, output_dtype=tf.int32)
            entry(out, 'StatelessMultinomial', [logits.astype(dtype), np.int32(count), np.array([1, 2])])
    entry(out, 'Multinomial', [np.array([[1, 2, 0], [0, 0, 1], [3, 3, 3]], np.int32), np.int32(6)], seed=8, seed2=2)

    for dtype in [np.float16, np.float32, np.float64]:
        for alpha in [np.array(1), np.array([0.5, 1, 3, 20]), np.array([[0.01, 1.5]])]:
            for shape in [[], [0], [1], [3], [2, 2]]:
                entry(out, 'RandomGamma', [np.array(shape, np.int32), alpha.astype(dtype)], exact=False, hashed=hashed,
                      seed=11, seed2=12)
        for rate in [np.array(2), np.array([0, 0.5, 9.99, 10, 20.5, 700]), np.array([[1, 30000.]])]:
            for shape in [[], [0], [1], [3], [2, 2]]:
                entry(out, 'RandomPoissonV2', [np.array(shape, np.int32), rate.astype(dtype)], seed=11, seed2=12)


def main():
    hashed = '--hashed' in sys.argv
    if '--wide' in sys.argv:
        SHAPES.extend(MORE_SHAPES)
    paths = [a for a in sys.argv[1:] if not a.startswith('--')]
    path = paths[0] if paths else os.path.join(HERE, 'random.txt')
    out = io.StringIO()
    everything(out, hashed)
    if '--check' in sys.argv:
        with io.open(path) as f:
            sys.exit(0 if f.read() == out.getvalue() else '%s differs' % path)
    with io.open(path, 'w', newline='\n') as f:
        f.write(out.getvalue())


if __name__ == '__main__':
    main()
