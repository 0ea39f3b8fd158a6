//! The two macros of an op family: [`ops!`] lists its files, [`cases!`] gives an op its examples.

use millstream_graph::op::OpDef;

/// What a file's `def` may return: one declaration, or several that share everything but a name.
pub(crate) trait Defs {
    fn add_to(self, cases: &'static [(&'static str, &'static str)], list: &mut Vec<OpDef>);
}

impl Defs for OpDef {
    fn add_to(self, cases: &'static [(&'static str, &'static str)], list: &mut Vec<OpDef>) {
        list.push(self.cases(cases));
    }
}

impl<const N: usize> Defs for [OpDef; N] {
    fn add_to(self, cases: &'static [(&'static str, &'static str)], list: &mut Vec<OpDef>) {
        list.extend(self.into_iter().map(|def| def.cases(cases)));
    }
}

/// Declares a family's files and its `defs`: `ops! { concat, fill, gather }`.
macro_rules! ops {
    ($($file:ident),* $(,)?) => {
        $(mod $file;)*

        /// The op types of this family.
        pub(crate) fn defs() -> Vec<millstream_graph::op::OpDef> {
            let mut list = Vec::new();
            $($crate::macros::Defs::add_to($file::def(), $file::CASES, &mut list);)*
            list
        }
    };
}

/// The examples of an op, which are its tests, and its documentation:
/// `name: "Op(arg, arg; attr=value) = output, output"`, with `: type` for inferred types, `! text` for an error
/// that contains the text, and `~ value` for floats that may differ in the last places. An argument is a literal
/// (`[1 2]`, `f64[2] [1 2]`, `"a"`), or a type with a partial shape where only inference is tested (`f32[?,3]`).
macro_rules! cases {
    ($($name:ident : $text:expr),* $(,)?) => {
        pub(crate) const CASES: &[(&str, &str)] = &[$((stringify!($name), $text)),*];

        #[cfg(test)]
        mod cases {
            $(
                #[test]
                fn $name() {
                    $crate::cases::check($text);
                }
            )*
        }
    };
}
