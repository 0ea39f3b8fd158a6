//! Tensor lists in graphs: what is known of them through loops, and what pushing costs.

use millstream::prelude::*;
use millstream::tensor::{DType, PartialShape, budget};

