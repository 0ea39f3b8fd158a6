//! [`OpDef`]: the declaration of an op, from which everything else about it is derived.

use super::gradient::Gradient;
use super::infer::InferCx;
use super::kernel::{Effect, Kernel};
use crate::attr::Attr;
use millstream_tensor::{DType, Result};

/// An op type: its name, doc, inputs, outputs, attributes, shape rule and kernel.
///
/// ```ignore
/// OpDef::new("Tile")
///     .doc("Repeats `input` along each axis, `multiples[i]` times along axis `i`.")
///     .input("input", "T")
///     .input("multiples", "Index").on_host()
///     .output("output", "T")
///     .attr("T", AnyType)
///     .attr("Index", OneOf(&[I32, I64]).or(I32))
///     .infer(infer)
///     .kernel(Kernel::pure(run))
/// ```
pub struct OpDef {
    /// The op type, as TensorFlow names it.
    pub name: &'static str,
    /// What it does: users' documentation.
    pub doc: &'static str,
    /// Inputs in order.
    pub inputs: Vec<ArgSpec>,
    /// Outputs in order.
    pub outputs: Vec<ArgSpec>,
    /// Attributes in declaration order.
    pub attrs: Vec<(&'static str, AttrSpec)>,
    /// The shape rule.
    pub infer: fn(&mut InferCx) -> Result<()>,
    /// The computation.
    pub kernel: Kernel,
    /// The gradient, if it is declared. [`OpDef::gradient_of`] derives it where it is not.
    pub gradient: Option<Gradient>,
    /// What the op means to the graph and the executor.
    pub role: Role,
    /// The Rust operator that makes nodes of this op.
    pub operator: Option<Operator>,
    /// Whether its output is its first input, broadcast.
    pub spreads: bool,
    /// What the op computes, if others rely on it.
    pub meaning: Option<Meaning>,
    /// Examples that are also its tests: a name, and `Op(args; attrs) = values`, `: types` or `! error`.
    pub cases: &'static [(&'static str, &'static str)],
}

/// What an op means to the graph and the executor. All but [`Role::Compute`] are structural: they move
/// tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is the op of its name, of either kind (value or reference)")]
pub enum Role {
    /// Runs its kernel.
    Compute,
    Placeholder,
    Const,
    /// Passes its input on; on a reference edge it reads the variable.
    Identity,
    NoOp,
    Enter,
    Exit,
    Merge,
    Switch,
    NextIteration,
    LoopCond,
    /// A `NoOp` that runs although its control inputs are dead.
    ControlTrigger,
}

/// What an op computes, as far as others rely on it: loops, whose trip counts are read off their counters,
/// and ops that treat the values of some op differently. Several ops may have one meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// `x + y`.
    Sum,
    /// `x and y`.
    And,
    /// `x < y`.
    Less,
    /// `x <= y`.
    LessEqual,
    /// `x > y`.
    Greater,
    /// `x >= y`.
    GreaterEqual,
    /// The square of each element.
    Square,
    /// Each element in another dtype.
    Cast,
    /// The part of input 0 that begins at input 1 and has the size input 2.
    Slice,
    /// A sequence with a constant step: no two elements are equal.
    Range,
}

/// Rust's operators on outputs; each is declared by exactly one op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named as Rust's operator traits")]
pub enum Operator {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Neg,
    Not,
    BitAnd,
    BitOr,
    BitXor,
}

impl Operator {
    /// The name that TensorFlow's operators give their nodes: `a + b` is `add`.
    pub fn node_name(self) -> &'static str {
        match self {
            Operator::Add => "add",
            Operator::Sub => "sub",
            Operator::Mul => "mul",
            Operator::Div => "truediv",
            Operator::Rem => "mod",
            Operator::Neg => "Neg",
            Operator::Not => "LogicalNot",
            Operator::BitAnd => "and",
            Operator::BitOr => "or",
            Operator::BitXor => "xor",
        }
    }
}

/// The type of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeSpec {
    /// Always this.
    Fixed(DType),
    /// The dtype in the type attribute of this name.
    Attr(&'static str),
}

impl From<DType> for TypeSpec {
    fn from(dtype: DType) -> Self {
        TypeSpec::Fixed(dtype)
    }
}

