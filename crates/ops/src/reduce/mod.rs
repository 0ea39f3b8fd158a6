//! Reductions, cumulative sums, positions of extremes, histograms and ranges.

mod gradients;
mod reduction;
mod scan;

ops! {
    all,
    any,
    arg_max,
    bincount,
    cumprod,
    cumsum,
    cumulative_logsumexp,
    dense_bincount,
    euclidean_norm,
    histogram_fixed_width,
    lin_space,
    max,
    mean,
    min,
    prod,
    range,
    sum,
}
