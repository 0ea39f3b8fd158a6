//! Ops that exist twice: for edges that carry values, and for edges that carry references to variables.

use millstream_graph::op::OpDef;

/// Declares arguments whose edges carry references if `by_ref` is true, else values.
pub(crate) trait Edge: Sized {
    /// Declares an input.
    fn edge_in(self, by_ref: bool, name: &'static str, ty: &'static str) -> Self;
    /// Declares an output.
    fn edge_out(self, by_ref: bool, name: &'static str, ty: &'static str) -> Self;
}

impl Edge for OpDef {
    fn edge_in(self, by_ref: bool, name: &'static str, ty: &'static str) -> Self {
        if by_ref { self.ref_input(name, ty) } else { self.input(name, ty) }
    }

    fn edge_out(self, by_ref: bool, name: &'static str, ty: &'static str) -> Self {
        if by_ref { self.ref_output(name, ty) } else { self.output(name, ty) }
    }
}
