"""Error messages for shapes, slices, indices and concatenation, in graph construction and in runs."""

from programs.tools import late, mistakes


def reshape(tf):
    x = lambda: tf.zeros([2, 3])
    return mistakes(
        tf,
        total=lambda: tf.reshape(x(), [4, 2]),
        divisible=lambda: tf.reshape(x(), [4, -1]),
        two_unknown=lambda: tf.reshape(x(), [-1, -1]),
        negative=lambda: tf.reshape(x(), [-2, 3]),
        rank=lambda: tf.reshape(x(), [[6]]),
        late_total=lambda: tf.reshape(late(tf, [1, 2, 3]), late(tf, [2, 2])),
        late_divisible=lambda: tf.reshape(late(tf, [1, 2, 3]), late(tf, [2, -1])),
        late_two_unknown=lambda: tf.reshape(late(tf, [1, 2, 3]), late(tf, [-1, -1])),
        late_negative=lambda: tf.reshape(late(tf, [1, 2, 3]), late(tf, [-3])),
        late_rank=lambda: tf.reshape(late(tf, [1, 2, 3]), late(tf, 3)),
        of_floats=lambda: tf.reshape(x(), [6.0]),
        late_zero=lambda: tf.reshape(late(tf, [], tf.float32), late(tf, [0, -1])),
    )


def joining(tf):
    a, b = lambda: tf.zeros([2, 3]), lambda: tf.zeros([2, 4])
    return mistakes(
        tf,
        concat=lambda: tf.concat([a(), b()], 0),
        concat_ranks=lambda: tf.concat([a(), tf.zeros([2])], 0),
        concat_axis=lambda: tf.concat([a(), b()], 2),
        concat_negative=lambda: tf.concat([a(), b()], -3),
        concat_scalars=lambda: tf.concat([1, 2], 0),
        concat_axis_rank=lambda: tf.concat([a(), b()], [0]),
        concat_none=lambda: tf.concat([], 0),
        late_concat=lambda: tf.concat([late(tf, [[1, 2]]), late(tf, [[1]])], 0),
        late_concat_ranks=lambda: tf.concat([late(tf, [[1, 2]]), late(tf, [1])], 0),
        late_concat_axis=lambda: tf.concat([late(tf, [1]), late(tf, [1])], late(tf, 1)),
        late_concat_scalars=lambda: tf.concat([late(tf, 1), late(tf, 2)], late(tf, 0)),
        stack_axis=lambda: tf.stack([a(), a()], axis=3),
        stack_negative=lambda: tf.stack([a(), a()], axis=-4),
        stack_none=lambda: tf.stack([]),
        late_stack=lambda: tf.stack([late(tf, [1, 2]), late(tf, [1])]),
        late_stack_axis=lambda: tf.stack([late(tf, [1, 2]), late(tf, [1, 3])], axis=2),
    )


def joining_otherwise(tf):
    a, b = lambda: tf.zeros([2, 3]), lambda: tf.zeros([2, 4])
    return mistakes(
        tf,
        stack=lambda: tf.stack([a(), b()], name="stacked"),
    )


def parting(tf):
    x = lambda: tf.zeros([4, 3])
    return mistakes(
        tf,
        uneven=lambda: tf.split(x(), 3),
        axis=lambda: tf.split(x(), 2, 2),
        sizes=lambda: tf.split(x(), [1, 2]),
        late_uneven=lambda: tf.split(late(tf, [1, 2, 3]), 2),
        late_axis=lambda: tf.split(late(tf, [1, 2]), 2, late(tf, 1)),
        late_sizes=lambda: tf.split(late(tf, [1, 2, 3]), [1, 1]),
        late_two_unknown=lambda: tf.split(late(tf, [1, 2, 3]), late(tf, [-1, -1]), num=2),
        none=lambda: tf.split(x(), 0),
        number_unknown=lambda: tf.split(x(), tf.placeholder(tf.int32)),
        unstack=lambda: tf.unstack(x(), 3),
        unstack_axis=lambda: tf.unstack(x(), axis=2),
        unstack_unknown=lambda: tf.unstack(tf.placeholder(tf.float32)),
        unstack_unknown_dimension=lambda: tf.unstack(tf.placeholder(tf.float32, [None])),
        unstack_scalar=lambda: tf.unstack(tf.constant(1)),
        late_unstack=lambda: tf.unstack(late(tf, [1, 2, 3]), 2),
        late_unstack_axis=lambda: tf.unstack(late(tf, [1, 2, 3]), 3, axis=1),
    )


