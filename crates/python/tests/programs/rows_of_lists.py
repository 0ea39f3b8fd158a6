"""Rows of different lengths: what TensorFlow's functions and operators do with `RaggedTensor`s, and
`tf.ragged`.
"""

import importlib

from programs.tools import WHOLE, caught


def _module(tf, name):
    """Returns a module of `python.ops.ragged`, or what has its names here."""
    path = "python.ops.ragged." + name
    if tf.__name__ == "tensorflow":
        return importlib.import_module("tensorflow." + path)
    return importlib.import_module("millstream.programs.hook")._Module("tensorflow." + path)


def _values(tf, expressions):
    """Returns the values of expressions of a few ragged tensors, as lists."""
    modules = "ragged_concat_ops ragged_gather_ops ragged_map_ops ragged_string_ops ragged_util ragged_where_op ragged_batch_gather_ops ragged_batch_gather_with_default_op ragged_tensor ragged_math_ops".split()
    rc, rg, ragged_map_ops, rs, ragged_util, ragged_where_op, rb, rbd, rt, rm = (_module(tf, name) for name in modules)
    out = []
    for text in expressions:
        with tf.Graph().as_default(), tf.Session() as sess:
            C = tf.ragged.constant  # noqa: N806
            r, r3 = C([[1, 2], [], [3]]), C([[[1, 2], [3]], [], [[4, 5, 6]]])
            b, s, f = C([[True, False], [], [True]]), C([["a", "bc"], [], ["d"]]), C([[1.5, 2.0], [], [3.0]])
            space = dict(tf=tf, C=C, r=r, r3=r3, b=b, s=s, f=f, rc=rc, rg=rg, rs=rs, rb=rb, rbd=rbd, rt=rt, rm=rm)
            space.update(ragged_map_ops=ragged_map_ops, ragged_util=ragged_util, ragged_where_op=ragged_where_op)
            made = eval(text, space)
            if hasattr(made, "op") or hasattr(made, "flat_values") and hasattr(made, "consumers") or isinstance(made, tf.SparseTensor):
                value = sess.run(made)
                found = value.to_list() if hasattr(value, "to_list") else list(value) if isinstance(made, tf.SparseTensor) else value
                out.append([text, found, made.dtype.name, None if made.shape.ndims is None else len(made.shape)])
            else:
                out.append([text, repr(made.to_list() if hasattr(made, "to_list") else made)])
    return out


def operators(tf):
    return _values(
        tf,
        [
            "r+1",
            "1+r",
            "r+r",
            "r-r",
            "r*2",
            "-r",
            "abs(r)",
            "r/2",
            "r//2",
            "r%2",
            "r**2",
            "b&b",
        ],
    )


def broadcast_rows_0(tf):
    return _values(
        tf,
        [
            "b|b",
            "r>=r",
            "r3+1",
            "C([[[1,2],[3,4]]],ragged_rank=1)+C([[[10],[20]]],ragged_rank=1)",
        ],
    )


def broadcast_rows_1(tf):
    return _values(
        tf,
        [
            "b^b",
            "r>1",
            "r3*r3",
        ],
    )


def broadcast_rows_2(tf):
    return _values(
        tf,
        [
            "~b",
            "r+[[1],[2],[3]]",
            "r3+C([[[1,1],[1]],[],[[1,1,1]]])",
        ],
    )


def broadcast_rows_3(tf):
    return _values(
        tf,
        [
            "r<2",
            "r+tf.constant([1])",
            "C([[[1,2],[3,4]]],ragged_rank=1)+[10,20]",
        ],
    )


