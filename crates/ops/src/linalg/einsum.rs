//! `Einsum`: sums of products by Einstein's notation.

use super::product::{Matrix, Product};
use crate::number::{Num as _, no_kernel};
use crate::shared::elementwise::fresh;
use millstream_graph::op::spec::{AtLeast, Number, Text};
use millstream_graph::op::{Cost, GradCx, Gradient, InferCx, Kernel, KernelCx, NodeInfo, OpDef};
use millstream_tensor::pace::Pace;
use millstream_tensor::{Dim, Element, Error, PartialShape, Result, Tensor, ensure, invalid, with_element};
use std::collections::BTreeMap;

pub(crate) fn def() -> OpDef {
    OpDef::new("Einsum")
        .doc(
            "Multiplies tensors and sums the product over axes, as `equation` says: `ij,jk->ik` is a product of \
             matrices. A letter labels an axis of an input. Labels that the output lacks are summed over; a \
             label twice in an input takes the diagonal, and one twice in the output makes one. `...` labels \
             axes that are broadcast. There are one or two inputs.",
        )
        .inputs("inputs", "N", "T")
        .output("output", "T")
        .attr("equation", Text)
        .attr("N", AtLeast(1))
        .attr("T", Number)
        .infer(infer)
        .kernel(Kernel::pure(run).cost(Cost::Estimate(cost)))
        .gradient(Gradient::of(grad))
}

fn cost(_: &NodeInfo, inputs: &[Tensor]) -> f64 {
    inputs.iter().map(|x| x.elements() as f64).product::<f64>().sqrt() * 2.0
}

/// The label of an axis: a letter, or [`BROADCAST`] and the place of an axis of the ellipsis, from the end.
type Label = u32;
const BROADCAST: Label = 1 << 16;

/// The labels of the axes of each input and of the output.
struct Equation {
    inputs: Vec<Vec<Label>>,
    output: Vec<Label>,
}

impl Equation {
    /// Parses an equation for inputs of these ranks. Returns `None` if the number of axes of the ellipsis is
    /// unknown.
    fn parse(text: &str, ranks: &[Option<usize>]) -> Result<Option<Equation>> {
        let compact: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        let (left, right) = compact.split_once("->").ok_or_else(
            || invalid!("Expecting exactly one '->' in einsum equation: {text}"; "the equation `{text}` must say its output, as in `ij,jk->ik`"),
        )?;
        let terms: Vec<&str> = left.split(',').collect();
        ensure!(
            terms.len() <= 2,
            "Expecting 1 or 2 input operands in equation '{text}' but got: {}",
            terms.len()
        );
        ensure!(
            terms.len() == ranks.len(),
            "Expecting {} inputs for equation {text} but got: {}",
            terms.len(),
            ranks.len()
        );
        let (mut inputs, mut most) = (Vec::new(), Some(0));
        for (i, (term, rank)) in terms.iter().zip(ranks).enumerate() {
            let (before, after) = split(term, text)?;
            let n_named = before.len() + after.as_ref().map_or(0, Vec::len);
            let Some(after) = after else {
                ensure!(
                    rank.is_none_or(|rank| rank == n_named),
                    "Expected input {i} to have rank {n_named} but got: {}",
                    rank.unwrap_or(0)
                );
                inputs.push(before);
                continue;
            };
            let Some(rank) = rank else { return Ok(None) };
            let n = rank.checked_sub(n_named).ok_or_else(|| {
                invalid!("Expected input {i} to have rank at least {n_named} but got: {rank}")
            })?;
            most = most.map(|most: usize| most.max(n));
            let broadcast = (0..n).rev().map(|k| BROADCAST + k as Label);
            inputs.push(before.into_iter().chain(broadcast).chain(after).collect());
        }
        let (before, after) = split(right, text)?;
        let n = if after.is_some() { most.unwrap_or(0) } else { 0 };
        let broadcast = (0..n).rev().map(|k| BROADCAST + k as Label);
        let output: Vec<Label> =
            before.into_iter().chain(broadcast).chain(after.unwrap_or_default()).collect();
        for label in &output {
            ensure!(
                inputs.iter().flatten().any(|known| known == label),
                "Einsum: the output of `{text}` has a label that no input has"
            );
        }
        Ok(Some(Equation { inputs, output }))
    }