def slicing(tf):
    x = lambda: tf.zeros([4, 3])
    return mistakes(
        tf,
        size=lambda: tf.slice(x(), [0, 0], [5, 1]),
        begin=lambda: tf.slice(x(), [5, 0], [-1, 1]),
        lengths=lambda: tf.slice(x(), [0], [1]),
        other_lengths=lambda: tf.slice(x(), [0, 0], [1]),
        negative=lambda: tf.slice(x(), [-1, 0], [1, 1]),
        late_size=lambda: tf.slice(late(tf, [1, 2, 3]), late(tf, [1]), late(tf, [3])),
        late_begin=lambda: tf.slice(late(tf, [1, 2, 3]), late(tf, [4]), late(tf, [0])),
        late_negative=lambda: tf.slice(late(tf, [1, 2, 3]), late(tf, [-1]), late(tf, [1])),
        late_lengths=lambda: tf.slice(late(tf, [1, 2, 3]), late(tf, [0, 0]), late(tf, [1, 1])),
        late_other_lengths=lambda: tf.slice(late(tf, [1, 2, 3]), late(tf, [0]), late(tf, [1, 1])),
        index=lambda: x()[4],
        index_negative=lambda: x()[-5],
        second_index=lambda: x()[0, 3],
        too_many=lambda: x()[0, 0, 0],
        of_scalar=lambda: tf.constant(1)[0],
        late_index=lambda: late(tf, [1, 2, 3])[5],
        late_too_many=lambda: late(tf, [1, 2, 3])[0, 0],
        computed_index=lambda: tf.constant([1, 2, 3])[late(tf, 3)],
        zero_stride=lambda: x()[::0],
        by_text=lambda: x()["a"],
        by_float=lambda: x()[1.5],
        by_list=lambda: x()[[0, 1]],
        strided_lengths=lambda: tf.strided_slice(x(), [0], [1, 1], [1]),
        strided_slice_assign=lambda: x()[0].assign(1.0),
    )


def slicing_otherwise(tf):
    x = lambda: tf.zeros([4, 3])
    return mistakes(
        tf,
        two_ellipses=lambda: x()[..., ...],
    )


def gathering(tf):
    x = lambda: tf.zeros([4, 3])
    return mistakes(
        tf,
        gather=lambda: tf.gather(x(), [4]),
        gather_negative=lambda: tf.gather(x(), [[0, -1]]),
        gather_axis=lambda: tf.gather(x(), [0], axis=2),
        gather_scalar=lambda: tf.gather(1, [0]),
        gather_second=lambda: tf.gather(x(), late(tf, [3]), axis=1),
        late_gather=lambda: tf.gather(late(tf, [1, 2]), late(tf, 7)),
        late_axis=lambda: tf.gather(late(tf, [1, 2]), late(tf, [0]), axis=late(tf, 3)),
        late_scalar=lambda: tf.gather(late(tf, 1), late(tf, [0])),
        nd=lambda: tf.gather_nd(x(), [[0, 3]]),
        nd_depth=lambda: tf.gather_nd(x(), [[0, 0, 0]]),
        nd_negative=lambda: tf.gather_nd(x(), [[-1, 0]]),
        late_nd_depth=lambda: tf.gather_nd(late(tf, [1, 2]), late(tf, [[0, 0]])),
        scatter_nd=lambda: tf.scatter_nd([[4]], [1], [4]),
        scatter_nd_shape=lambda: tf.scatter_nd([[0]], [1, 2], [4]),
        late_scatter_nd_shape=lambda: tf.scatter_nd(late(tf, [[0]]), late(tf, [1, 2]), late(tf, [4])),
        update=lambda: tf.tensor_scatter_update(x(), [[5]], [[1.0, 2.0, 3.0]]),
        batch_dims=lambda: tf.gather(x(), [0], batch_dims=2),
        mask=lambda: tf.boolean_mask(x(), [True, False]),
        mask_scalar=lambda: tf.boolean_mask(x(), True),
        late_mask=lambda: tf.boolean_mask(late(tf, [1, 2, 3]), tf.placeholder_with_default([True, False], [None])),
        mask_unknown=lambda: tf.boolean_mask(x(), tf.placeholder(tf.bool)),
        resource_gather=lambda: tf.gather(tf.get_variable("v", initializer=[1.0], use_resource=True), [3]),
    )