impl From<&'static str> for TypeSpec {
    fn from(attr: &'static str) -> Self {
        TypeSpec::Attr(attr)
    }
}

/// The number of tensors in an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// One.
    One,
    /// The number in the int attribute of this name.
    Number(&'static str),
    /// One per entry of the type-list attribute of this name (which also gives the types).
    List(&'static str),
}

/// An input or output.
#[derive(Clone, Debug)]
pub struct ArgSpec {
    /// Its name.
    pub name: &'static str,
    /// Its type (unused for [`Count::List`]).
    pub ty: TypeSpec,
    /// The number of tensors.
    pub count: Count,
    /// Whether it must be (for an output: is) a reference to a variable.
    pub is_ref: bool,
    /// Whether it is read on the host even if the op computes elsewhere (shapes, axes).
    pub on_host: bool,
}

/// The kind of value that an attribute holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AttrKind {
    /// A dtype: one of these, or any if the slice is empty.
    Type(&'static [DType]),
    /// A list of dtypes, and the least number of them.
    TypeList(usize),
    /// An int of at least this.
    Int(i64),
    /// A float.
    Float,
    /// A bool.
    Bool,
    /// A string: one of these, or any if the slice is empty.
    Str(&'static [&'static str]),
    /// A shape.
    Shape,
    /// A tensor.
    Tensor,
    /// A function.
    Func,
    /// A list of ints.
    IntList,
    /// A list of floats.
    FloatList,
    /// A list of strings.
    StrList,
    /// A list of shapes.
    ShapeList,
    /// A list of functions.
    FuncList,
}

/// An attribute's declaration.
#[derive(Clone, Debug)]
pub struct AttrSpec {
    /// The kind of value.
    pub kind: AttrKind,
    /// The value of an attribute that is not given.
    pub default: Option<Attr>,
}

/// The attribute kinds, as declarations spell them: `AnyType`, `OneOf(&[I32, I64])`, `Int`, `Bool`, ..;
/// `.or(value)` adds a default.
pub mod spec {
    use super::{Attr, AttrKind, AttrSpec};
    use millstream_tensor::DType::{self, *};

    /// A spelling of an attribute kind.
    pub trait Spec: Sized {
        /// The kind.
        fn kind(self) -> AttrKind;

        /// With a default value.
        fn or(self, default: impl Into<Attr>) -> AttrSpec {
            AttrSpec { kind: self.kind(), default: Some(default.into()) }
        }
    }

    impl<S: Spec> From<S> for AttrSpec {
        fn from(spec: S) -> Self {
            AttrSpec { kind: spec.kind(), default: None }
        }
    }

