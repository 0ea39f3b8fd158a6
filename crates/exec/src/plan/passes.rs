//! [`Passes`]: what a plan does to be fast, each with a name, so that a fault can be traced to one of them.

use millstream_tensor::{Error, Result, invalid};
use std::fmt;
use std::str::FromStr;

/// Something that a plan does to be fast. The results are the same without it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// Computes small constants while the plan is made.
    Fold,
    /// Lets the readers of an `Identity` read its input.
    Forward,
    /// Lets a node do the work of the node before it: the squares of a sum of squares, the numbers of a
    /// count.
    Absorb,
    /// Lets a product add its terms to a sum directly.
    Accumulate,
    /// Computes only the part of a product that is read.
    Narrow,
    /// Computes elementwise nodes that are connected as one, tile by tile.
    Fuse,
    /// Runs the readers first that reduce a large value to a small one.
    Order,
    /// Leaves the merges of loop variables out.
    Bypass,
    /// Runs a graph without loops and branches step by step, without tokens.
    Straight,
}

impl Pass {
    /// All passes.
    pub const ALL: [Pass; 9] = [
        Pass::Fold,
        Pass::Forward,
        Pass::Absorb,
        Pass::Accumulate,
        Pass::Narrow,
        Pass::Fuse,
        Pass::Order,
        Pass::Bypass,
        Pass::Straight,
    ];

    /// The pass's name.
    pub fn name(self) -> &'static str {
        match self {
            Pass::Fold => "fold",
            Pass::Forward => "forward",
            Pass::Absorb => "absorb",
            Pass::Accumulate => "accumulate",
            Pass::Narrow => "narrow",
            Pass::Fuse => "fuse",
            Pass::Order => "order",
            Pass::Bypass => "bypass",
            Pass::Straight => "straight",
        }
    }
}

/// The passes that plans use; by default all.
///
/// ```
/// use millstream_exec::{Pass, Passes};
///
/// let passes: Passes = "-fold,-order".parse()?;
/// assert!(!passes.has(Pass::Fold) && passes.has(Pass::Accumulate));
/// assert_eq!(passes, Passes::default().without(Pass::Fold).without(Pass::Order));
/// assert_eq!(passes.to_string(), "-fold,-order");
/// # Ok::<(), millstream_tensor::Error>(())
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Passes {
    /// A bit for each pass that is not used.
    off: u16,
}

impl Passes {
    /// Whether a pass is used.
    pub fn has(self, pass: Pass) -> bool {
        self.off & (1 << pass as u16) == 0
    }

    /// These passes without one.
    #[must_use]
    pub fn without(self, pass: Pass) -> Passes {
        Passes { off: self.off | 1 << pass as u16 }
    }
}

impl fmt::Display for Passes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let off = Pass::ALL.into_iter().filter(|pass| !self.has(*pass));
        off.enumerate()
            .try_for_each(|(i, pass)| write!(f, "{}-{}", if i == 0 { "" } else { "," }, pass.name()))
    }
}

impl fmt::Debug for Passes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Passes({self})")
    }
}

impl FromStr for Passes {
    type Err = Error;

    /// Reads names after minus signs, separated by commas: `-fold,-order`.
    ///
    /// # Errors
    ///
    /// `INVALID_ARGUMENT` for a name that is no pass's, or without its minus sign.
    fn from_str(text: &str) -> Result<Passes> {
        let mut passes = Passes::default();
        for name in text.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            let of_name = |pass: &Pass| name.strip_prefix('-') == Some(pass.name());
            let pass = Pass::ALL.into_iter().find(of_name).ok_or_else(|| {
                let names = Pass::ALL.map(|pass| format!("-{}", pass.name()));
                invalid!("`{name}` is not a pass to leave out")
                    .with_help(format!("choose from {}", names.join(", ")))
            })?;
            passes = passes.without(pass);
        }
        Ok(passes)
    }
}