    /// Whether all terms that have an ellipsis have one for as many axes, and the output has it.
    fn is_even(&self) -> bool {
        let count = |labels: &[Label]| labels.iter().filter(|l| BROADCAST <= **l).count();
        let most = count(&self.output);
        most != 0 && self.inputs.iter().map(|labels| count(labels)).all(|n| n == 0 || n == most)
    }

    /// Labels as text: with the ellipsis if `dots` is true, else with letters for all axes.
    fn letters(labels: &[Label], used: &[Label], dots: bool) -> String {
        if dots && let Some(at) = labels.iter().position(|l| BROADCAST <= *l) {
            let (before, rest) = labels.split_at(at);
            let after: Vec<Label> = rest.iter().copied().filter(|l| *l < BROADCAST).collect();
            return format!(
                "{}...{}",
                Self::letters(before, used, false),
                Self::letters(&after, used, false)
            );
        }
        let free: Vec<char> =
            ('A'..='Z').chain('a'..='z').filter(|c| !used.contains(&u32::from(*c))).collect();
        let letter = |label: &Label| match label.checked_sub(BROADCAST) {
            Some(k) => free.get(k as usize).copied().unwrap_or('?'),
            None => char::from_u32(*label).unwrap_or('?'),
        };
        labels.iter().map(letter).collect()
    }
}

/// Splits a term at its ellipsis, if it has one.
fn split(term: &str, text: &str) -> Result<(Vec<Label>, Option<Vec<Label>>)> {
    let labels = |part: &str| -> Result<Vec<Label>> {
        let label = |c: char| {
            ensure!(c.is_ascii_alphabetic(), "Invalid character in the einsum equation {text}: {c}");
            Ok(u32::from(c))
        };
        part.chars().map(label).collect()
    };
    Ok(match term.split_once("...") {
        Some((before, after)) => (labels(before)?, Some(labels(after)?)),
        None => (labels(term)?, None),
    })
}

/// Notes the size of an axis. Axes of one label are equal, but one of the ellipsis may be 1.
fn note(sizes: &mut BTreeMap<Label, usize>, label: Label, size: usize) -> Result<()> {
    let known = sizes.entry(label).or_insert(size);
    if *known == 1 && BROADCAST <= label {
        *known = size;
    }
    ensure!(
        *known == size || (size == 1 && BROADCAST <= label),
        "Expected dimension {known} at an axis of the input but got dimension {size}"; "axes with one label have the sizes {known} and {size}"
    );
    Ok(())
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let ranks: Vec<Option<usize>> = cx.inputs().iter().map(PartialShape::rank).collect();
    let Some(equation) = Equation::parse(&cx.attrs().str("equation")?.text(), &ranks)? else { return Ok(()) };
    let (mut sizes, mut open) = (BTreeMap::new(), Vec::new());
    for (labels, shape) in equation.inputs.iter().zip(cx.inputs()) {
        for (&label, dim) in labels.iter().zip(shape.dims().unwrap_or_default()) {
            match dim {
                Some(size) => note(&mut sizes, label, *size)?,
                None => open.push(label),
            }
        }
    }
    // An axis of the ellipsis that is 1 where it is known may be stretched by one that is not.
    let size = |label: &Label| -> Dim {
        let size = sizes.get(label).copied()?;
        (size != 1 || *label < BROADCAST || !open.contains(label)).then_some(size)
    };
    cx.set(0, PartialShape::new(equation.output.iter().map(size)));
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let out = contract(cx)?;
    cx.set(0, out);
    Ok(())
}

fn distinct(labels: &[Label]) -> Vec<Label> {
    let mut seen = Vec::new();
    for label in labels {
        if !seen.contains(label) {
            seen.push(*label);
        }
    }
    seen
}