def rows_joined(tf):
    return _values(
        tf,
        [
            "tf.concat([r,r],axis=0)",
            "tf.concat([r,r],axis=1)",
            "tf.concat([r,r],axis=-1)",
            "tf.concat([r3,r3],axis=2)",
            "tf.concat([r3,r3],axis=1)",
            "tf.concat([r,[[9]]],axis=0)",
            "tf.concat([r,[[9],[9],[9]]],axis=1)",
            "tf.stack([r,r])",
            "tf.stack([r,r],axis=1)",
            "tf.stack([r,r],axis=2)",
            "tf.stack([r],axis=0)",
            "rc.stack([1,2])",
            "rc.stack([[[1]],[[2,3]]],axis=0)",
            "rc.stack([[1,2],[3,4]],axis=1)",
            "rc.concat([[[1,2]],[[3]]],axis=0)",
            "rc.concat([[[1,2]],[[3]]],axis=1)",
            "tf.ragged.stack([r,[[1]]])",
            "tf.ragged.stack_dynamic_partitions([1,2,3],[0,1,0],2)",
            "tf.ragged.stack_dynamic_partitions(r,[0,1,0],3)",
            "tf.ragged.stack_dynamic_partitions([[1,2],[3,4]],[[0,1],[1,0]],2)",
            "tf.ragged.stack_dynamic_partitions(r,C([[0,1],[],[1]]),2)",
        ],
    )


def rows_gathered(tf):
    return _values(
        tf,
        [
            "tf.gather(r,[2,0])",
            "tf.gather(r,[[2,0]])",
            "tf.gather(r,2)",
            "tf.gather(r,r-1)",
            "tf.gather(r3,[0,2])",
            "rg.gather(['a','b'],C([[0],[1,0]]))",
            "tf.gather_nd(r,[[0,1],[2,0]])",
            "tf.gather_nd(r,[[0]])",
            "tf.gather_nd(r3,[[0,0],[2,0]])",
            "tf.gather_nd(r3,[[0,0,1],[2,0,2]])",
            "tf.gather_nd(r3,[2,0])",
            "tf.gather_nd([['a','b'],['c','d']],C([[[0,0]],[[1,0],[1,1]]],ragged_rank=1))",
            "rb.batch_gather(r,C([[1,0],[],[0,0]]))",
            "rb.batch_gather([['a','b'],['c','d']],C([[1],[0,0]]))",
            "rbd.batch_gather_with_default(C([['a','b'],['c']]),C([[1,2,-1],[0]]))",
            "tf.batch_gather(r,C([[0],[],[0]]))",
        ],
    )


def rows_reshaped(tf):
    return _values(
        tf,
        [
            "tf.expand_dims(r,0)",
            "tf.expand_dims(r,1)",
            "tf.expand_dims(r,2)",
            "tf.expand_dims(r,-1)",
            "tf.squeeze(tf.expand_dims(r,0),[0])",
            "tf.squeeze(tf.expand_dims(r,1),[1])",
            "tf.tile(r,[1,2])",
            "tf.tile(r,[2,1])",
            "tf.tile(r3,[1,2,3])",
            "tf.tile(C([[[1,2],[3,4]]],ragged_rank=1),[2,1,2])",
            "tf.size(r)",
            "tf.size(r3,out_type=tf.int64)",
            "tf.rank(r3)",
            "tf.one_hot(r,3)",
            "tf.one_hot(r,3,axis=-1)",
        ],
    )


def choices(tf):
    return _values(
        tf,
        [
            "tf.where(b)",
            "tf.where(b,r,r*10)",
            "tf.where([True,False,True],r,r*10)",
            "tf.ragged.boolean_mask(r,[True,False,True])",
            "tf.ragged.boolean_mask(r,b)",
            "tf.ragged.boolean_mask([[1,2],[3,4]],[[True,False],[True,True]])",
            "tf.ragged.boolean_mask(r3,C([[True,False],[],[True]]))",
            "tf.ragged.boolean_mask([1,2,3],[True,False,True])",
            "tf.dynamic_partition(C([[1],[2,3]]),[1,0],2)[0]",
        ],
    )


