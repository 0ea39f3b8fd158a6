"""`tf.nn`: activations, losses and related functions. Functions that are one op each are created on request.

- `functions`: activations, cross entropies, dropout, moments; `nn_ops`: batch normalization and compositions;
- `convolutions`, `dilated`, `morphology` and `pools`; `embedding`: embedding lookups;
- `ctc`: connectionist temporal classification;
- `sampling`: candidate samplers; `sampled_losses`: losses over the classes that they draw.

The recurrent networks of `tf.nn` are in the package `rnn`, in a layer above; the package's root registers
them here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from millstream.framework import namespaces
from millstream.nn.functions import (
    bias_add,
    dropout,
    in_top_k,
    l2_normalize,
    leaky_relu,
    log_softmax,
    moments,
    relu6,
    sigmoid,
    sigmoid_cross_entropy_with_logits,
    softmax,
    softmax_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits_v2,
    sparse_softmax_cross_entropy_with_logits,
    tanh,
    top_k,
    zero_fraction,
)

namespaces.place("nn", {name: "millstream.nn.embedding:" + name for name in ("embedding_lookup", "embedding_lookup_sparse", "safe_embedding_lookup_sparse")})
namespaces.place(
    "nn",
    {
        name: "millstream.nn.nn_ops:" + name
        for name in (
            "batch_norm_with_global_normalization",
            "batch_normalization",
            "crelu",
            "fused_batch_norm",
            "log_poisson_loss",
            "normalize_moments",
            "relu_layer",
            "scale_regularization_loss",
            "sufficient_statistics",
            "swish",
            "weighted_cross_entropy_with_logits",
            "weighted_moments",
            "xw_plus_b",
        )
    },
)

for _module, _names in (
    ("convolutions", "atrous_conv2d atrous_conv2d_transpose conv1d conv1d_transpose conv2d conv2d_backprop_filter conv2d_backprop_input conv2d_transpose conv3d conv3d_transpose conv_transpose convolution"),
    ("ctc", "collapse_repeated ctc_beam_search_decoder ctc_beam_search_decoder_v2 ctc_greedy_decoder ctc_loss ctc_loss_v2 ctc_unique_labels"),
    ("depthwise", "depthwise_conv2d separable_conv2d"),
    ("dilated", "with_space_to_batch"),
    ("morphology", "dilation2d erosion2d"),
    ("sampling", "all_candidate_sampler compute_accidental_hits fixed_unigram_candidate_sampler learned_unigram_candidate_sampler log_uniform_candidate_sampler uniform_candidate_sampler"),
    ("sampled_losses", "nce_loss sampled_softmax_loss"),
    ("pools", "avg_pool avg_pool1d avg_pool2d avg_pool3d avg_pool_v2 fractional_avg_pool fractional_max_pool max_pool max_pool1d max_pool2d max_pool3d max_pool_v2 max_pool_with_argmax pool"),
):
    namespaces.place("nn", {name: f"millstream.nn.{_module}:{name}" for name in _names.split()})

if TYPE_CHECKING:
    from millstream._generated.endpoints_nn import *  # noqa: F403
    from millstream.nn.convolutions import *  # noqa: F403
    from millstream.nn.ctc import *  # noqa: F403
    from millstream.nn.depthwise import *  # noqa: F403
    from millstream.nn.dilated import *  # noqa: F403
    from millstream.nn.embedding import *  # noqa: F403
    from millstream.nn.morphology import *  # noqa: F403
    from millstream.nn.nn_ops import *  # noqa: F403
    from millstream.nn.pools import *  # noqa: F403
    from millstream.nn.sampled_losses import *  # noqa: F403
    from millstream.nn.sampling import *  # noqa: F403
    from millstream.rnn import cells as rnn_cell
    from millstream.rnn.networks import (
        bidirectional_dynamic_rnn,
        dynamic_rnn,
        raw_rnn,
        static_bidirectional_rnn,
        static_rnn,
        static_state_saving_rnn,
    )
else:
    __getattr__ = namespaces.getattr_of(__name__)

__dir__ = namespaces.dir_of(globals())
