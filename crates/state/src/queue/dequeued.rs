//! [`Dequeued`]: items that a dequeue hands out.

use super::{Item, Loan, Queue};
use std::ops::Deref;
use std::sync::Weak;

/// Items that a dequeue hands out. They are the receiver's once it calls [`Dequeued::used`]. If the value
/// drops before that (the batch does not fit into the memory limit, its items have different ranks, a kernel
/// panics, or the run is over when the items arrive), the items return to the head of the queue.
#[derive(Default)]
#[must_use = "items that are not used return to their queue"]
pub struct Dequeued {
    items: Vec<Item>,
    home: Home,
}

/// Where the items return to.
enum Home {
    Here(Weak<Queue>),
    Elsewhere(Option<Box<dyn Loan>>),
}

impl Default for Home {
    fn default() -> Home {
        Home::Elsewhere(None)
    }
}

impl Dequeued {
    pub(super) fn of(queue: Weak<Queue>, items: Vec<Item>) -> Dequeued {
        Dequeued { items, home: Home::Here(queue) }
    }

    pub(super) fn on_loan(items: Vec<Item>, loan: Box<dyn Loan>) -> Dequeued {
        Dequeued { items, home: Home::Elsewhere(Some(loan)) }
    }

    /// Takes the items for good.
    pub fn used(mut self) -> Vec<Item> {
        let items = std::mem::take(&mut self.items);
        match &mut self.home {
            Home::Here(queue) if !items.is_empty() => {
                if let Some(queue) = queue.upgrade() {
                    queue.keep_out();
                }
            }
            Home::Here(_) => {}
            Home::Elsewhere(loan) => {
                if let Some(loan) = loan.take() {
                    loan.used();
                }
            }
        }
        items
    }
}

impl Deref for Dequeued {
    type Target = [Item];

    fn deref(&self) -> &[Item] {
        &self.items
    }
}

impl std::fmt::Debug for Dequeued {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Dequeued").field("items", &self.items.len()).finish_non_exhaustive()
    }
}

impl Drop for Dequeued {
    fn drop(&mut self) {
        let items = std::mem::take(&mut self.items);
        match &mut self.home {
            Home::Here(queue) if !items.is_empty() => {
                if let Some(queue) = queue.upgrade() {
                    queue.take_back(items);
                }
            }
            Home::Here(_) => {}
            Home::Elsewhere(loan) => {
                if let Some(loan) = loan.take() {
                    loan.unused();
                }
            }
        }
    }
}