def moving(tf):
    x = lambda: tf.zeros([4, 3])
    return mistakes(
        tf,
        tile=lambda: tf.tile(x(), [2]),
        tile_negative=lambda: tf.tile(x(), [2, -1]),
        late_tile=lambda: tf.tile(late(tf, [1]), late(tf, [1, 2])),
        late_tile_negative=lambda: tf.tile(late(tf, [1]), late(tf, [-2])),
        pad=lambda: tf.pad(x(), [[1, 1]]),
        pad_pairs=lambda: tf.pad(x(), [[1], [1]]),
        pad_mode=lambda: tf.pad(x(), [[1, 1], [1, 1]], mode="other"),
        pad_negative=lambda: tf.pad(x(), [[1, -1], [0, 0]]),
        late_pad_negative=lambda: tf.pad(late(tf, [1, 2]), late(tf, [[-1, 0]])),
        late_pad=lambda: tf.pad(late(tf, [1, 2]), late(tf, [[1, 0], [0, 0]])),
        reflect=lambda: tf.pad(x(), [[4, 0], [0, 0]], mode="REFLECT"),
        symmetric=lambda: tf.pad(late(tf, [1, 2]), late(tf, [[3, 0]]), mode="SYMMETRIC"),
        transpose=lambda: tf.transpose(x(), [0]),
        transpose_range=lambda: tf.transpose(x(), [0, 2]),
        transpose_twice=lambda: tf.transpose(x(), [0, 0]),
        late_transpose=lambda: tf.transpose(late(tf, [[1]]), late(tf, [0])),
        late_transpose_range=lambda: tf.transpose(late(tf, [[1]]), late(tf, [0, 2])),
        late_transpose_twice=lambda: tf.transpose(late(tf, [[1]]), late(tf, [1, 1])),
        reverse=lambda: tf.reverse(x(), [2]),
        reverse_twice=lambda: tf.reverse(x(), [0, 0]),
        late_reverse=lambda: tf.reverse(late(tf, [1]), late(tf, [1])),
        reverse_sequence=lambda: tf.reverse_sequence(x(), [1, 1], seq_axis=1, batch_axis=0),
        reverse_sequence_long=lambda: tf.reverse_sequence(x(), late(tf, [5, 1, 1, 1]), seq_axis=1, batch_axis=0),
        permutation=lambda: tf.invert_permutation(late(tf, [0, 2])),
        permutation_twice=lambda: tf.invert_permutation(late(tf, [0, 0])),
    )


def axes(tf):
    x = lambda: tf.zeros([1, 3])
    return mistakes(
        tf,
        squeeze=lambda: tf.squeeze(x(), [1]),
        squeeze_axis=lambda: tf.squeeze(x(), [2]),
        squeeze_negative=lambda: tf.squeeze(x(), [-3]),
        late_squeeze=lambda: tf.squeeze(late(tf, [1, 2]), [0]),
        late_squeeze_axis=lambda: tf.squeeze(late(tf, [1, 2]), [1]),
        squeeze_both=lambda: tf.squeeze(x(), axis=0, squeeze_dims=0),
        expand=lambda: tf.expand_dims(x(), 3),
        expand_negative=lambda: tf.expand_dims(x(), -4),
        late_expand=lambda: tf.expand_dims(x(), late(tf, 3)),
        expand_none=lambda: tf.expand_dims(x()),
        late_expand_several=lambda: tf.expand_dims(x(), late(tf, [0, 1])),
        set_shape=lambda: x().set_shape([2, 3]),
        set_shape_rank=lambda: x().set_shape([3]),
        ensure=lambda: tf.ensure_shape(x(), [2, 3]),
        merge=lambda: tf.TensorShape([1]).merge_with([2]),
        merge_ranks=lambda: tf.TensorShape([1]).merge_with([1, 2]),
        compatible=lambda: tf.TensorShape([1]).assert_is_compatible_with([2]),
        rank_known=lambda: tf.TensorShape([1]).assert_has_rank(2),
        same_rank=lambda: tf.TensorShape([1]).assert_same_rank([1, 2]),
        defined=lambda: tf.TensorShape([None]).assert_is_fully_defined(),
        length=lambda: len(tf.TensorShape(None)),
        as_list=lambda: tf.TensorShape(None).as_list(),
        negative=lambda: tf.TensorShape([-2]),
        dimension=lambda: tf.Dimension(2).merge_with(3),
        dimension_compatible=lambda: tf.Dimension(2).assert_is_compatible_with(3),
        dimension_negative=lambda: tf.Dimension(-1),
        dimension_text=lambda: tf.Dimension("a"),
    )


