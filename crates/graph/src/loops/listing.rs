//! A [`LoopTree`] as text: a block for each loop, inner loops indented.

use super::{Key, Loop, LoopId, LoopTree, Variable, View};
use std::fmt;

/// Prints a tree with the names that nodes have in a view.
pub struct Listing<'a, V: View + ?Sized> {
    pub(super) tree: &'a LoopTree<V::Node>,
    pub(super) view: &'a V,
}

impl<V: View + ?Sized> fmt::Debug for Listing<'_, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<V: View + ?Sized> Listing<'_, V> {
    fn name(&self, node: V::Node) -> String {
        self.view.info(node).map_or_else(|| format!("{node:?}"), |info| info.name.clone())
    }

    fn value(&self, value: <V::Node as Key>::Value) -> String {
        match V::Node::source(value) {
            None => "?".into(),
            Some((node, 0)) => self.name(node),
            Some((node, index)) => format!("{}:{index}", self.name(node)),
        }
    }

    fn head(&self, f: &mut fmt::Formatter<'_>, id: LoopId, it: &Loop<V::Node>) -> fmt::Result {
        write!(f, "loop `{}`: {} iterations in parallel", it.name, it.parallel_iterations)?;
        match it.impure {
            None => f.write_str(", pure")?,
            Some(node) => write!(f, ", not pure: {}", self.name(node))?,
        }
        if let Some(n) = self.tree.trips(self.view, id, &|_| None) {
            write!(f, ", at most {n} iterations")?;
        }
        writeln!(f)
    }

    fn variable(&self, f: &mut fmt::Formatter<'_>, variable: &Variable<V::Node>) -> fmt::Result {
        f.write_str(&self.name(variable.merge.unwrap_or(variable.enter)))?;
        if let Some(initial) = variable.initial {
            write!(f, " from {}", self.value(initial))?;
        }
        if let Some(next) = variable.next {
            write!(f, ", next {}", self.value(next))?;
        }
        if let Some(step) = variable.step {
            write!(f, " (plus {})", self.value(step))?;
        }
        if let Some(exit) = variable.exit {
            write!(f, ", exit {}", self.name(exit))?;
        }
        Ok(())
    }
}

impl<V: View + ?Sized> fmt::Display for Listing<'_, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Each loop, then those inside of it: the tree is in an order of its own.
        let roots = self.tree.iter().filter(|(_, it)| it.parent.is_none()).map(|(id, _)| id);
        let mut work: Vec<LoopId> = roots.collect();
        work.reverse();
        while let Some(id) = work.pop() {
            let Some(it) = self.tree.get(id) else { continue };
            let indent = "  ".repeat(it.depth as usize);
            f.write_str(&indent)?;
            self.head(f, id, it)?;
            if let Some(condition) = &it.condition {
                let n = condition.nodes.len();
                writeln!(f, "{indent}  condition  {}, of {n} nodes", self.value(condition.value))?;
                for bound in &condition.bounds {
                    let merge = it.variables[bound.variable].merge;
                    let sign = if bound.inclusive { "<=" } else { "<" };
                    let counter = merge.map(|m| self.name(m)).unwrap_or_default();
                    writeln!(f, "{indent}  bound      {counter} {sign} {}", self.value(bound.limit))?;
                }
            }
            for variable in &it.variables {
                write!(f, "{indent}  variable   ")?;
                self.variable(f, variable)?;
                writeln!(f)?;
            }
            for &invariant in &it.invariants {
                let outer = self.view.inputs(invariant).first().map(|v| self.value(*v)).unwrap_or_default();
                writeln!(f, "{indent}  invariant  {outer}, by {}", self.name(invariant))?;
            }
            for finding in &it.irregular {
                writeln!(f, "{indent}  irregular  {}: {}", self.name(finding.node), finding.why)?;
            }
            work.extend(it.children.iter().rev());
        }
        Ok(())
    }
}
