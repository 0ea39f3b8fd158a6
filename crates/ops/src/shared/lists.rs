//! Tensor lists as values: stacking and splitting items, sums and zeros of whole lists.

use super::optional::Optional;
use millstream_tensor::pace::Pace;
use millstream_tensor::{
    Assembler, DType, PartialShape, Result, Shape, Tensor, TensorList, Variant, ensure, invalid,
};

/// The deepest nesting of lists that can be summed or zeroed.
const MAX_DEPTH: usize = 64;

/// Returns `shape` with an added outermost dimension.
pub(crate) fn stacked(outer: Option<usize>, shape: &PartialShape) -> PartialShape {
    shape.dims().map_or(PartialShape::unknown(), |dims| {
        PartialShape::new(std::iter::once(outer).chain(dims.iter().copied()))
    })
}

/// Returns `shape` without its outermost dimension.
pub(crate) fn unstacked(shape: &PartialShape) -> PartialShape {
    match shape.dims() {
        Some([_, dims @ ..]) => PartialShape::new(dims.iter().copied()),
        _ => PartialShape::unknown(),
    }
}

/// Returns the list in a variant.
pub(crate) fn as_list(variant: &Variant) -> Result<&TensorList> {
    variant.get().ok_or_else(|| invalid!("expected a tensor list, found a {}", variant.kind()))
}

/// Merges two element shapes.
pub(crate) fn merge(a: &PartialShape, b: &PartialShape) -> Result<PartialShape> {
    a.merge(b).ok_or_else(|| invalid!("element shapes {a} and {b} contradict each other"))
}

/// Stacks items of one shape, with zeros for unwritten ones. Items that are already contiguous in one buffer
/// are shared, not copied.
pub(crate) fn stack<'a>(
    dtype: DType,
    shape: &Shape,
    items: impl ExactSizeIterator<Item = Option<&'a Tensor>> + Clone,
) -> Result<Tensor> {
    let whole = Shape::new(std::iter::once(items.len()).chain(shape.iter().copied()));
    if items.clone().all(|item| item.is_some())
        && let Some(shared) = Tensor::spliced(items.clone().flatten(), &whole)
    {
        return Ok(shared);
    }
    join(dtype, whole, items.map(|item| (item, shape.elements())))
}

/// Concatenates the items into a tensor of shape `shape`. Each is given with its number of elements; a
/// missing one becomes as many zeros.
pub(crate) fn join<'a>(
    dtype: DType,
    shape: Shape,
    items: impl IntoIterator<Item = (Option<&'a Tensor>, usize)>,
) -> Result<Tensor> {
    let mut out = Assembler::new(dtype, shape)?;
    let (mut zero, mut pace) = (None, Pace::new());
    for (item, count) in items {
        pace.spend(1)?;
        match item {
            Some(item) => out.push(item, 0, count)?,
            None => {
                let zero = match &mut zero {
                    Some(zero) => zero,
                    none => none.insert(Tensor::zeros(dtype, Shape::scalar())?),
                };
                out.push_fill(zero, count)?;
            }
        }
    }
    out.finish()
}

/// Returns the rows of a tensor.
pub(crate) fn rows(tensor: &Tensor) -> impl ExactSizeIterator<Item = Result<Tensor>> + '_ {
    (0..tensor.shape().first().copied().unwrap_or(0)).map(|i| tensor.row(i))
}

/// Returns the sum of two variants, item by item. An unwritten item counts as zero. `sum` adds tensors of
/// numbers.
pub(crate) fn add(a: &Tensor, b: &Tensor, sum: &dyn Fn(Tensor, Tensor) -> Result<Tensor>) -> Result<Tensor> {
    add_at(a, b, sum, 0)
}

fn add_at(
    a: &Tensor,
    b: &Tensor,
    sum: &dyn Fn(Tensor, Tensor) -> Result<Tensor>,
    depth: usize,
) -> Result<Tensor> {
    ensure!(depth <= MAX_DEPTH, "the lists are nested deeper than {MAX_DEPTH} levels");
    ensure!(
        a.dtype() == b.dtype() && a.shape() == b.shape(),
        "{}{} and {}{} cannot be added: they must be of one dtype and shape",
        a.dtype(),
        a.shape(),
        b.dtype(),
        b.shape()
    );
    let (Some(xs), Some(ys)) = (a.as_variants(), b.as_variants()) else { return sum(a.clone(), b.clone()) };
    let sums = xs.iter().zip(ys).map(|(x, y)| {
        if let (Some(x), Some(y)) = (x.get::<Optional>(), y.get::<Optional>()) {
            return x.add(y, |x, y| add_at(x, y, sum, depth + 1));
        }
        let (x, y) = (as_list(x)?, as_list(y)?);
        ensure!(x.dtype() == y.dtype(), "a list of {} and one of {} cannot be added", x.dtype(), y.dtype());
        ensure!(x.len() == y.len(), "lists of {} and of {} items cannot be added", x.len(), y.len());
        let shape = merge(x.element_shape(), y.element_shape())?;
        let (xs, ys) = (x.items()?, y.items()?);
        let items = xs.iter().zip(ys.iter()).map(|pair| match pair {
            (Some(x), Some(y)) => add_at(x, y, sum, depth + 1).map(Some),
            (x, y) => Ok(x.as_ref().or(y.as_ref()).cloned()),
        });
        let list = TensorList::try_of(x.dtype(), shape, items)?.with_max_len(x.max_len());
        Variant::new(list)
    });
    Tensor::variants(a.shape().clone(), sums.collect::<Result<_>>()?)
}

/// Returns lists of zeros in the shapes of the items. Items of one shape share one zero tensor; unwritten
/// items stay unwritten.
pub(crate) fn zeros_like(x: &Tensor) -> Result<Tensor> {
    zeros_at(x, 0)
}

fn zeros_at(x: &Tensor, depth: usize) -> Result<Tensor> {
    ensure!(depth <= MAX_DEPTH, "the lists are nested deeper than {MAX_DEPTH} levels");
    let Some(variants) = x.as_variants() else { return Tensor::zeros(x.dtype(), x.shape().clone()) };
    let zeros = variants.iter().map(|variant| {
        if let Some(optional) = variant.get::<Optional>() {
            return optional.map(|value| zeros_at(value, depth + 1));
        }
        let list = as_list(variant)?;
        // There are few shapes, and often one. The zeros are kept in order of first use, so the search begins
        // with the latest.
        let mut seen: Vec<Tensor> = Vec::new();
        let mut zero = |item: &Tensor| {
            if list.dtype() == DType::Variant {
                return zeros_at(item, depth + 1);
            }
            match seen.iter().rev().take(16).find(|z| z.shape() == item.shape()) {
                Some(zero) => Ok(zero.clone()),
                None => {
                    seen.push(Tensor::zeros(list.dtype(), item.shape().clone())?);
                    Ok(seen[seen.len() - 1].clone())
                }
            }
        };
        let items = list.items()?;
        let items = items.iter().map(|item| item.as_ref().map(&mut zero).transpose());
        Variant::new(TensorList::try_of(list.dtype(), list.element_shape().clone(), items)?)
    });
    Tensor::variants(x.shape().clone(), zeros.collect::<Result<_>>()?)
}
