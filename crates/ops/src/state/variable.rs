//! `Variable`, `VariableV2`: a reference to a variable.

use millstream_graph::op::spec::{AnyShape, AnyType, Spec, Text};
use millstream_graph::op::{Effect, InferCx, Kernel, KernelCx, NodeInfo, OpDef, Run};
use millstream_state::Variable;
use millstream_tensor::{DType, Handle, PartialShape, Result, Tensor, ensure};
use parking_lot::Mutex;

pub(crate) fn def() -> [OpDef; 2] {
    ["Variable", "VariableV2"].map(|name| {
        OpDef::new(name)
            .doc(
                "A reference to the variable called `shared_name` (or as this node is) in `container`, made if there is \
                 none. In the older `Variable` an empty `shape` says nothing.",
            )
            .ref_output("ref", "dtype")
            .attr("shape", AnyShape)
            .attr("dtype", AnyType)
            .attr("container", Text.or(""))
            .attr("shared_name", Text.or(""))
            .infer(infer)
            .kernel(Kernel::build(Effect::Stateful, |cx| Ok(Box::new(Named::new(cx.node)?))))
    })
}

fn infer(cx: &mut InferCx) -> Result<()> {
    cx.set(0, shape(cx.node())?);
    Ok(())
}

fn shape(node: &NodeInfo) -> Result<PartialShape> {
    let shape = node.attrs.shape("shape")?;
    match node.op.name == "Variable" && shape.rank() == Some(0) {
        true => Ok(PartialShape::unknown()),
        false => Ok(shape.clone()),
    }
}

/// Gives the handle of a named variable: looked up once, a clone until something is forgotten.
pub(crate) struct Named {
    container: String,
    name: String,
    dtype: DType,
    shape: PartialShape,
    /// The handle, and the resources' epoch in which it was looked up. Guards only itself; nothing is locked beneath it.
    found: Mutex<Option<(u64, Tensor)>>,
}

impl Named {
    /// As the attributes of the node say.
    pub(crate) fn new(node: &NodeInfo) -> Result<Named> {
        let attr = |name| node.attrs.str(name).map(|v| v.text().into_owned());
        let shared = attr("shared_name")?;
        Ok(Named {
            container: attr("container")?,
            name: if shared.is_empty() { node.name.clone() } else { shared },
            dtype: node.attrs.dtype("dtype")?,
            shape: shape(node)?,
            found: Mutex::new(None),
        })
    }

    fn find(&self, cx: &KernelCx) -> Result<Tensor> {
        let container = if self.container.is_empty() { &*cx.env.container } else { &*self.container };
        let make = || Ok(Variable::new(self.name.as_str(), self.dtype, self.shape.clone()));
        let variable = cx.env.resources.get_or_create(container, &self.name, make)?;
        ensure!(
            variable.dtype() == self.dtype,
            "the variable `{}` holds {} but `dtype` says {}: two nodes share the name",
            self.name,
            variable.dtype(),
            self.dtype
        );
        Ok(Tensor::handle(Handle::new(container, self.name.as_str(), variable)))
    }
}

impl Run for Named {
    fn run(&self, cx: &mut KernelCx) -> Result<()> {
        // Read before the look-up: what is forgotten meanwhile is looked up again.
        let epoch = cx.env.resources.epoch();
        let known = self.found.lock().as_ref().filter(|(then, _)| *then == epoch).map(|(_, handle)| handle.clone());
        let handle = match known {
            Some(handle) => handle,
            None => {
                let handle = self.find(cx)?;
                *self.found.lock() = Some((epoch, handle.clone()));
                handle
            }
        };
        cx.set(0, handle);
        Ok(())
    }
}

cases! {
    has_a_shape: "VariableV2(; dtype=f32, shape=shape[2,3]) : f32[2,3]",
    may_be_a_scalar: "VariableV2(; dtype=i32, shape=shape[]) : i32[]",
    old_scalars_are_unknown: "Variable(; dtype=i32, shape=shape[]) : i32[..]",
    has_no_value_at_first: "VariableV2(; dtype=i32, shape=shape[]) ! variable `case` is used before it has a value",
    needs_a_shape: "VariableV2(; dtype=f32) ! VariableV2 needs the attribute `shape`",
}
