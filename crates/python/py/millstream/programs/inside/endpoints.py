"""The functions of TensorFlow 2's signatures, and others that say the same in another order: `argmax_v2`.

TensorFlow 1.15's internal modules hold them beside those of `tf`, under names of their own.
"""

from __future__ import annotations

import importlib
from typing import Any, Callable, Dict, List

from millstream.framework.dtypes import int32, int64, string

# A line: the module and name, the function of `tf` that it calls, and its arguments. `a->b` passes its
# argument `a` as `b`, and `+b=x` passes x as `b` without an argument of its own.
_SIGNATURES = """
array_ops.batch_gather_nd gather_nd params indices batch_dims name=None
array_ops.batch_to_space_v2 batch_to_space_nd input block_shape crops name=None
array_ops.boolean_mask_v2 boolean_mask tensor mask axis=None name='boolean_mask'
array_ops.depth_to_space_v2 depth_to_space input block_size data_format='NHWC' name=None
array_ops.expand_dims_v2 expand_dims input axis name=None
array_ops.extract_image_patches_v2 extract_image_patches images sizes strides rates padding name=None
array_ops.gather_nd_v2 gather_nd params indices batch_dims=0 name=None
array_ops.listdiff setdiff1d x y out_idx->index_dtype=int32 name=None
array_ops.ones_like_v2 ones_like input->tensor dtype=None name=None
array_ops.reverse_sequence_v2 reverse_sequence input seq_lengths seq_axis=None batch_axis=None name=None
array_ops.shape_v2 shape input out_type=int32 name=None
array_ops.size_v2 size input out_type=int32 name=None
array_ops.space_to_batch_v2 space_to_batch_nd input block_shape paddings name=None
array_ops.space_to_depth_v2 space_to_depth input block_size data_format='NHWC' name=None
array_ops.squeeze_v2 squeeze input axis=None name=None
array_ops.transpose_v2 transpose a perm=None conjugate=False name='transpose'
array_ops.zeros_like_v2 zeros_like input->tensor dtype=None name=None
check_ops.assert_equal_v2 assert_equal x y message=None summarize=None name=None
check_ops.assert_greater_equal_v2 assert_greater_equal x y message=None summarize=None name=None
check_ops.assert_greater_v2 assert_greater x y message=None summarize=None name=None
check_ops.assert_integer_v2 assert_integer x message=None name=None
check_ops.assert_less_equal_v2 assert_less_equal x y message=None summarize=None name=None
check_ops.assert_less_v2 assert_less x y message=None summarize=None name=None
check_ops.assert_near_v2 debugging.assert_near x y rtol=None atol=None message=None summarize=None name=None
check_ops.assert_negative_v2 assert_negative x message=None summarize=None name=None
check_ops.assert_non_negative_v2 assert_non_negative x message=None summarize=None name=None
check_ops.assert_non_positive_v2 assert_non_positive x message=None summarize=None name=None
check_ops.assert_none_equal_v2 assert_none_equal x y summarize=None message=None name=None
check_ops.assert_positive_v2 assert_positive x message=None summarize=None name=None
check_ops.assert_rank_at_least_v2 assert_rank_at_least x rank message=None name=None
check_ops.assert_rank_in_v2 assert_rank_in x ranks message=None name=None
check_ops.assert_rank_v2 assert_rank x rank message=None name=None
check_ops.assert_scalar_v2 assert_scalar tensor message=None name=None
check_ops.assert_shapes_v2 debugging.assert_shapes shapes data=None summarize=None message=None name=None
check_ops.assert_type_v2 assert_type tensor tf_type message=None name=None
confusion_matrix.confusion_matrix_v1 confusion_matrix labels predictions num_classes=None dtype=int32 name=None weights=None
control_flow_ops.case_v2 case pred_fn_pairs default=None exclusive=False strict=False name='case'
control_flow_ops.cond_for_tf_v2 cond pred true_fn=None false_fn=None name=None +strict=True
control_flow_ops.tuple_v2 tuple tensors control_inputs=None name=None
control_flow_ops.while_loop_v2 while_loop cond body loop_vars shape_invariants=None parallel_iterations=10 back_prop=True swap_memory=False maximum_iterations=None name=None +return_same_structure=True
embedding_ops.embedding_lookup_sparse_v2 nn.embedding_lookup_sparse params sp_ids sp_weights combiner=None max_norm=None name=None +partition_strategy='div'
embedding_ops.embedding_lookup_v2 nn.embedding_lookup params ids max_norm=None name=None +partition_strategy='div'
embedding_ops.safe_embedding_lookup_sparse_v2 nn.safe_embedding_lookup_sparse embedding_weights sparse_ids sparse_weights=None combiner='mean' default_id=None max_norm=None name=None +partition_strategy='div'
image_ops_impl.extract_glimpse_v2 image.extract_glimpse input size offsets centered=True normalized=True noise='uniform' name=None
numerics.verify_tensor_all_finite_v2 verify_tensor_all_finite x->t message->msg name=None
gradients_impl.HessiansV2 hessians ys xs gate_gradients=False aggregation_method=None name='hessians' +colocate_gradients_with_ops=True
gradients_impl.gradients_v2 gradients ys xs grad_ys=None name='gradients' gate_gradients=False aggregation_method=None stop_gradients=None unconnected_gradients='none' +colocate_gradients_with_ops=True
image_ops_impl.crop_and_resize_v1 image.crop_and_resize image boxes box_ind=None crop_size=None method='bilinear' extrapolation_value=0 name=None box_indices=None
image_ops_impl.crop_and_resize_v2 image.crop_and_resize image boxes box_indices crop_size method='bilinear' extrapolation_value=0 name=None
image_ops_impl.draw_bounding_boxes_v2 image.draw_bounding_boxes images boxes colors name=None
linalg_ops.norm_v2 norm tensor ord='euclidean' axis=None keepdims=None name=None
math_ops.argmax_v2 argmax input axis=None output_type=int64 name=None
math_ops.argmin_v2 argmin input axis=None output_type=int64 name=None
math_ops.bincount_v1 math.bincount arr weights=None minlength=None maxlength=None dtype=int32
math_ops.count_nonzero_v2 count_nonzero input axis=None keepdims=None dtype=int64 name=None
math_ops.matvec linalg.matvec a b transpose_a=False adjoint_a=False a_is_sparse=False b_is_sparse=False name=None
math_ops.scalar_mul_v2 scalar_mul scalar x name=None
math_ops.sparse_segment_mean_v2 sparse_segment_mean data indices segment_ids num_segments=None name=None
math_ops.sparse_segment_sqrt_n_v2 sparse_segment_sqrt_n data indices segment_ids num_segments=None name=None
math_ops.sparse_segment_sum_v2 sparse_segment_sum data indices segment_ids num_segments=None name=None
nn_impl.batch_norm_with_global_normalization_v2 nn.batch_norm_with_global_normalization input mean variance beta gamma variance_epsilon scale_after_normalization name=None
nn_impl.depthwise_conv2d_v2 nn.depthwise_conv2d input filter strides padding data_format=None dilations->rate=None name=None
nn_impl.l2_normalize_v2 nn.l2_normalize x axis=None epsilon=1e-12 name=None
nn_impl.moments_v2 nn.moments x axes shift=None keepdims=False name=None
nn_impl.nce_loss_v2 nn.nce_loss weights biases labels inputs num_sampled num_classes num_true=1 sampled_values=None remove_accidental_hits=False name='nce_loss' +partition_strategy='div'
nn_impl.sampled_softmax_loss_v2 nn.sampled_softmax_loss weights biases labels inputs num_sampled num_classes num_true=1 sampled_values=None remove_accidental_hits=True seed=None name='sampled_softmax_loss' +partition_strategy='div'
nn_impl.separable_conv2d_v2 nn.separable_conv2d input depthwise_filter pointwise_filter strides padding data_format=None dilations->rate=None name=None
nn_impl.sigmoid_cross_entropy_with_logits_v2 nn.sigmoid_cross_entropy_with_logits labels=None logits=None name=None
nn_impl.sufficient_statistics_v2 nn.sufficient_statistics x axes shift=None keepdims=False name=None
nn_impl.weighted_cross_entropy_with_logits_v2 nn.weighted_cross_entropy_with_logits labels logits pos_weight name=None
nn_impl.weighted_moments_v2 nn.weighted_moments x axes frequency_weights keepdims=False name=None
nn_ops.conv1d_v2 nn.conv1d input filters stride padding data_format='NWC' dilations=None name=None
nn_ops.conv2d_transpose_v2 nn.conv2d_transpose input filters output_shape strides padding='SAME' data_format='NHWC' dilations=None name=None
nn_ops.conv2d_v2 nn.conv2d input filters strides padding data_format='NHWC' dilations=None name=None
nn_ops.conv3d_transpose_v2 nn.conv3d_transpose input filters output_shape strides padding='SAME' data_format='NDHWC' dilations=None name=None +value=None
nn_ops.conv3d_v1 nn.conv3d input filter=None strides=None padding=None data_format='NDHWC' dilations=[1,1,1,1,1] name=None filters=None
nn_ops.conv3d_v2 nn.conv3d input filters strides padding data_format='NDHWC' dilations=None name=None
nn_ops.convolution_v2 nn.convolution input filters->filter strides=None padding='VALID' data_format=None dilations->dilation_rate=None name=None
nn_ops.crelu_v2 nn.crelu features axis=-1 name=None
nn_ops.dropout_v2 nn.dropout x rate noise_shape=None seed=None name=None
nn_ops.in_top_k_v2 nn.in_top_k targets predictions k name=None
nn_ops.log_softmax_v2 nn.log_softmax logits axis=None name=None
nn_ops.max_pool_with_argmax_v1 nn.max_pool_with_argmax input ksize strides padding data_format='NHWC' Targmax=None name=None output_dtype=None include_batch_in_index=False
nn_ops.pool_v2 nn.pool input window_shape pooling_type strides=None padding='VALID' data_format=None dilations->dilation_rate=None name=None
nn_ops.softmax_cross_entropy_with_logits_v2_helper nn.softmax_cross_entropy_with_logits_v2 labels logits axis=None name=None dim=None
nn_ops.softmax_v2 nn.softmax logits axis=None name=None
nn_ops.sparse_softmax_cross_entropy_with_logits_v2 nn.sparse_softmax_cross_entropy_with_logits labels logits name=None
parsing_ops.decode_csv_v2 decode_csv records record_defaults field_delim=',' use_quote_delim=True na_value='' select_cols=None name=None
parsing_ops.parse_example_v2 parse_example serialized features example_names=None name=None
parsing_ops.parse_single_example_v2_unoptimized parse_single_example serialized features example_names=None name=None
parsing_ops.parse_single_example_v2 parse_single_example serialized features name=None
sparse_ops.serialize_many_sparse_v2 serialize_many_sparse sp_input out_type=string name=None
sparse_ops.serialize_sparse_v2 serialize_sparse sp_input out_type=string name=None
sparse_ops.sparse_add_v2 sparse.add a b threshold=0
sparse_ops.sparse_concat_v2 sparse.concat axis sp_inputs expand_nonconcat_dims=False name=None
sparse_ops.sparse_split_v2 sparse.split sp_input=None num_split=None axis=None name=None
string_ops.reduce_join_v2 reduce_join inputs axis=None keepdims=False separator='' name=None
string_ops.string_length_v2 strings.length input unit='BYTE' name=None
string_ops.string_split_v2 strings.split source sep=None maxsplit=-1
string_ops.substr_deprecated substr input pos len name=None unit='BYTE'
string_ops.substr_v2 strings.substr input pos len unit='BYTE' name=None
"""