def reductions(tf):
    return _values(
        tf,
        [
            "tf.reduce_sum(r)",
            "tf.reduce_sum(r,0)",
            "tf.reduce_sum(r,1)",
            "tf.reduce_sum(r,-1)",
            "tf.reduce_sum(r3,2)",
            "tf.reduce_sum(r3,1)",
            "tf.reduce_sum(r3,0)",
            "tf.reduce_sum(r3,[0,1])",
            "tf.reduce_sum(r3,[0,2])",
            "tf.reduce_sum(r3,[1,2])",
            "tf.reduce_sum(r3,[0,1,2])",
            "tf.reduce_sum(r,[0,0])",
            "tf.reduce_mean(f,1)",
            "tf.reduce_mean(f)",
            "tf.reduce_max(r,1)",
            "tf.reduce_min(r,1)",
            "tf.reduce_prod(r,0)",
            "tf.reduce_all(b,1)",
            "tf.reduce_any(b,1)",
            "tf.reduce_any(b)",
            "rm.segment_sum(r,[0,0,1],2)",
            "rm.segment_sum(r,[1,0,1],3)",
            "rm.segment_mean(f,[0,0,1],2)",
            "rm.segment_sqrt_n(f,[0,0,1],2)",
            "rm.segment_max(r3,[0,0,0],1)",
            "tf.unsorted_segment_sum(r,[0,0,1],2)",
            "tf.unsorted_segment_sum(r,r-1,4)",
        ],
    )


def ranges(tf):
    return _values(
        tf,
        [
            "tf.ragged.range(3)",
            "tf.ragged.range([1,2,3])",
            "tf.ragged.range([0,5,8],[3,3,12])",
            "tf.ragged.range([0,5,8],[3,3,12],2)",
            "tf.ragged.range([5,5],[0,2],-2)",
            "tf.ragged.range(0.,[1.,2.],.5)",
            "tf.ragged.range([1,2],dtype=tf.float32)",
            "tf.ragged.range([1,2],row_splits_dtype=tf.int32).row_splits",
        ],
    )


def functions(tf):
    return _values(
        tf,
        [
            "tf.ragged.map_flat_values(tf.add,r,r)",
            "ragged_map_ops.map_fn(tf.reduce_sum,r,dtype=tf.int32)",
        ],
    )


def items(tf):
    return _values(
        tf,
        [
            "r[0]",
            "r[-1]",
            "r[0,1]",
            "r[:,:1]",
            "r[:,-1:]",
            "r[:,::2]",
            "r[::2]",
            "r[::-1]",
            "r[...]",
            "r[...,:1]",
            "r[tf.newaxis]",
            "r[:,tf.newaxis]",
            "r[:,:,tf.newaxis]",
            "r3[0]",
            "r3[0,0]",
            "r3[0,0,1]",
            "r3[:,:,1:]",
            "r3[:,1:]",
            "r3[1:,...,:1]",
            "r[tf.constant(0)]",
            "r[tf.constant(0):]",
            "r[0:0]",
            "C([[[1,2],[3,4]]],ragged_rank=1)[:,:,0]",
            "C([[[1,2],[3,4]]],ragged_rank=1)[...,1]",
        ],
    )


def makers(tf):
    return _values(
        tf,
        [
            "tf.RaggedTensor.from_row_lengths([1,2,3],[2,1])",
            "tf.RaggedTensor.from_value_rowids([1,2,3],[0,0,2])",
            "tf.RaggedTensor.from_value_rowids([1,2,3],[0,0,2],nrows=5)",
            "tf.RaggedTensor.from_row_starts([1,2,3],[0,2])",
            "tf.RaggedTensor.from_row_limits([1,2,3],[1,3])",
            "tf.RaggedTensor.from_nested_row_lengths([1,2,3],[[1,1],[2,1]])",
            "tf.RaggedTensor.from_nested_value_rowids([1,2,3],[[0,1],[0,0,1]])",
            "tf.RaggedTensor.from_tensor([[[1,0],[0,0]],[[2,3],[4,0]]],padding=[0,0])",
            "tf.RaggedTensor.from_tensor([[[1,0],[0,0]],[[2,3],[4,0]]],padding=0,ragged_rank=2)",
            "tf.RaggedTensor.from_tensor([[[1,0],[0,0]],[[2,3],[4,0]]],ragged_rank=2)",
            "tf.RaggedTensor.from_tensor([[1,2],[3,4]],lengths=[1,5])",
            "tf.RaggedTensor.from_tensor([[[1,2],[3,4]],[[5,6],[7,8]]],lengths=([1,2],[1,2,0]))",
        ],
    )


