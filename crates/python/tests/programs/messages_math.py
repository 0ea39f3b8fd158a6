"""Error messages for arithmetic, matrices, reductions, dtypes and segments, at construction and in runs."""

from programs.tools import late, mistakes


def broadcasting(tf):
    a, b = [1, 2], [1, 2, 3]
    return mistakes(
        tf,
        add=lambda: tf.add(a, b),
        operator=lambda: tf.constant(a) + tf.constant(b),
        named=lambda: tf.multiply(tf.zeros([2, 3]), tf.zeros([4, 3]), name="product"),
        less=lambda: tf.less(a, b),
        equal=lambda: tf.equal(a, b),
        logical=lambda: tf.logical_and([True, False], [True, False, True]),
        select=lambda: tf.where([True, False], a, b),
        unknown_dimension=lambda: tf.placeholder(tf.float32, [None, 2]) + tf.zeros([3, 3]),
        squared_difference=lambda: tf.squared_difference([1.0, 2.0], [1.0, 2.0, 3.0]),
        broadcast_to=lambda: tf.broadcast_to([1, 2], [3]),
        static=lambda: tf.broadcast_static_shape(tf.TensorShape([2]), tf.TensorShape([3])),
    )


def broadcasting_late(tf):
    return mistakes(
        tf,
        add=lambda: late(tf, [1, 2]) + late(tf, [1, 2, 3]),
        less=lambda: tf.less(late(tf, [1, 2]), late(tf, [1, 2, 3])),
        mul=lambda: late(tf, [[1.0, 2.0], [3.0, 4.0]]) * late(tf, [1.0, 2.0, 3.0]),
        select=lambda: tf.where(late(tf, [True, False]), late(tf, [1, 2]), late(tf, [1, 2, 3])),
        select_v2=lambda: tf.where_v2(late(tf, [True, False]), late(tf, [1, 2]), late(tf, [1, 2, 3])),
        broadcast_to=lambda: tf.broadcast_to(late(tf, [1, 2]), late(tf, [3])),
        dynamic=lambda: tf.broadcast_dynamic_shape(late(tf, [2]), late(tf, [3])),
        equal=lambda: tf.equal(late(tf, [1, 2]), late(tf, [1, 2, 3])),
    )


def types(tf):
    i, f, s = lambda: tf.constant([1, 2]), lambda: tf.constant([1.0, 2.0]), lambda: tf.constant("a")
    return mistakes(
        tf,
        add=lambda: tf.add(i(), f()),
        operator=lambda: i() + f(),
        radd=lambda: f() * i(),
        sqrt=lambda: tf.sqrt(i()),
        logical=lambda: tf.logical_and(i(), i()),
        string=lambda: tf.multiply(s(), s()),
        pack=lambda: tf.stack([i(), f()]),
        concat=lambda: tf.concat([i(), f()], 0),
        gather=lambda: tf.gather(i(), f()),
        add_n=lambda: tf.add_n([i(), f()]),
        constant=lambda: tf.constant("a", tf.int32),
        constant_float=lambda: tf.constant(1.5, tf.int32),
        constant_none=lambda: tf.constant(None),
        convert=lambda: tf.convert_to_tensor(f(), tf.int32),
        bool_of_tensor=lambda: bool(i()),
        iterate=lambda: list(i()),
        cast=lambda: tf.cast(s(), tf.int32),
        select=lambda: tf.where([True, False], i(), f()),
        less=lambda: tf.less(i(), f()),
        pow_=lambda: tf.pow(i(), f()),
        reduce_bool=lambda: tf.reduce_sum([True, False]),
        to_one_hot=lambda: tf.one_hot([1.0], 3),
        conj=lambda: tf.conj(s()),
    )


def types_otherwise(tf):
    i, f, s = lambda: tf.constant([1, 2]), lambda: tf.constant([1.0, 2.0]), lambda: tf.constant("a")
    return mistakes(
        tf,
        matmul=lambda: tf.matmul(tf.zeros([2, 2]), tf.zeros([2, 2], tf.int32)),
    )


def constants(tf):
    return mistakes(
        tf,
        ragged=lambda: tf.constant([[1, 2], [3]]),
        mixed=lambda: tf.constant([1, "a"]),
        too_many=lambda: tf.constant([1, 2, 3], shape=[2]),
        verified=lambda: tf.constant([1, 2, 3], shape=[2, 2], verify_shape=True),
        of_object=lambda: tf.constant(object()),
        shape_of_unknown=lambda: tf.zeros(tf.TensorShape([None, 2])),
        dtype=lambda: tf.as_dtype("nothing"),
        mixed_tensors=lambda: tf.convert_to_tensor([tf.constant(1), tf.constant(1.0)]),
    )


def constants_otherwise(tf):
    return mistakes(
        tf,
        ones_of_unknown=lambda: tf.constant(tf.TensorShape(None)),
        partial_shape=lambda: tf.constant(tf.TensorShape([2, None])),
    )