def axes_otherwise(tf):
    x = lambda: tf.zeros([1, 3])
    return mistakes(
        tf,
        late_ensure=lambda: tf.ensure_shape(late(tf, [1, 2]), [3]),
    )


def making(tf):
    return mistakes(
        tf,
        fill=lambda: tf.fill([-1, 2], 0),
        fill_rank=lambda: tf.fill([[1]], 0),
        fill_value=lambda: tf.fill([1], [0]),
        late_fill=lambda: tf.fill(late(tf, [-1]), 0),
        late_fill_value=lambda: tf.fill(late(tf, [1]), late(tf, [0])),
        range_zero=lambda: tf.range(0, 3, 0),
        range_sign=lambda: tf.range(3, 0, 1),
        range_down=lambda: tf.range(0, 3, -1),
        range_rank=lambda: tf.range([3]),
        late_range_zero=lambda: tf.range(0, 3, late(tf, 0)),
        late_range_sign=lambda: tf.range(late(tf, 3), 0, 1),
        late_range_rank=lambda: tf.range(late(tf, [3])),
        linspace=lambda: tf.linspace(0.0, 1.0, 0),
        late_linspace=lambda: tf.linspace(0.0, 1.0, late(tf, 0)),
        one_hot_depth=lambda: tf.one_hot([1], -1),
        one_hot_axis=lambda: tf.one_hot([1], 3, axis=3),
        late_one_hot_depth=lambda: tf.one_hot([1], late(tf, -1)),
        sequence_mask=lambda: tf.sequence_mask([1], late(tf, [3])),
        zeros=lambda: tf.zeros([2, -3]),
        default=lambda: tf.placeholder_with_default([1, 2], [3]),
        diag=lambda: tf.diag(tf.constant(1.0)),
        diag_part=lambda: tf.diag_part(tf.zeros([2, 3])),
        band=lambda: tf.matrix_band_part(tf.zeros([2, 3]), late(tf, 5), 0),
        matrix_diag=lambda: tf.matrix_diag_part(tf.zeros([3])),
        one_hot_types=lambda: tf.one_hot([1], 3, on_value=1, off_value=0.0),
        placeholder=lambda: tf.placeholder(tf.float32, [2, -3]),
        set_diag=lambda: tf.matrix_set_diag(tf.zeros([2, 3]), tf.zeros([3])),
    )


def making_otherwise(tf):
    return mistakes(
        tf,
        eye=lambda: tf.eye(-1),
    )


def partitions(tf):
    return mistakes(
        tf,
        partition=lambda: tf.dynamic_partition([1, 2], [0, 3], 2),
        partition_shape=lambda: tf.dynamic_partition([1, 2], [0, 1, 1], 2),
        late_shape=lambda: tf.dynamic_partition(late(tf, [1, 2]), late(tf, [0]), 2),
        partition_none=lambda: tf.dynamic_partition([1, 2], [0, 1], 0),
        stitch=lambda: tf.dynamic_stitch([[0], [1]], [[1], [2, 3]]),
        stitch_counts=lambda: tf.dynamic_stitch([[0]], [[1], [2]]),
        late_stitch=lambda: tf.dynamic_stitch([late(tf, [0]), late(tf, [1])], [late(tf, [1]), late(tf, [2, 3])]),
        unique=lambda: tf.unique([[1, 2]]),
        late_unique=lambda: tf.unique(late(tf, [[1, 2]])),
        setdiff=lambda: tf.setdiff1d([[1]], [2]),
        where=lambda: tf.where([True], [1]),
        where_scalar=lambda: tf.where(late(tf, True)),
        meshgrid=lambda: tf.meshgrid([1], [2], indexing="no"),
        sparse_to_dense=lambda: tf.sparse_to_dense([[5]], [3], [1]),
        sparse_to_dense_order=lambda: tf.sparse_to_dense([[1], [0]], [3], [1, 2]),
        sparse_to_dense_twice=lambda: tf.sparse_to_dense([[1], [1]], [3], [1, 2]),
        space=lambda: tf.space_to_batch_nd(tf.zeros([1, 3, 3, 1]), [2, 2], [[0, 0], [0, 0]]),
        required_space=lambda: tf.batch_to_space_nd(tf.zeros([3, 1, 1, 1]), [2, 2], [[0, 0], [0, 0]]),
    )
