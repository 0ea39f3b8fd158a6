//! The two macros of an op family: [`ops!`] lists its files, [`cases!`] lists the examples of an op.

use millstream_graph::op::OpDef;

/// The result of a file's `def`: one declaration, or several.
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

/// Declares the files of a family, and a function `defs` that returns their declarations: `ops! { concat,
/// fill, gather }`. A file of a feature has its `#[cfg(feature = "..")]` in the list.
macro_rules! ops {
    ($($(#[$cfg:meta])? $file:ident),* $(,)?) => {
        $($(#[$cfg])? mod $file;)*

        /// The op types of this family.
        pub(crate) fn defs() -> Vec<millstream_graph::op::OpDef> {
            let mut list = Vec::new();
            $($(#[$cfg])? $crate::macros::Defs::add_to($file::def(), $file::CASES, &mut list);)*
            list
        }
    };
}

/// Declares the examples of an op, which are its tests and part of its documentation: `name: "Op(arg, arg;
/// attr=value) = output, output"`. The relation is `=` for values, `~` for floats that may differ in the last
/// digits, `: type` for inferred types, or `! text` for an error that contains the text. An argument is a
/// literal (`[1 2]`, `f64[2] [1 2]`, `"a"`), or a type with a partial shape (`f32[?,3]`) if only inference is
/// tested.
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
