//! Batches: elements side by side in tensors with one more axis.

use super::datasets::{Element, Kept, Source, counted, is_interrupt, keep};
use millstream_graph::op::{KernelCx, StepEnv};
use millstream_tensor::budget::Charged;
use millstream_tensor::pace::Pace;
use millstream_tensor::{Assembler, Code, Error, Result, Shape, Tensor, ensure};

/// The size of batches, and whether a last batch that is smaller is dropped.
#[derive(Clone, Copy)]
pub(super) struct Size {
    most: usize,
    whole_only: bool,
}

impl Size {
    /// The size in input `i`, and in input `drop`, if there is one.
    pub(super) fn of(cx: &KernelCx, i: usize, drop: Option<usize>) -> Result<Size> {
        let most = cx.int(i)?;
        ensure!(most > 0, "Batch size must be greater than zero."; "`{}` is {most}", cx.name_of(i));
        let whole_only = drop.map_or(Ok(false), |i| cx.bool(i))?;
        Ok(Size { most: usize::try_from(most).unwrap_or(usize::MAX), whole_only })
    }

    /// The number of batches of this many elements: see [`Dataset::cardinality`].
    ///
    /// [`Dataset::cardinality`]: super::datasets::Dataset::cardinality
    pub(super) fn batches(self, elements: i64) -> i64 {
        let most = i64::try_from(self.most).unwrap_or(i64::MAX);
        counted(elements, |n| n / most + i64::from(!self.whole_only && n % most != 0))
    }
}

/// The elements of the next batch.
pub(super) struct Gathering {
    input: Source,
    size: Size,
    held: Charged<Kept>,
}

impl Gathering {
    pub(super) fn of(input: Source, size: Size) -> Gathering {
        Gathering { input, size, held: Charged::new() }
    }

    /// The batch that `build` makes of the next elements, or `None` at the end. An interrupted batch goes on
    /// where it stopped: its elements stay until it is built.
    pub(super) fn next(
        &mut self,
        env: &StepEnv,
        build: impl FnOnce(&[Kept]) -> Result<Element>,
    ) -> Result<Option<Element>> {
        while self.held.len() < self.size.most {
            match self.input.next(env) {
                Ok(Some(element)) => keep(&mut self.held, element)?,
                Ok(None) if self.held.is_empty() || self.size.whole_only => {
                    self.held = Charged::new();
                    return Ok(None);
                }
                Ok(None) => break,
                Err(error) => return Err(self.lost(error)),
            }
        }
        match build(&self.held) {
            Ok(batch) => {
                self.held = Charged::new();
                Ok(Some(batch))
            }
            Err(error) => Err(self.lost(error)),
        }
    }

    /// As in TensorFlow, an element that fails takes its batch with it.
    fn lost(&mut self, error: Error) -> Error {
        if !is_interrupt(&error) {
            self.held = Charged::new();
        }
        error
    }
}

/// The elements as one, whose components have an axis more.
pub(super) fn stacked(elements: &[Kept]) -> Result<Element> {
    let Some(first) = elements.first() else { return Ok(Element::new()) };
    (0..first.len()).map(|c| stack(elements, c)).collect()
}

fn stack(elements: &[Kept], c: usize) -> Result<Tensor> {
    let first = &elements[0][c];
    for (i, element) in elements.iter().enumerate() {
        ensure!(
            element[c].shape() == first.shape(),
            "Cannot add tensor to the batch: number of elements does not match. Shapes are: [tensor]: {}, [batch]: {}",
            element[c].shape(),
            first.shape();
            "element {i} of the batch has another shape in component {c} than the first element"
        );
    }
    let shape = Shape::new(std::iter::once(elements.len()).chain(first.shape().iter().copied()));
    if let Some(shared) = Tensor::spliced(elements.iter().map(|element| &element[c]), &shape) {
        return Ok(shared);
    }
    let (mut out, mut pace) = (Assembler::new(first.dtype(), shape)?, Pace::new());
    for element in elements {
        pace.spend(1)?;
        out.push(&element[c], 0, element[c].elements())?;
    }
    out.finish()
}

/// The elements as one, whose components have an axis more. Components of a smaller shape are padded to
/// `shapes`, in which -1 is the size of the largest element, with `values`.
pub(super) fn padded(elements: &[Kept], shapes: &[Vec<i64>], values: &[Tensor]) -> Result<Element> {
    let component = |(c, (shape, value)): (usize, (&Vec<i64>, &Tensor))| {
        let mut largest: Vec<usize> = shape.iter().map(|dim| usize::try_from(*dim).unwrap_or(0)).collect();
        for (i, element) in elements.iter().enumerate() {
            let dims = element[c].shape();
            ensure!(
                dims.len() == shape.len(),
                "All elements in a batch must have the same rank as the padded shape for component{c}: expected rank {} but got element with rank {}",
                shape.len(),
                dims.len()
            );
            for (axis, (dim, wanted)) in dims.iter().zip(shape).enumerate() {
                let fits = *wanted < 0 || i64::try_from(*dim).is_ok_and(|dim| dim <= *wanted);
                if !fits {
                    let own = format!(
                        "component {c} of element {i} has size {dim} along axis {axis}, and {wanted} is wanted"
                    );
                    let words = "Attempted to pad to a smaller size than the input element.";
                    return Err(Error::new(Code::DataLoss, own).led_by(words));
                }
                largest[axis] = largest[axis].max(*dim);
            }
        }
        let whole = Shape::new(std::iter::once(elements.len()).chain(largest.iter().copied()));
        let (mut out, mut pace) = (Assembler::new(value.dtype(), whole)?, Pace::new());
        for element in elements {
            pace.spend(1)?;
            pad(&mut out, &element[c], 0, element[c].shape().dims(), &largest, value)?;
        }
        out.finish()
    };
    shapes.iter().zip(values).enumerate().map(component).collect()
}

/// Appends the elements of shape `from` that begin at `start` in `value`, padded to shape `to`.
fn pad(
    out: &mut Assembler,
    value: &Tensor,
    start: usize,
    from: &[usize],
    to: &[usize],
    fill: &Tensor,
) -> Result<()> {
    if from == to {
        return out.push(value, start, from.iter().product());
    }
    // Rows without elements may be any number.
    if to.contains(&0) {
        return Ok(());
    }
    let (Some((&n, from)), Some((&m, to))) = (from.split_first(), to.split_first()) else { return Ok(()) };
    let row: usize = from.iter().product();
    match from == to {
        true => out.push(value, start, n * row)?,
        false => (0..n).try_for_each(|i| pad(out, value, start + i * row, from, to, fill))?,
    }
    out.push_fill(fill, (m - n) * to.iter().product::<usize>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use millstream_tensor::DType::F32;

    /// Rows that cannot be copied as they are, of which there may be any number.
    #[test]
    fn rows_without_elements_take_no_time_to_pad() {
        let element = |rows: usize| Kept::of(Element::from_iter([Tensor::zeros(F32, [rows, 0, 2]).unwrap()]));
        let elements = [element(1 << 40).unwrap(), element(3).unwrap()];
        let batch = padded(&elements, &[vec![-1, 0, 5]], &[Tensor::scalar(0f32)]).unwrap();
        assert_eq!(batch[0].shape().dims(), [2, 1 << 40, 0, 5]);
    }
}
