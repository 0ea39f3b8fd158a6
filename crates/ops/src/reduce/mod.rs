//! Reductions, running sums, positions of extremes, counting.

pub(crate) mod fold;
mod scan;
mod stretch;

ops! {
    all, any, arg_max, bincount, cumprod, cumsum, cumulative_logsumexp, euclidean_norm, histogram_fixed_width, lin_space, max, mean, min, prod, range, sum
}

use millstream_tensor::{Result, ensure};

pub(crate) use {euclidean_norm::EuclideanNorm, max::Max, min::Min, prod::Prod, sum::Sum};

/// The axis that a number which may be negative means.
pub(crate) fn axis(name: &str, axis: i64, rank: usize) -> Result<usize> {
    let rank_signed = rank as i64;
    let i = if axis < 0 { axis.checked_add(rank_signed).unwrap_or(-1) } else { axis };
    ensure!(
        0 <= i && i < rank_signed,
        "`{name}` is {axis} but the input has rank {rank}: an axis lies in -{rank}..{rank}"
    );
    Ok(i as usize)
}
