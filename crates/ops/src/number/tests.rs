//! A formula read instead of computed, through a type that is no element.

use super::{Mask, Math, Num, Real};
use crate::shared::elementwise::Binary;
use std::cell::RefCell;

thread_local! {
    static NODES: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// A recorded expression: its place among those of the thread.
#[derive(Clone, Copy)]
struct Sym(usize);

impl Sym {
    fn new(text: String) -> Sym {
        NODES.with_borrow_mut(|nodes| {
            nodes.push(text);
            Sym(nodes.len() - 1)
        })
    }

    fn text(self) -> String {
        NODES.with_borrow(|nodes| nodes[self.0].clone())
    }

    fn of<const N: usize>(op: &str, parts: [Sym; N]) -> Sym {
        Sym::new(format!("{op}({})", parts.map(Sym::text).join(" ")))
    }
}

macro_rules! recorded {
    ($($name:ident($($arg:ident),*)),* $(,)?) => { $(
        fn $name(self $(, $arg: Self)*) -> Self {
            Sym::of(stringify!($name), [self $(, $arg)*])
        }
    )* };
}

impl Mask for Sym {
    recorded!(and(o), or(o), not());
    fn never() -> Self {
        Sym::new("never".into())
    }
}

impl Math for Sym {
    type Mask = Sym;
    recorded!(equal(o));
    fn select(mask: Sym, yes: Self, no: Self) -> Self {
        Sym::of("select", [mask, yes, no])
    }
}

impl Num for Sym {
    fn int(v: i8) -> Self {
        Sym::new(v.to_string())
    }
    recorded!(
        add(o),
        sub(o),
        mul(o),
        neg(),
        div(o),
        divides_nothing(),
        pow(o),
        is_no_exponent(),
        conj(),
        sign(),
        round()
    );
}

impl Real for Sym {
    recorded!(
        less(o),
        less_equal(o),
        max(o),
        min(o),
        abs(),
        floor_div(o),
        floor_mod(o),
        trunc_div(o),
        trunc_mod(o)
    );
}

#[test]
fn formulas_can_be_recorded() {
    formula!(x, y: Real => T::select(x.less(y), x.mul(y).add(T::int(1)), y.max(x)));
    let [x, y] = ["x", "y"].map(|name| Sym::new(name.into()));
    assert_eq!(<Formula as Binary<Sym>>::at(x, y).text(), "select(less(x y) add(mul(x y) 1) max(y x))");
    assert_eq!(<Formula as Binary<f32>>::at(2.0, 3.0), 7.0);
}