fn contract(cx: &KernelCx) -> Result<Tensor> {
    let ranks: Vec<Option<usize>> = cx.inputs().iter().map(|x| Some(x.rank())).collect();
    let equation = Equation::parse(&cx.attrs().str("equation")?.text(), &ranks)?
        .ok_or_else(|| Error::internal("all ranks are known"))?;
    let mut sizes = BTreeMap::new();
    for (labels, x) in equation.inputs.iter().zip(cx.inputs()) {
        for (&label, &size) in labels.iter().zip(x.shape().iter()) {
            note(&mut sizes, label, size)?;
        }
    }
    let of = |labels: &[Label]| labels.iter().map(|l| sizes.get(l).copied().unwrap_or(1)).collect::<Vec<_>>();
    let output = distinct(&equation.output);
    let (held, value) = match (equation.inputs.as_slice(), cx.inputs()) {
        ([labels], [x]) => (output.clone(), packed(x, labels, &output, &sizes)?),
        ([lx, ly], [x, y]) => {
            let (both, kept) = (|l: &Label| lx.contains(l) && ly.contains(l), |l: &Label| output.contains(l));
            let pick = |labels: &[Label], wanted: &dyn Fn(&Label) -> bool| -> Vec<Label> {
                distinct(labels).into_iter().filter(|l| wanted(l)).collect()
            };
            let batch = pick(lx, &|l| both(l) && kept(l));
            let inner = pick(lx, &|l| both(l) && !kept(l));
            let rows = pick(lx, &|l| !both(l) && kept(l));
            let columns = pick(ly, &|l| !both(l) && kept(l));
            let a = packed(x, lx, &[&*batch, &rows, &inner].concat(), &sizes)?;
            let b = packed(y, ly, &[&*batch, &inner, &columns].concat(), &sizes)?;
            let count = |labels: &[Label]| of(labels).into_iter().product::<usize>();
            let [n, m, k, w] = [&batch, &rows, &inner, &columns].map(|labels| count(labels));
            let held = [&*batch, &rows, &columns].concat();
            let mut out = Tensor::zeros(x.dtype(), of(&held).as_slice())?;
            if k != 0 && out.elements() != 0 {
                with_element!(x.dtype(), T in numbers => products::<T>(cx, (&a, &b), [n, m, k, w], &mut out),
                    else => Err(no_kernel("Einsum", x.dtype())))?;
            }
            (held, out)
        }
        _ => return Err(Error::internal("an equation has one or two inputs")),
    };
    let wanted = of(&equation.output);
    let held_strides = strides(&of(&held));
    let stride_of =
        |label: &Label| held.iter().position(|l| l == label).map_or(0, |i| held_strides[i] as isize);
    if output.len() == equation.output.len() {
        let turned: Vec<isize> = output.iter().map(stride_of).collect();
        return value.strided(wanted.as_slice(), 0, &turned);
    }
    // A label twice in the output: the diagonal of zeros.
    let mut out = Tensor::zeros(value.dtype(), wanted.as_slice())?;
    let out_strides = strides(&wanted);
    let place = |label: &Label| -> usize {
        equation.output.iter().zip(&out_strides).filter(|(l, _)| *l == label).map(|(_, s)| s).sum()
    };
    let steps: Vec<usize> = held.iter().map(place).collect();
    let dims = of(&held);
    let to = |i: usize| -> usize {
        held_strides.iter().zip(&dims).zip(&steps).map(|((stride, dim), step)| i / stride % dim * step).sum()
    };
    with_element!(value.dtype(), T in numbers => spread::<T>(&value, &to, &mut out),
        else => Err(no_kernel("Einsum", value.dtype())))?;
    Ok(out)
}

/// Multiplies `n` pairs of matrices of `m` by `k` and `k` by `w` elements.
fn products<T: Product>(
    cx: &KernelCx,
    (a, b): (&Tensor, &Tensor),
    [n, m, k, w]: [usize; 4],
    out: &mut Tensor,
) -> Result<()> {
    let (a, b, cells) = (a.as_slice::<T>()?, b.as_slice::<T>()?, fresh::<T>(out)?);
    for i in 0..n {
        cx.env.cancel.check()?;
        let x = Matrix::new(&a[i * m * k..][..m * k], m, k)?;
        let y = Matrix::new(&b[i * k * w..][..k * w], k, w)?;
        T::multiply(&*cx.env.host, x, y, &mut cells[i * m * w..][..m * w])?;
    }
    Ok(())
}

/// Writes each element to its place.
fn spread<T: Element>(from: &Tensor, to: &dyn Fn(usize) -> usize, out: &mut Tensor) -> Result<()> {
    let cells = fresh::<T>(out)?;
    let mut pace = Pace::new();
    for (i, v) in from.as_slice::<T>()?.iter().enumerate() {
        pace.spend(4)?;
        cells[to(i)] = *v;
    }
    Ok(())
}