def forms(tf):
    return _values(
        tf,
        [
            "r3.nested_value_rowids()[1]",
            "r3.row_lengths(axis=2)",
            "r.row_lengths(axis=0)",
            "r.with_row_splits_dtype(tf.int32).row_splits",
            "r3.to_tensor()",
            "r3.to_tensor(-1)",
            "C([[[1,2],[3,4]],[]],ragged_rank=1).to_tensor()",
            "C([[[1,2],[3,4]],[]],ragged_rank=1).to_tensor([8,9])",
            "C([[[1,2],[3,4]],[]],ragged_rank=1).to_sparse()",
            "r3.to_sparse()",
            "r3.bounding_shape()",
            "r3.bounding_shape(axis=1)",
        ],
    )


def strings(tf):
    return _values(
        tf,
        [
            "tf.strings.length(s)",
            "tf.strings.upper(s) if 0 else tf.strings.substr(s,0,1)",
            "tf.string_to_hash_bucket_fast(s,10)",
            "tf.strings.join([s,s],'-')",
            "tf.strings.regex_replace(s,'b','x')",
            "tf.string_join([s,s])",
            "rs.reduce_join(s,axis=1)",
            "rs.reduce_join(s,axis=0,separator='-')",
            "rs.reduce_join(s,axis=1,separator='-')",
            "rs.reduce_join(s)",
            "tf.strings.ngrams(C([['a','b','c'],['d']]),2)",
            "tf.strings.ngrams(C([['a','b','c'],['d']]),2,pad_values=('L','R'))",
            "tf.strings.ngrams(C([['a','b','c'],['d']]),(1,2),separator='|')",
            "tf.strings.ngrams(['a','b','c'],2)",
            "tf.strings.ngrams([['a','b'],['c','d']],2)",
            "tf.strings.ngrams(C([['a','b','c'],['d']]),2,preserve_short_sequences=True)",
        ],
    )


def elementwise(tf):
    return _values(
        tf,
        [
            "tf.abs(r)",
            "tf.constant(1)+r",
            "tf.exp(f)",
            "tf.cast(r,tf.float32)",
            "tf.to_float(r)",
            "tf.as_string(r)",
            "tf.add_n([r,r])",
            "tf.clip_by_value(r,1,2)",
            "tf.ones_like(r)",
            "tf.zeros_like(f)",
            "tf.equal(r,2)",
            "tf.not_equal(r,r)",
            "tf.maximum(r,2)",
            "tf.logical_and(b,True)",
            "tf.squared_difference(f,1.)",
            "tf.identity(r)",
        ],
    )


def types(tf):
    return _values(
        tf,
        [
            "rt.is_ragged(r)",
            "rt.convert_to_tensor_or_ragged_tensor(r)",
            "rt.convert_to_tensor_or_ragged_tensor(tf.ragged.constant_value([[1],[2,3]]))",
            "tf.ragged.constant_value([[1],[2,3]]).row_splits",
            "tf.ragged.constant_value(5)",
            "tf.ragged.constant_value([[]]).dtype",
            "tf.ragged.placeholder(tf.int32,1).shape",
            "tf.ragged.placeholder(tf.int32,2,[3]).shape",
            "tf.ragged.placeholder(tf.int32,0,[3]).shape",
            "tf.RaggedTensorSpec([2,None],tf.int32)",
            "tf.RaggedTensorSpec([2,None],tf.int32)._component_specs",
            "tf.RaggedTensorSpec([2,None],tf.int32).is_compatible_with(r)",
            "tf.RaggedTensorSpec([3,None],tf.int32).is_compatible_with(r)",
            "tf.RaggedTensorSpec.from_value(r)",
            "r._type_spec",
            "ragged_util.lengths_to_splits(tf.constant([1,2]))",
            "rt.match_row_splits_dtypes(r,r)",
        ],
    )


