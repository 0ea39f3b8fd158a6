//! Work that is shared by the threads of a session: [`in_pieces`] fills disjoint pieces of a result.

use millstream_graph::op::{StepEnv, StepHost};
use millstream_tensor::pace::look;
use millstream_tensor::{Error, Result};
use parking_lot::Mutex;

/// The number of multiplications that pay for a thread.
const WORTH: f64 = 4e6;

/// Returns the number of threads for this many multiplications, in at most `pieces` pieces.
pub(crate) fn threads(host: &dyn StepHost, work: f64, pieces: usize) -> usize {
    if work < 2.0 * WORTH { 1 } else { host.threads().min(pieces).clamp(1, (work / WORTH) as usize) }
}

/// Calls `fill` with each piece of `size` elements of `out` and its index, on several threads if there is
/// enough work. Looks at deadline and cancellation before each piece. The bits do not depend on threads as
/// long as a piece is computed the same way wherever it is.
pub(crate) fn in_pieces<T: Send>(
    env: &StepEnv,
    out: &mut [T],
    size: usize,
    work: f64,
    fill: impl Fn(usize, &mut [T]) -> Result<()> + Sync,
) -> Result<()> {
    if size == 0 {
        return Ok(());
    }
    let n_pieces = out.len().div_ceil(size);
    let pieces = Mutex::new(out.chunks_mut(size).enumerate());
    let failed: Mutex<Option<Error>> = Mutex::new(None);
    env.host.share(threads(&*env.host, work, n_pieces), &|| {
        while failed.lock().is_none() {
            let Some((i, piece)) = ({ pieces.lock().next() }) else { return };
            if let Err(error) = look().and_then(|()| fill(i, piece)) {
                failed.lock().get_or_insert(error);
            }
        }
    });
    failed.into_inner().map_or(Ok(()), Err)
}

/// A host for products within a piece, which is computed on one thread.
pub(crate) struct OneThread;

impl StepHost for OneThread {
    fn print(&self, _: &str) {}
    fn threads(&self) -> usize {
        1
    }
    fn in_pool(&self, work: &mut (dyn FnMut() + Send)) {
        work();
    }
}
