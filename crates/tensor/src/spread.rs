//! [`Spread`]: how the elements of an operand are repeated in a result that it broadcasts to.

use crate::Shape;
use smallvec::SmallVec;

/// Where an operand's elements go in a result that it broadcasts to.
#[derive(Clone, Debug)]
pub struct Spread {
    /// The size and the stride of each axis of the result, outermost first. Contiguous axes are merged. The
    /// innermost stride is 0 or 1.
    axes: SmallVec<[(usize, usize); 4]>,
}

impl Spread {
    /// Of an operand of shape `own`, which must broadcast to `shape`.
    pub fn new(own: &Shape, shape: &Shape) -> Spread {
        let mut axes: SmallVec<[(usize, usize); 4]> = SmallVec::new();
        let lead = shape.rank().saturating_sub(own.rank());
        let strides = own.strides();
        for (i, &size) in shape.iter().enumerate().filter(|(_, size)| **size != 1) {
            let stride = match i.checked_sub(lead) {
                Some(j) if own[j] != 1 => strides[j],
                _ => 0,
            };
            match axes.last_mut() {
                Some(outer) if outer.1 == size.wrapping_mul(stride) => {
                    *outer = (outer.0.saturating_mul(size), stride);
                }
                _ => axes.push((size, stride)),
            }
        }
        Spread { axes }
    }

    /// Copies what the elements of the result from `at` on read of the operand's `data`. Walks like an
    /// odometer, in runs along the innermost axis.
    pub fn copy<T: Copy>(&self, data: &[T], at: usize, mut out: &mut [T]) {
        let Some((&(inner, step), outer)) = self.axes.split_last() else {
            if let Some(one) = data.first() {
                out.fill(*one);
            }
            return;
        };
        if out.is_empty() {
            return;
        }
        let mut counts: SmallVec<[usize; 4]> = SmallVec::from_elem(0, outer.len());
        let mut rest = at / inner;
        let mut base = 0;
        for (count, &(size, stride)) in counts.iter_mut().zip(outer).rev() {
            *count = rest % size;
            rest /= size;
            base += *count * stride;
        }
        let mut first = at % inner;
        while !out.is_empty() {
            let n = out.len().min(inner - first);
            let (run, left) = std::mem::take(&mut out).split_at_mut(n);
            let from = base + first * step;
            match step {
                0 => run.fill(data[from]),
                _ => run.copy_from_slice(&data[from..from + n]),
            }
            (out, first) = (left, 0);
            for (count, &(size, stride)) in counts.iter_mut().zip(outer).rev() {
                *count += 1;
                base += stride;
                if *count < size {
                    break;
                }
                base -= *count * stride;
                *count = 0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_repeated() {
        let spread = |own: &[usize], shape: &[usize], data: &[i32], at: usize, n: usize| {
            let mut out = vec![0; n];
            Spread::new(&Shape::from(own), &Shape::from(shape)).copy(data, at, &mut out);
            out
        };
        assert_eq!(spread(&[3], &[2, 3], &[1, 2, 3], 0, 6), [1, 2, 3, 1, 2, 3]);
        assert_eq!(spread(&[2, 1], &[2, 3], &[1, 2], 1, 4), [1, 1, 2, 2]);
        assert_eq!(spread(&[2, 1, 2], &[2, 2, 2], &[1, 2, 3, 4], 3, 5), [2, 3, 4, 3, 4]);
        assert_eq!(spread(&[], &[1, 1], &[7], 0, 1), [7]);
    }
}
