//! Shape invariants: how callers give them, and the invariant of each loop variable.

use crate::nest::{Structure, join_path};
use crate::output::Output;
use millstream_tensor::{Dim, PartialShape, Result, invalid};
use std::collections::BTreeMap;

/// Shapes in the structure of a loop's variables.
#[derive(Clone, Debug)]
pub enum Shapes {
    /// The shape of one variable.
    One(PartialShape),
    /// Shapes by position; those of a struct in the order of its fields.
    Seq(Vec<Shapes>),
    /// Shapes by key, or by field.
    Map(BTreeMap<String, Shapes>),
}

/// Types that convert to [`Shapes`]: partial shapes in tuples, arrays, `Vec`s and maps.
pub trait ShapeNest {
    /// The shapes.
    fn into_shapes(self) -> Shapes;
}

/// The name of a loop variable: its position, or its path (`"1.j"`).
#[derive(Clone, Debug)]
pub struct VarPath(String);

impl From<&str> for VarPath {
    fn from(path: &str) -> Self {
        VarPath(path.into())
    }
}

impl From<String> for VarPath {
    fn from(path: String) -> Self {
        VarPath(path)
    }
}

impl From<usize> for VarPath {
    fn from(position: usize) -> Self {
        VarPath(position.to_string())
    }
}

/// The invariant of one value.
#[derive(Clone, Debug)]
pub(super) struct Invariant {
    pub shape: PartialShape,
    /// Whether the caller declared it. If not, it is the shape of the initial value.
    pub declared: bool,
}

impl Invariant {
    pub fn given(shape: PartialShape) -> Self {
        Invariant { shape, declared: true }
    }
}

/// The invariants that a caller declared.
#[derive(Default)]
pub(super) struct Given {
    pub all: Option<Shapes>,
    pub some: Vec<(VarPath, PartialShape)>,
}

impl Given {
    /// Returns the invariant of each value: the declared one, or the shape of the initial value.
    pub fn resolve(&self, structure: &Structure, init: &[Output<'_>]) -> Result<Vec<Invariant>> {
        let mut walk = Walk { given: self, init, at: 0, used: vec![false; self.some.len()], out: Vec::new() };
        walk.part(structure, self.all.as_ref(), "")?;
        if let Some(unused) = walk.used.iter().position(|used| !used) {
            let paths = variable_paths(structure);
            let name = &self.some[unused].0.0;
            return Err(invalid!("`shape_of`: the loop has no variable `{name}`")
                .with_help(format!("its variables are {}", paths.join(", "))));
        }
        Ok(walk.out)
    }
}

/// The names that `shape_of` accepts. A composite variable has one.
fn variable_paths(structure: &Structure) -> Vec<String> {
    fn walk(part: &Structure, prefix: &str, paths: &mut Vec<String>) {
        let parts = part.parts();
        if parts.is_empty() && part.n_values() > 0 {
            paths.push(format!("`{}`", if prefix.is_empty() { "0" } else { prefix }));
        }
        for (name, part) in parts {
            walk(part, &join_path(prefix, &name), paths);
        }
    }
    let mut paths = Vec::new();
    walk(structure, "", &mut paths);
    paths
}

struct Walk<'a, 'g> {
    given: &'a Given,
    init: &'a [Output<'g>],
    at: usize,
    used: Vec<bool>,
    out: Vec<Invariant>,
}

impl Walk<'_, '_> {
    fn part(&mut self, structure: &Structure, shapes: Option<&Shapes>, path: &str) -> Result<()> {
        let parts = structure.parts();
        if parts.is_empty() && structure.n_values() > 0 {
            return self.variable(structure, shapes, path);
        }
        let named = matches!(structure, Structure::Map(_) | Structure::Struct(..));
        match shapes {
            Some(Shapes::Seq(seq)) if seq.len() != parts.len() || matches!(structure, Structure::Map(_)) => {
                return Err(mismatch(structure, shapes, path));
            }
            Some(Shapes::Map(map)) if !named || map.len() != parts.len() => {
                return Err(mismatch(structure, shapes, path));
            }
            Some(Shapes::One(_)) => return Err(mismatch(structure, shapes, path)),
            _ => {}
        }
        for (i, (name, part)) in parts.iter().enumerate() {
            let shapes = match shapes {
                Some(Shapes::Seq(seq)) => seq.get(i),
                Some(Shapes::Map(map)) => {
                    Some(map.get(name).ok_or_else(|| mismatch(structure, shapes, path))?)
                }
                _ => None,
            };
            self.part(part, shapes, &join_path(path, name))?;
        }
        Ok(())
    }

