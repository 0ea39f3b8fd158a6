//! Tests of the loops: their shapes, their places in memory.

use super::*;
use crate::number::Num;

struct Minus;
impl<T: Num> Binary<T> for Minus {
    type Out = T;
    fn at(x: T, y: T) -> T {
        x.sub(y)
    }
}

/// Both operands in every state of sharing give what the indices say.
#[track_caller]
fn check(xs: &[usize], ys: &[usize]) {
    let make = |dims: &[usize], scale: i32| {
        let shape = Shape::from(dims);
        Tensor::from_iter(shape.clone(), (0..shape.elements() as i32).map(|v| v * scale)).unwrap()
    };
    let (x, y) = (make(xs, 1000), make(ys, 1));
    let shape = x.shape().broadcast(y.shape()).unwrap();
    let (bx, by) = (x.broadcast_to(shape.clone()).unwrap(), y.broadcast_to(shape.clone()).unwrap());
    let pairs = bx.as_slice::<i32>().unwrap().iter().zip(by.as_slice::<i32>().unwrap());
    let want = Tensor::from_iter(shape.clone(), pairs.map(|(x, y)| x - y)).unwrap();
    let loops = Pair::<i32>::of::<Minus>();
    for (share_x, share_y) in [(false, false), (true, false), (false, true), (true, true)] {
        let (a, b) = (make(xs, 1000), make(ys, 1));
        let _held = (share_x.then(|| a.clone()), share_y.then(|| b.clone()));
        let (got, failed) = loops.map(a, b, &shape).unwrap();
        assert!(got.bits_eq(&want), "{xs:?} - {ys:?} is {got}, not {want}");
        assert!(!failed);
    }
    let (got, _) = Merge::<i32, i32>::of::<Minus>().map(&x, &y, &shape).unwrap();
    assert!(got.bits_eq(&want), "{xs:?} - {ys:?} is {got}, not {want}");
}

#[test]
fn broadcasting() {
    check(&[], &[]);
    check(&[5], &[]);
    check(&[], &[700]);
    check(&[1000], &[1000]);
    check(&[1000], &[1]);
    check(&[0], &[1]);
    check(&[2, 0, 3], &[1, 1, 3]);
    check(&[300, 3], &[3]);
    check(&[300, 3], &[300, 1]);
    check(&[300, 1], &[1, 7]);
    check(&[2, 300, 1, 3], &[300, 2, 1]);
    check(&[1, 1, 5], &[2, 1]);
    check(&[2, 1, 3, 1, 5], &[1, 4, 1, 6, 1]);
    check(&[17, 19], &[23, 1, 19]);
}
