//! Neural network ops: activations and their gradients, softmax and cross entropies, biases, the largest
//! entries of a row.

mod activation;
mod softmax_rows;

ops! {
    bias_add,
    bias_add_grad,
    elu,
    elu_grad,
    in_top_k,
    l2_loss,
    leaky_relu,
    leaky_relu_grad,
    log_softmax,
    nth_element,
    relu,
    relu6,
    relu6_grad,
    relu_grad,
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