# Names for functions of `tf` that have the same signature.
_SAME = {
    "math_ops": {"reduce_%s_v1" % what: "reduce_" + what for what in "all any logsumexp max mean min prod sum".split()},
    "nn_ops": {"xw_plus_b_v1": "nn.xw_plus_b"},
    "parsing_ops": {"decode_raw_v1": "decode_raw"},
    "string_ops": {"string_to_hash_bucket_v1": "string_to_hash_bucket", "string_to_number_v1": "string_to_number"},
    "variable_scope": {"variable_creator_scope_v1": "variable_creator_scope"},
}


def _function(called: str) -> Any:
    """Returns a function of the package: `nn.conv2d`."""
    value: Any = importlib.import_module("millstream")
    for part in called.split("."):
        value = getattr(value, part)
    return value


def _made(line: str) -> Callable[..., Any]:
    """Returns the function of a line of the table."""
    full, called, *arguments = line.split()
    parameters: List[str] = []
    passed: List[str] = []
    for argument in arguments:
        given, _, default = argument.partition("=")
        name, _, word = given.partition("->")
        if name.startswith("+"):
            passed.append("%s=%s" % (name[1:], default))
            continue
        parameters.append(name + "=" * bool(default) + default)
        passed.append("%s=%s" % (word or name, name))
    name = full.rpartition(".")[2]
    # A function with these very parameters, so that Python's own errors about them are TensorFlow's.
    space: Dict[str, Any] = {"called": _function(called), "int32": int32, "int64": int64, "string": string}
    exec("def %s(%s):\n    return called(%s)" % (name, ", ".join(parameters), ", ".join(passed)), space)
    function = space[name]
    function.__doc__ = "Returns `tf.%s` of these arguments." % called
    function.__module__ = __name__
    return function


_LINES = {"python.ops." + line.split()[0]: line for line in _SIGNATURES.split("\n") if line}
_SAMES = {"python.ops.%s.%s" % (module, name): called for module, names in _SAME.items() for name, called in names.items()}
_found: Dict[str, Any] = {}


def find(path: str, name: str) -> Any:
    """Returns the function `name` of an internal module, or None if it is not one of these."""
    full = path + "." + name
    if full not in _found and full in _LINES:
        _found.setdefault(full, _made(_LINES[full]))
    return _function(_SAMES[full]) if full in _SAMES else _found.get(full)


def names(path: str) -> List[str]:
    """Returns the names of these functions in an internal module."""
    return [full.rpartition(".")[2] for full in (*_LINES, *_SAMES) if full.rpartition(".")[0] == path]