def matrix_products(tf):
    return mistakes(
        tf,
        inner=lambda: tf.matmul(tf.zeros([2, 3]), tf.zeros([2, 3])),
        rank_one=lambda: tf.matmul(tf.zeros([2]), tf.zeros([2, 3])),
        rank_one_second=lambda: tf.matmul(tf.zeros([2, 3]), tf.zeros([3])),
        transposed=lambda: tf.matmul(tf.zeros([2, 3]), tf.zeros([4, 5]), transpose_a=True),
        batch=lambda: tf.matmul(tf.zeros([5, 2, 3]), tf.zeros([5, 2, 3])),
        batches=lambda: tf.matmul(tf.zeros([5, 2, 3]), tf.zeros([4, 3, 2])),
        late_inner=lambda: tf.matmul(late(tf, [[1.0, 2.0]]), late(tf, [[1.0, 2.0]])),
        late_rank=lambda: tf.matmul(late(tf, [1.0, 2.0]), late(tf, [[1.0, 2.0]])),
        both_ways=lambda: tf.matmul(tf.zeros([2, 2]), tf.zeros([2, 2]), transpose_a=True, adjoint_a=True),
        bias=lambda: tf.nn.bias_add(tf.zeros([2, 3]), tf.zeros([2])),
        bias_rank=lambda: tf.nn.bias_add(tf.zeros([2, 3]), tf.zeros([3, 1])),
        xw_plus_b=lambda: tf.nn.xw_plus_b(tf.zeros([2, 3]), tf.zeros([4, 5]), tf.zeros([5])),
        inverse=lambda: tf.linalg.inv(tf.zeros([2, 3])),
        singular=lambda: tf.linalg.inv(tf.zeros([2, 2])),
        cholesky=lambda: tf.cholesky([[1.0, 2.0], [2.0, 1.0]]),
        solve=lambda: tf.linalg.solve(tf.zeros([2, 2]), tf.zeros([3, 1])),
        determinant=lambda: tf.linalg.det(tf.zeros([2, 3])),
        late_bias=lambda: tf.nn.bias_add(late(tf, [[1.0, 2.0]]), late(tf, [1.0, 2.0, 3.0])),
    )


def matrix_products_otherwise(tf):
    return mistakes(
        tf,
        tensordot=lambda: tf.tensordot(tf.zeros([2, 3]), tf.zeros([2, 3]), 1),
    )


def reductions(tf):
    x = lambda: tf.zeros([2, 3])
    return mistakes(
        tf,
        axis=lambda: tf.reduce_sum(x(), 2),
        negative=lambda: tf.reduce_max(x(), -3),
        several=lambda: tf.reduce_mean(x(), [0, 5]),
        late_axis=lambda: tf.reduce_sum(x(), late(tf, 2)),
        late_negative=lambda: tf.reduce_sum(x(), late(tf, -3)),
        all_=lambda: tf.reduce_all([True], 1),
        argmax=lambda: tf.argmax(x(), 2),
        argmin_negative=lambda: tf.argmin(x(), -3),
        late_argmax=lambda: tf.argmax(x(), late(tf, 2)),
        argmax_of_nothing=lambda: tf.argmax(late(tf, [[]], tf.float32), 1),
        argmax_type=lambda: tf.argmax(x(), 0, output_type=tf.float32),
        cumsum=lambda: tf.cumsum(x(), 2),
        late_cumsum=lambda: tf.cumsum(x(), late(tf, 2)),
        axis_of_floats=lambda: tf.reduce_sum(x(), 1.0),
        logsumexp=lambda: tf.reduce_logsumexp(x(), 2),
    )


def division(tf):
    return mistakes(
        tf,
        truncated=lambda: tf.truncatediv(late(tf, [1]), late(tf, [0])),
        floor=lambda: tf.constant([1]) // late(tf, [0]),
        mod=lambda: tf.constant([1]) % late(tf, [0]),
        pow_=lambda: tf.pow(late(tf, [2]), late(tf, [-1])),
    )


def add_n(tf):
    return mistakes(
        tf,
        shapes=lambda: tf.add_n([tf.zeros([2]), tf.zeros([3])]),
        ranks=lambda: tf.add_n([tf.zeros([2]), tf.zeros([2, 2])]),
        none=lambda: tf.add_n([]),
        late_shapes=lambda: tf.add_n([late(tf, [1.0, 2.0]), late(tf, [1.0])]),
    )


def add_n_otherwise(tf):
    return mistakes(
        tf,
        no_list=lambda: tf.add_n(1),
        accumulate=lambda: tf.accumulate_n([tf.zeros([2]), tf.zeros([3])]),
    )


