//! [`Allowance`]: the bytes and nodes that an import may still make.

use millstream_tensor::{Code, Error, Result};

/// The remaining bytes and nodes. Running out of them is an error before anything is allocated.
pub(crate) struct Allowance {
    bytes: usize,
    bytes_left: usize,
    nodes: usize,
    nodes_left: usize,
}

impl Allowance {
    pub(crate) fn new(bytes: usize, nodes: usize) -> Allowance {
        Allowance { bytes, bytes_left: bytes, nodes, nodes_left: nodes }
    }

    /// Reserves `count` elements of `size` bytes.
    pub(crate) fn take(&mut self, count: usize, size: usize) -> Result<()> {
        let wanted = count.checked_mul(size);
        let left = wanted.and_then(|wanted| self.bytes_left.checked_sub(wanted)).ok_or_else(|| {
            let wanted = wanted.map_or("more bytes than there can be".into(), |w| format!("{w} bytes more"));
            Error::new(
                Code::ResourceExhausted,
                format!("the graph needs {wanted}, over the limit of {} bytes for an import", self.bytes),
            )
            .with_help("raise the import's `memory_limit`")
        })?;
        self.bytes_left = left;
        Ok(())
    }

    /// Reserves a node.
    pub(crate) fn take_node(&mut self) -> Result<()> {
        self.nodes_left = self.nodes_left.checked_sub(1).ok_or_else(|| {
            Error::new(
                Code::ResourceExhausted,
                format!("with its functions written out the graph has more than {} nodes", self.nodes),
            )
            .with_help("raise the import's `max_nodes`")
        })?;
        Ok(())
    }
}
