//! Formulas read instead of computed.

use super::Mask;
use super::record;
use crate::shared::elementwise::Binary;
use millstream_graph::op::Lowering;
use millstream_graph::op::expression::Operand;
use millstream_tensor::{DType, Word};

#[test]
fn formulas_can_be_recorded() {
    formula!(x, y: Real => T::select(x.less(y).not(), x.mul(y).add(T::int(1)), y.max(x)));
    let Some(Lowering::Broadcast(expression)) = record::binary::<Formula>(DType::F32) else {
        panic!("not recorded")
    };
    let steps: Vec<&str> = expression.steps.iter().map(|step| step.operation.name).collect();
    assert_eq!(steps, ["less", "not", "mul", "add", "max", "select"]);
    assert_eq!(expression.steps[3].operands[1], Operand::Word(1f32.word()));
    assert!(expression.fails.is_none());
    for (x, y) in [(2f32, 3f32), (3.0, 2.0), (f32::NAN, 1.0)] {
        let (word, failed) = expression.compute(&[x.word(), y.word()]);
        assert!(!failed);
        assert_eq!(word, <Formula as Binary<f32>>::at(x, y).word());
    }
}

#[test]
fn failures_are_recorded() {
    formula!(x, y: Num => x.div(y); y.divides_nothing() => crate::shared::elementwise::Failure::DIVISION);
    let Some(Lowering::Broadcast(expression)) = record::binary::<Formula>(DType::I32) else {
        panic!("not recorded")
    };
    assert_eq!(expression.compute(&[7i32.word(), 2i32.word()]), (3, false));
    assert!(expression.compute(&[7i32.word(), 0i32.word()]).1);
}

#[test]
fn what_has_no_words_is_not_recorded() {
    formula!(x, y: Num => x.add(y));
    assert!(record::binary::<Formula>(DType::C64).is_none());
    assert!(record::binary::<Formula>(DType::Bool).is_none());
    assert!(record::binary::<Formula>(DType::Str).is_none());
}