/// Sums each run of `n` elements.
fn sums<T: Product>(from: &Tensor, n: usize, out: &mut Tensor) -> Result<()> {
    let cells = fresh::<T>(out)?;
    let mut pace = Pace::new();
    for (sum, part) in cells.iter_mut().zip(from.as_slice::<T>()?.chunks_exact(n)) {
        pace.spend(n)?;
        *sum = T::narrow(part.iter().fold(T::ZERO.widen(), |sum, v| sum.add(v.widen())));
    }
    Ok(())
}

/// Returns the strides of a row-major tensor.
fn strides(dims: &[usize]) -> Vec<usize> {
    let mut strides = vec![1; dims.len()];
    for i in (1..dims.len()).rev() {
        strides[i - 1] = strides[i] * dims[i].max(1);
    }
    strides
}

/// Returns the tensor with axes of these labels in this order, summed over its others. A label twice takes
/// the diagonal.
fn packed(x: &Tensor, labels: &[Label], order: &[Label], sizes: &BTreeMap<Label, usize>) -> Result<Tensor> {
    let own = strides(x.shape().dims());
    let stride = |label: &Label| -> isize {
        let axes = labels.iter().zip(&own).zip(x.shape().iter()).filter(|((l, _), _)| *l == label);
        axes.map(|((_, stride), &size)| if size == 1 { 0 } else { *stride as isize }).sum()
    };
    let gone: Vec<Label> = distinct(labels).into_iter().filter(|l| !order.contains(l)).collect();
    // An axis that is summed over has its own size, not one to which it would be stretched.
    let own_size = |label: &Label| {
        labels.iter().zip(x.shape().iter()).find(|(l, _)| *l == label).map_or(1, |(_, &size)| size)
    };
    let dims: Vec<usize> = order.iter().map(|l| sizes.get(l).copied().unwrap_or(1)).collect();
    let summed: Vec<usize> = gone.iter().map(own_size).collect();
    let shape = [&*dims, &summed].concat();
    let turned: Vec<isize> = order.iter().chain(&gone).map(stride).collect();
    let whole = x.strided(shape.as_slice(), 0, &turned)?;
    if gone.is_empty() {
        return Ok(whole);
    }
    let n: usize = summed.iter().product();
    let mut out = Tensor::zeros(x.dtype(), dims.as_slice())?;
    if n != 0 {
        with_element!(x.dtype(), T in numbers => sums::<T>(&whole, n, &mut out),
            else => Err(no_kernel("Einsum", x.dtype())))?;
    }
    Ok(out)
}

// Linear in each input: its gradient is the product of the other one and that of the output, with the labels
// of the input. Labels that only this input has are spread, diagonals are put back.
fn grad(cx: &mut GradCx) -> Result<()> {
    let ranks: Vec<Option<usize>> = (0..cx.n_inputs()).map(|i| cx.input_shape(i).rank()).collect();
    let text = cx.attrs().str("equation")?.text().into_owned();
    let Some(equation) = Equation::parse(&text, &ranks)? else {
        return Err(Error::unimplemented(
            "the gradient of an Einsum with an ellipsis needs inputs of known rank",
        ));
    };
    let used: Vec<Label> = equation.inputs.iter().flatten().copied().filter(|l| *l < BROADCAST).collect();
    let dots = equation.is_even();
    let letters = |labels: &[Label]| Equation::letters(labels, &used, dots);
    let dy = cx.grad(0);
    for i in 0..cx.n_inputs() {
        if !cx.wants(i) {
            continue;
        }
        let own = &equation.inputs[i];
        let whole = distinct(own);
        let other = (cx.n_inputs() == 2).then(|| 1 - i);
        let elsewhere =
            |l: &Label| equation.output.contains(l) || other.is_some_and(|o| equation.inputs[o].contains(l));
        let found: Vec<Label> = whole.iter().copied().filter(|l| elsewhere(l)).collect();
        let mut dx = match other {
            Some(o) => {
                let value = cx.input(o);
                let value = cx.conj(value);
                let equation = format!(
                    "{},{}->{}",
                    letters(&equation.output),
                    letters(&equation.inputs[o]),
                    letters(&found)
                );
                cx.op("Einsum").inputs([dy, value]).attr("equation", equation).attr("N", 2).output()
            }
            None => {
                let equation = format!("{}->{}", letters(&equation.output), letters(&found));
                cx.op("Einsum").inputs([dy]).attr("equation", equation).attr("N", 1).output()
            }
        };
        if found.len() != whole.len() {
            for (axis, _) in whole.iter().enumerate().filter(|(_, l)| !elsewhere(l)) {
                dx = cx.op("ExpandDims").input(dx).input(axis as i32).output();
            }
            let ones: Vec<i32> =
                whole.iter().filter_map(|l| own.iter().position(|o| o == l)).map(|p| p as i32).collect();
            let shape = cx.shape_of_input(i);
            let sizes = cx.op("GatherV2").inputs([shape, cx.ints(&ones)]).input(0).output();
            // What is known of other axes may be larger than this input, which they stretch.
            let shape = cx.op("BroadcastArgs").inputs([cx.shape_of(dx), sizes]).output();
            dx = cx.op("BroadcastTo").inputs([dx, shape]).output();
        }
        if whole.len() != own.len() {
            let equation = format!("{}->{}", letters(&whole), letters(own));
            dx = cx.op("Einsum").inputs([dx]).attr("equation", equation).attr("N", 1).output();
        }
        match own.iter().any(|l| BROADCAST <= *l) {
            true => cx.give_unstretched(i, dx),
            false => cx.give(i, dx),
        }
    }
    Ok(())
}