    macro_rules! specs {
        ($($(#[$doc:meta])* $name:ident => $kind:expr;)*) => { $(
            $(#[$doc])*
            #[derive(Debug)]
            pub struct $name;
            impl Spec for $name {
                fn kind(self) -> AttrKind { $kind }
            }
        )* };
    }
    specs! {
        /// Any dtype.
        AnyType => AttrKind::Type(&[]);
        /// A list of any dtypes.
        TypeList => AttrKind::TypeList(0);
        /// A list of at least one dtype.
        TypesFrom1 => AttrKind::TypeList(1);
        /// An int.
        Int => AttrKind::Int(i64::MIN);
        /// A float.
        Float => AttrKind::Float;
        /// A bool.
        Bool => AttrKind::Bool;
        /// A string.
        Text => AttrKind::Str(&[]);
        /// A shape.
        AnyShape => AttrKind::Shape;
        /// A tensor.
        Value => AttrKind::Tensor;
        /// A function.
        Func => AttrKind::Func;
        /// A list of ints.
        IntList => AttrKind::IntList;
        /// A list of floats.
        FloatList => AttrKind::FloatList;
        /// A list of strings.
        TextList => AttrKind::StrList;
        /// A list of shapes.
        ShapeList => AttrKind::ShapeList;
        /// A list of functions.
        FuncList => AttrKind::FuncList;
        /// Floats, integers, complex numbers.
        Number => AttrKind::Type(NUMBERS);
        /// Floats and integers.
        RealNumber => AttrKind::Type(REALS);
        /// f16, bf16, f32, f64.
        FloatType => AttrKind::Type(FLOATS);
        /// Floats and complex numbers.
        FloatOrComplex => AttrKind::Type(FLOATS_COMPLEX);
        /// Signed and unsigned integers.
        IntType => AttrKind::Type(INTS);
        /// i32 or i64: indices, shapes and axes.
        IndexType => AttrKind::Type(&[I32, I64]);
    }

    /// One of these dtypes.
    #[derive(Debug)]
    pub struct OneOf(pub &'static [DType]);
    impl Spec for OneOf {
        fn kind(self) -> AttrKind {
            AttrKind::Type(self.0)
        }
    }

    /// An int of at least this.
    #[derive(Debug)]
    pub struct AtLeast(pub i64);
    impl Spec for AtLeast {
        fn kind(self) -> AttrKind {
            AttrKind::Int(self.0)
        }
    }

    /// One of these strings.
    #[derive(Debug)]
    pub struct Words(pub &'static [&'static str]);
    impl Spec for Words {
        fn kind(self) -> AttrKind {
            AttrKind::Str(self.0)
        }
    }

    /// Floats.
    pub const FLOATS: &[DType] = &[F16, BF16, F32, F64];
    /// Integers.
    pub const INTS: &[DType] = &[I8, I16, I32, I64, U8, U16, U32, U64];
    /// Floats and integers.
    pub const REALS: &[DType] = &[F16, BF16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64];
    /// Floats and complex numbers.
    pub const FLOATS_COMPLEX: &[DType] = &[F16, BF16, F32, F64, C64, C128];
    /// Floats, integers, complex numbers.
    pub const NUMBERS: &[DType] = &[F16, BF16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64, C64, C128];
}

impl OpDef {
    /// An op type with this name, to be completed with the methods below.
    pub fn new(name: &'static str) -> OpDef {
        OpDef {
            name,
            doc: "",
            inputs: Vec::new(),
            outputs: Vec::new(),
            attrs: Vec::new(),
            infer: |_| Ok(()),
            kernel: Kernel::structural(),
            gradient: None,
            role: Role::Compute,
            operator: None,
            spreads: false,
            meaning: None,
            cases: &[],
        }
    }

    /// The documentation: what the op does, in a sentence or more.
    pub fn doc(mut self, doc: &'static str) -> Self {
        self.doc = doc;
        self
    }

    fn arg(name: &'static str, ty: impl Into<TypeSpec>, count: Count, is_ref: bool) -> ArgSpec {
        ArgSpec { name, ty: ty.into(), count, is_ref, on_host: false }
    }

    /// Adds an input, of a fixed dtype or of the dtype in a type attribute.
    pub fn input(mut self, name: &'static str, ty: impl Into<TypeSpec>) -> Self {
        self.inputs.push(Self::arg(name, ty, Count::One, false));
        self
    }

    /// Adds an argument of several inputs of one type; the int attribute `number` holds how many.
    pub fn inputs(mut self, name: &'static str, number: &'static str, ty: impl Into<TypeSpec>) -> Self {
        self.inputs.push(Self::arg(name, ty, Count::Number(number), false));
        self
    }

    /// Adds an argument of inputs with the dtypes in the type-list attribute `types`.
    pub fn input_list(mut self, name: &'static str, types: &'static str) -> Self {
        self.inputs.push(Self::arg(name, types, Count::List(types), false));
        self
    }

    /// Adds an input that must be a reference to a variable.
    pub fn ref_input(mut self, name: &'static str, ty: impl Into<TypeSpec>) -> Self {
        self.inputs.push(Self::arg(name, ty, Count::One, true));
        self
    }

    /// Adds an argument of several reference inputs; the int attribute `number` holds how many.
    pub fn ref_inputs(mut self, name: &'static str, number: &'static str, ty: impl Into<TypeSpec>) -> Self {
        self.inputs.push(Self::arg(name, ty, Count::Number(number), true));
        self
    }

    /// Declares that the latest input is read on the host.
    pub fn on_host(mut self) -> Self {
        if let Some(arg) = self.inputs.last_mut() {
            arg.on_host = true;
        }
        self
    }

    /// Adds an output.
    pub fn output(mut self, name: &'static str, ty: impl Into<TypeSpec>) -> Self {
        self.outputs.push(Self::arg(name, ty, Count::One, false));
        self
    }

    /// Adds several outputs of one type; the int attribute `number` holds how many.
    pub fn outputs(mut self, name: &'static str, number: &'static str, ty: impl Into<TypeSpec>) -> Self {
        self.outputs.push(Self::arg(name, ty, Count::Number(number), false));
        self
    }

    /// Adds outputs with the dtypes in the type-list attribute `types`.
    pub fn output_list(mut self, name: &'static str, types: &'static str) -> Self {
        self.outputs.push(Self::arg(name, types, Count::List(types), false));
        self
    }

    /// Adds an output that is a reference to a variable.
    pub fn ref_output(mut self, name: &'static str, ty: impl Into<TypeSpec>) -> Self {
        self.outputs.push(Self::arg(name, ty, Count::One, true));
        self
    }

    /// Adds an attribute, with or without a default: `.attr("T", AnyType)`, `.attr("axis", Int.or(0))`.
    pub fn attr(mut self, name: &'static str, spec: impl Into<AttrSpec>) -> Self {
        self.attrs.push((name, spec.into()));
        self
    }

    /// Sets the shape rule. Without one, the shape of every output is unknown.
    pub fn infer(mut self, infer: fn(&mut InferCx) -> Result<()>) -> Self {
        self.infer = infer;
        self
    }

    /// Sets the kernel.
    pub fn kernel(mut self, kernel: Kernel) -> Self {
        self.kernel = kernel;
        self
    }

    /// Sets the gradient.
    pub fn gradient(mut self, gradient: Gradient) -> Self {
        self.gradient = Some(gradient);
        self
    }

    /// Sets the role. The default is [`Role::Compute`].
    pub fn role(mut self, role: Role) -> Self {
        self.role = role;
        self
    }

    /// Declares that the output is the first input, broadcast. A gradient that multiplies with such a value
    /// uses the input instead.
    pub fn spreads(mut self) -> Self {
        self.spreads = true;
        self
    }

    /// Sets what the op computes.
    pub fn means(mut self, meaning: Meaning) -> Self {
        self.meaning = Some(meaning);
        self
    }

    /// Sets the operator that makes nodes of this op.
    pub fn operator(mut self, operator: Operator) -> Self {
        self.operator = Some(operator);
        self
    }

    /// Sets the examples.
    pub fn cases(mut self, cases: &'static [(&'static str, &'static str)]) -> Self {
        self.cases = cases;
        self
    }

    /// The gradient: the declared one, or the one that follows from the op's role, dtypes or effect. `None`
    /// if neither exists.
    pub fn gradient_of(&self) -> Option<Gradient> {
        match self.role {
            Role::Compute => {}
            Role::Identity => return Some(Gradient::pass()),
            _ => return Some(Gradient::Structural),
        }
        self.gradient.or(match () {
            () if self.inputs.is_empty() => Some(Gradient::none("no inputs")),
            () if !self.outputs.iter().any(|arg| self.carries(arg)) => {
                Some(Gradient::none("no output that gradients flow through"))
            }
            () if !self.inputs.iter().any(|arg| self.carries(arg)) => {
                Some(Gradient::none("no input that gradients flow to"))
            }
            () if self.kernel.effect == Effect::Writes => Some(Gradient::none("it changes state")),
            () => None,
        })
    }

    /// Whether gradients can flow through an input or output.
    fn carries(&self, arg: &ArgSpec) -> bool {
        match arg.ty {
            TypeSpec::Fixed(dtype) => dtype.carries_gradients(),
            TypeSpec::Attr(attr) => match self.attr_spec(attr).map(|spec| spec.kind) {
                Some(AttrKind::Type(&[])) | None => true,
                Some(AttrKind::Type(dtypes)) => dtypes.iter().any(|d| d.carries_gradients()),
                Some(_) => true,
            },
        }
    }

    /// The declaration of an attribute.
    pub fn attr_spec(&self, name: &str) -> Option<&AttrSpec> {
        self.attrs.iter().find(|(n, _)| *n == name).map(|(_, s)| s)
    }
}

impl std::fmt::Debug for OpDef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "OpDef({})", self.name)
    }
}