def refused(tf):
    C, T = tf.ragged.constant, tf.RaggedTensor  # noqa: N806
    r = C([[1, 2], [], [3]])
    return [
        caught(lambda: bool(r), WHOLE),
        caught(lambda: r[:, 0], WHOLE),
        caught(lambda: tf.concat([r, r], axis=5), WHOLE),
        caught(lambda: tf.expand_dims(r, 5), WHOLE),
        caught(lambda: tf.squeeze(r), WHOLE),
        caught(lambda: tf.ragged.boolean_mask(r, True), WHOLE),
        caught(lambda: tf.reduce_sum(r, 5), WHOLE),
        caught(lambda: tf.reduce_sum(r, 1, keepdims=True), WHOLE),
        caught(lambda: T.from_row_splits([1, 2, 3], []), WHOLE),
        caught(lambda: T.from_value_rowids([1, 2, 3], [0, 0, 2], nrows=2), WHOLE),
        caught(lambda: T.from_tensor([[1, 2]], lengths=[1], padding=0), WHOLE),
        caught(lambda: r + r.with_row_splits_dtype(tf.int32), WHOLE),
        caught(lambda: tf.RaggedTensorSpec([3, None], ragged_rank=2), WHOLE),
        caught(lambda: tf.RaggedTensorSpec(), WHOLE),
        caught(lambda: tf.strings.ngrams(["a", "b"], 2, padding_width=1), WHOLE),
        caught(lambda: tf.strings.ngrams(["a"], 0), WHOLE),
        caught(lambda: tf.ragged.range([[1]])),
    ]


def rows_that_do_not_fit(tf):
    T, out = tf.RaggedTensor, []  # noqa: N806
    for make in (
        lambda: T.from_row_lengths([1, 2, 3], [2, 2]),
        lambda: T.from_row_lengths([1, 2, 3], [4, -1]),
        lambda: T.from_row_splits([1, 2, 3], [0, 2]),
        lambda: T.from_row_splits([1, 2, 3], [1, 3]),
        lambda: T.from_value_rowids([1, 2, 3], [0, 2, 1]),
        lambda: T.from_row_starts([1, 2, 3], [1, 2]),
        lambda: T.from_row_limits([1, 2, 3], [1, 2]),
        lambda: tf.gather(tf.ragged.constant([[1, 2], [3]]), [7]),
        lambda: tf.ragged.range([0, 1], [3, 4], 0),
    ):
        with tf.Graph().as_default(), tf.Session() as sess:
            out.append(caught(lambda: sess.run(make())))
    return out


def rows_of_sparse_tensors_with_gaps(tf):
    """Sparse rows become lists only if they have no gaps."""
    made = {
        "before": ([[0, 1]], [1]),
        "between": ([[0, 0], [0, 2]], [1, 2]),
        "none": ([[1, 0], [3, 0], [3, 1]], [1, 2, 3]),
    }
    out = {}
    for name, (indices, values) in sorted(made.items()):
        with tf.Graph().as_default(), tf.Session() as sess:
            rows = tf.RaggedTensor.from_sparse(tf.SparseTensor(indices, values, [4, 3]))
            out[name] = caught(lambda: sess.run(rows.row_splits), "not right-ragged") if name != "none" else sess.run([rows.values, rows.row_splits])
    return out