    fn variable(&mut self, structure: &Structure, shapes: Option<&Shapes>, path: &str) -> Result<()> {
        let n = structure.n_values();
        let init: Vec<PartialShape> = self.init.iter().skip(self.at).take(n).map(|o| o.shape()).collect();
        self.at += n;
        let shown = if path.is_empty() { "0" } else { path };
        let mut shape = match shapes {
            None => None,
            Some(Shapes::One(shape)) => Some(shape),
            Some(_) => return Err(mismatch(structure, shapes, path)),
        };
        for (i, (var, given)) in self.given.some.iter().enumerate() {
            if var.0 == shown {
                self.used[i] = true;
                shape = Some(given);
            }
        }
        let mut components = match (structure, shape) {
            (Structure::Sparse, Some(shape)) => sparse(rank_of(shape, shown)?),
            // As in TensorFlow, the number of entries may change from one iteration to the next.
            (Structure::Sparse, None) => sparse(sparse_rank(&init)),
            (Structure::Slices { .. }, Some(shape)) => slices(shape),
            (_, Some(shape)) => vec![shape.clone()],
            (_, None) => init.clone(),
        };
        components.truncate(n);
        for (c, component) in components.into_iter().enumerate() {
            // A component may have an invariant of its own (`"1.indices"`).
            let mut invariant = Invariant { shape: component, declared: shape.is_some() };
            if let Some(name) = structure.components().get(c) {
                let full = join_path(path, name);
                for (i, (var, given)) in self.given.some.iter().enumerate() {
                    if var.0 == full {
                        self.used[i] = true;
                        invariant = Invariant::given(given.clone());
                    }
                }
            }
            self.out.push(invariant);
        }
        Ok(())
    }
}

/// The rank of a sparse tensor whose `dense_shape` has this shape.
fn rank_of(shape: &PartialShape, path: &str) -> Result<Dim> {
    match shape.dims() {
        None => Ok(None),
        Some([rank]) => Ok(*rank),
        Some(_) => Err(invalid!(
            "the shape invariant {shape} of the sparse variable `{path}` must be that of its `dense_shape`, a vector: `[rank]`"
        )),
    }
}

fn sparse_rank(init: &[PartialShape]) -> Dim {
    let [indices, _, dense_shape] = init else { return None };
    dense_shape.dim(0).or(indices.dim(1))
}

/// The shapes of indices, values and dense shape.
fn sparse(rank: Dim) -> Vec<PartialShape> {
    vec![PartialShape::new([None, rank]), PartialShape::new([None]), PartialShape::new([rank])]
}

/// The shapes of values, indices and dense shape.
fn slices(values: &PartialShape) -> Vec<PartialShape> {
    vec![values.clone(), PartialShape::new([values.dim(0)]), PartialShape::new([values.rank()])]
}

fn mismatch(structure: &Structure, shapes: Option<&Shapes>, path: &str) -> millstream_tensor::Error {
    let of = if path.is_empty() { String::new() } else { format!(" at `{path}`") };
    let given = shapes.map(|s| s.to_string()).unwrap_or_default();
    invalid!("`shape_invariants` must have the structure of the loop variables{of}")
        .note(format!("variables    {structure}"))
        .note(format!("invariants   {given}"))
        .with_help(
            "give one shape per variable in the same structure, or set single variables with `shape_of`",
        )
}

impl std::fmt::Display for Shapes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Shapes::One(shape) => write!(f, "{shape}"),
            Shapes::Seq(parts) => {
                let parts: Vec<String> = parts.iter().map(Shapes::to_string).collect();
                write!(f, "({})", parts.join(", "))
            }
            Shapes::Map(parts) => {
                let parts: Vec<String> = parts.iter().map(|(k, p)| format!("{k:?}: {p}")).collect();
                write!(f, "{{{}}}", parts.join(", "))
            }
        }
    }
}

impl ShapeNest for Shapes {
    fn into_shapes(self) -> Shapes {
        self
    }
}

impl ShapeNest for PartialShape {
    fn into_shapes(self) -> Shapes {
        Shapes::One(self)
    }
}

impl<T: ShapeNest> ShapeNest for Vec<T> {
    fn into_shapes(self) -> Shapes {
        Shapes::Seq(self.into_iter().map(T::into_shapes).collect())
    }
}

impl<T: ShapeNest, const N: usize> ShapeNest for [T; N] {
    fn into_shapes(self) -> Shapes {
        Shapes::Seq(self.into_iter().map(T::into_shapes).collect())
    }
}

impl<T: ShapeNest> ShapeNest for BTreeMap<String, T> {
    fn into_shapes(self) -> Shapes {
        Shapes::Map(self.into_iter().map(|(k, part)| (k, part.into_shapes())).collect())
    }
}

macro_rules! tuples {
    ($( ($($t:ident . $i:tt),*) )*) => { $(
        impl<$($t: ShapeNest),*> ShapeNest for ($($t,)*) {
            fn into_shapes(self) -> Shapes {
                Shapes::Seq(vec![$(self.$i.into_shapes()),*])
            }
        }
    )* };
}
tuples! {
    ()
    (A.0)
    (A.0, B.1)
    (A.0, B.1, C.2)
    (A.0, B.1, C.2, D.3)
    (A.0, B.1, C.2, D.3, E.4)
    (A.0, B.1, C.2, D.3, E.4, F.5)
    (A.0, B.1, C.2, D.3, E.4, F.5, G.6)
    (A.0, B.1, C.2, D.3, E.4, F.5, G.6, H.7)
    (A.0, B.1, C.2, D.3, E.4, F.5, G.6, H.7, I.8)
    (A.0, B.1, C.2, D.3, E.4, F.5, G.6, H.7, I.8, J.9)
    (A.0, B.1, C.2, D.3, E.4, F.5, G.6, H.7, I.8, J.9, K.10)
    (A.0, B.1, C.2, D.3, E.4, F.5, G.6, H.7, I.8, J.9, K.10, L.11)
}