def segments(tf):
    x = lambda: tf.ones([3, 2])
    return mistakes(
        tf,
        ids_rank=lambda: tf.segment_sum(x(), [[0, 1]]),
        ids_count=lambda: tf.segment_sum(x(), [0, 1]),
        late_count=lambda: tf.segment_sum(late(tf, [1.0, 2.0]), late(tf, [0])),
        unsorted=lambda: tf.segment_sum(x(), late(tf, [0, 2, 1])),
        negative=lambda: tf.segment_sum(x(), late(tf, [-1, 0, 1])),
        mean_unsorted=lambda: tf.segment_mean(x(), late(tf, [1, 0, 1])),
        unsorted_range=lambda: tf.unsorted_segment_sum(x(), late(tf, [0, 1, 5]), 2),
        unsorted_shape=lambda: tf.unsorted_segment_sum(x(), [0, 1], 2),
        late_unsorted_shape=lambda: tf.unsorted_segment_sum(late(tf, [1.0, 2.0]), late(tf, [0]), 2),
        unsorted_negative=lambda: tf.unsorted_segment_sum(x(), [0, 1, 1], -1),
        sparse_ids=lambda: tf.sparse_segment_sum(x(), late(tf, [0, 5]), late(tf, [0, 0])),
        sparse_lengths=lambda: tf.sparse_segment_sum(x(), [0, 1], [0]),
        unsorted_max=lambda: tf.unsorted_segment_max(x(), late(tf, [0, 1, 5]), 2),
    )


def checks(tf):
    return mistakes(
        tf,
        numerics=lambda: tf.check_numerics(tf.log(late(tf, [0.0])), "logarithm"),
        nan=lambda: tf.check_numerics(late(tf, [float("nan")]), "here"),
        both=lambda: tf.check_numerics(late(tf, [float("nan"), float("inf")]), "both"),
        assertion=lambda: tf.Assert(late(tf, False), [tf.constant([1, 2, 3, 4, 5]), tf.constant("text")]),
        assertion_tensor=lambda: tf.Assert(tf.constant(False), [tf.constant([1, 2, 3, 4, 5])], summarize=2),
        assert_less=lambda: tf.assert_less(late(tf, 2), 1, message="too large"),
        assert_positive=lambda: tf.assert_positive(late(tf, -1)),
        clip=lambda: tf.clip_by_value(tf.zeros([2]), tf.zeros([3]), tf.zeros([2])),
        late_clip=lambda: tf.clip_by_value(late(tf, [1.0, 2.0]), late(tf, [1.0, 2.0, 3.0]), 2.0),
        histogram=lambda: tf.histogram_fixed_width([1.0], [2.0, 1.0]),
        bincount=lambda: tf.math.bincount(late(tf, [-1])),
        bucketize=lambda: tf.raw_ops.Bucketize(input=[1.0], boundaries=[2.0, 1.0]),
        assert_equal=lambda: tf.assert_equal(late(tf, [1, 2]), [1, 3]),
        assert_equal_static=lambda: tf.assert_equal([1, 2], [1, 3]),
    )


def checks_otherwise(tf):
    return mistakes(
        tf,
        assertion_static=lambda: tf.Assert(False, [1]),
    )


def networks(tf):
    return mistakes(
        tf,
        softmax=lambda: tf.raw_ops.Softmax(logits=tf.constant(1.0)),
        sparse_labels=lambda: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=late(tf, [5]), logits=tf.zeros([1, 3])),
        sparse_ranks=lambda: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[[1]], logits=tf.zeros([1, 3])),
        sparse_counts=lambda: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[1, 2], logits=tf.zeros([1, 3])),
        unnamed=lambda: tf.nn.softmax_cross_entropy_with_logits(tf.zeros([2, 3]), tf.zeros([2, 3])),
        sigmoid=lambda: tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.zeros([2]), logits=tf.zeros([3])),
        in_top_k=lambda: tf.nn.in_top_k(tf.zeros([2, 3]), [1], 1),
        top_k=lambda: tf.nn.top_k(tf.zeros([2]), 3),
        late_top_k=lambda: tf.nn.top_k(late(tf, [1.0, 2.0]), late(tf, 3)),
        dropout=lambda: tf.nn.dropout(tf.zeros([2]), rate=2.0),
        lookup_range=lambda: tf.nn.embedding_lookup(tf.zeros([2, 3]), late(tf, [5])),
        moments=lambda: tf.nn.moments(tf.zeros([2]), [1]),
        norm=lambda: tf.norm(tf.zeros([2]), ord="x"),
        l2_normalize=lambda: tf.nn.l2_normalize(tf.zeros([2]), 3),
    )


def networks_otherwise(tf):
    return mistakes(
        tf,
        softmax_axis=lambda: tf.nn.softmax(tf.zeros([2]), axis=2),
        cross_entropy=lambda: tf.nn.softmax_cross_entropy_with_logits_v2(labels=tf.zeros([2, 3]), logits=tf.zeros([3, 3])),
    )