cases! {
    product: "Einsum([[1 2] [3 4]], [[5 6] [7 8]]; equation=\"ij,jk->ik\", N=2) = [[19 22] [43 50]]",
    transposed: "Einsum([[1 2 3] [4 5 6]]; equation=\"ij->ji\", N=1) = [[1 4] [2 5] [3 6]]",
    diagonal: "Einsum([[1.0 2.0] [3.0 4.0]]; equation=\"ii->i\", N=1) = [1.0 4.0]",
    trace: "Einsum([[1.0 2.0] [3.0 4.0]]; equation=\"ii->\", N=1) = 5.0",
    makes_a_diagonal: "Einsum([1.0 2.0]; equation=\"i->ii\", N=1) = [[1.0 0.0] [0.0 2.0]]",
    batches: "Einsum([[[1.0 2.0]] [[3.0 4.0]]], [[[1.0] [1.0]] [[2.0] [2.0]]]; equation=\"bij,bjk->bik\", N=2) = [[[3.0]] [[14.0]]]",
    outer: "Einsum([1.0 2.0], [3.0 4.0]; equation=\"i,j->ji\", N=2) = [[3.0 6.0] [4.0 8.0]]",
    sums_on_one_side: "Einsum([[1.0 2.0] [3.0 4.0]], [3.0 4.0]; equation=\"ij,k->ik\", N=2) = [[9.0 12.0] [21.0 28.0]]",
    broadcasts: "Einsum([[[1.0 2.0]]], [[[1.0] [1.0]] [[2.0] [2.0]]]; equation=\"...ij,...jk->...ik\", N=2) = [[[3.0]] [[6.0]]]",
    broadcasts_inside: "Einsum([[1.0 2.0]], [[3.0] [5.0]]; equation=\"i...,...i->...\", N=2) = [3.0 10.0]",
    infers: "Einsum(f32[?,3], f32[3,5]; equation=\"ij,jk->ki\", N=2) : f32[5,?]",
    infers_broadcasts: "Einsum(f32[4,1,3], f32[3,?]; equation=\"...j,j...->...\", N=2) : f32[4,?]",
    unknown_ranks: "Einsum(f32[..], f32[3,5]; equation=\"...j,jk->...k\", N=2) : f32[..]",
    sizes_fit: "Einsum([1.0 2.0], [1.0]; equation=\"i,i->\", N=2) ! axes with one label have the sizes 2 and 1",
    says_its_output: "Einsum([1.0 2.0]; equation=\"i\", N=1) ! the equation `i` must say its output",
    ranks_fit: "Einsum([1.0 2.0]; equation=\"ij->i\", N=1) ! Expected input 0 to have rank 2 but got: 1",
    labels_are_letters: "Einsum([1.0 2.0]; equation=\"1->1\", N=1) ! Invalid character",
}
