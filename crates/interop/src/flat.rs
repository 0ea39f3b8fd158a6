//! [`Flat`]: a node of a graph without functions, close to its `NodeDef`; and the spelling of node names and
//! inputs.

use millstream_proto::{AttrValue, NodeDef};
use millstream_tensor::{Result, ensure, invalid};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A node. Most nodes borrow everything from the message.
pub(crate) struct Flat<'a> {
    pub name: Cow<'a, str>,
    pub op: Cow<'a, str>,
    /// The inputs: `name`, `name:k`, then `^name`.
    pub inputs: Vec<Cow<'a, str>>,
    pub attrs: Cow<'a, BTreeMap<String, AttrValue>>,
    pub device: Cow<'a, str>,
}

impl<'a> Flat<'a> {
    pub(crate) fn of(node: &'a NodeDef) -> Flat<'a> {
        Flat {
            name: Cow::Borrowed(&node.name),
            op: Cow::Borrowed(&node.op),
            inputs: node.input.iter().map(|i| Cow::Borrowed(i.as_str())).collect(),
            attrs: Cow::Borrowed(&node.attr),
            device: Cow::Borrowed(&node.device),
        }
    }
}

/// An input, parsed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Input<'a> {
    /// Output `1` of the node.
    Data(&'a str, u32),
    /// A control input: the node must have run.
    Control(&'a str),
}

/// Parses `name`, `name:k` or `^name`.
pub(crate) fn parse_input(text: &str) -> Result<Input<'_>> {
    let (name, index) = match (text.strip_prefix('^'), text.rsplit_once(':')) {
        (Some(name), _) => return check_name(name).map(|()| Input::Control(name)),
        (None, None) => (text, 0),
        (None, Some((name, index))) => {
            let is_number = !index.is_empty() && index.bytes().all(|b| b.is_ascii_digit());
            let index = is_number.then(|| index.parse().ok()).flatten();
            (name, index.ok_or_else(|| invalid!("`{}` is not the name of an output", short(text)))?)
        }
    };
    check_name(name)?;
    Ok(Input::Data(name, index))
}

/// Checks that a name has only the characters that TensorFlow allows: letters, digits and `_./\>-`.
pub(crate) fn check_name(name: &str) -> Result<()> {
    let fits = |b: u8| b.is_ascii_alphanumeric() || b"_./\\>-".contains(&b);
    ensure!(
        !name.is_empty() && name.bytes().all(fits) && !name.starts_with(['/', '\\', '>', '-']),
        "Node '{0}': Node name contains invalid characters",
        short(name);
        "`{}` is not a node name: those are made of letters, digits and `_./\\>-`",
        short(name)
    );
    Ok(())
}

/// Returns a text, cut if it is very long.
pub(crate) fn short(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(100) {
        None => Cow::Borrowed(text),
        Some((end, _)) => Cow::Owned(format!("{}..", text.get(..end).unwrap_or_default())),
    }
}
