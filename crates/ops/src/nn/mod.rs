//! Neural network ops: activations and their gradients, softmax and cross entropies, biases, the largest
//! entries of a row.

mod activation;
mod batch_norm;
mod block_cells;
mod convolution;
mod depthwise;
mod fractional;
mod local_response;
mod pool;
mod quantized;
mod quantum;
mod softmax_rows;
mod windows;

#[cfg(feature = "input")]
pub(crate) use convolution::{convolved, infer_convolved};

use crate::shared::pieces;

ops! {
    avg_pool,
    avg_pool3d,
    avg_pool3d_grad,
    avg_pool_grad,
    batch_norm_with_global_normalization,
    bias_add,
    bias_add_grad,
    block_lstm,
    block_lstm_grad,
    conv2d,
    conv2d_backprop_filter,
    conv2d_backprop_input,
    conv3d,
    conv3d_backprop,
    conv3d_backprop_filter_v2,
    conv3d_backprop_input_v2,
    ctc_beam_search_decoder,
    ctc_greedy_decoder,
    ctc_loss,
    depthwise_conv2d_native,
    depthwise_conv2d_native_backprop_filter,
    depthwise_conv2d_native_backprop_input,
    dequantize,
    dilation2d,
    elu,
    elu_grad,
    extract_image_patches,
    extract_volume_patches,
    fake_quant_with_min_max_args,
    fake_quant_with_min_max_args_gradient,
    fake_quant_with_min_max_vars,
    fake_quant_with_min_max_vars_gradient,
    fake_quant_with_min_max_vars_per_channel,
    fake_quant_with_min_max_vars_per_channel_gradient,
    fractional_avg_pool,
    fractional_max_pool,
    fused_batch_norm,
    fused_batch_norm_grad,
    fused_pad_conv2d,
    gather_tree,
    gru_block_cell,
    gru_block_cell_grad,
    in_top_k,
    l2_loss,
    leaky_relu,
    leaky_relu_grad,
    log_softmax,
    lrn,
    lrn_grad,
    lstm_block_cell,
    lstm_block_cell_grad,
    max_pool,
    max_pool3d,
    max_pool3d_grad,
    max_pool_grad,
    max_pool_v2,
    max_pool_with_argmax,
    nth_element,
    quantize_and_dequantize,
    quantize_v2,
    quantized_bias_add,
    quantized_concat,
    quantized_conv2d,
    quantized_mat_mul,
    quantized_pool,
    quantized_relu,
    quantized_reshape,
    relu,
    relu6,
    relu6_grad,
    relu_grad,
    requantize,
    selu,
    selu_grad,
    softmax,
    softmax_cross_entropy_with_logits,
    softplus,
    softplus_grad,
    softsign,
    softsign_grad,
    sparse_softmax_cross_entropy_with_logits,
    top_k,
}
