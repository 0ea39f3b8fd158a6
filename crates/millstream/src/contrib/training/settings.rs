//! [`Settings`]: the options of a bucketing, and their checks.

use millstream_graph::{Nest, Output, weak_cast};
use millstream_tensor::{DType, Error, PartialShape, Result, Tensor, ensure, invalid};
use std::panic::Location;

/// The number of elements in a batch.
///
/// ```
/// use millstream::contrib::training::bucket;
/// use millstream::prelude::*;
/// let g = Graph::new();
/// let n = g.placeholder::<i32>("n", shape![]);
/// bucket(&g, n, n % 2, 32, 2).run()?; // 32 elements in a batch of either bucket
/// bucket(&g, n, n % 2, [32, 16], 2).run()?; // 32 of bucket 0, 16 of bucket 1
/// # Ok::<(), millstream::Error>(())
/// ```
#[derive(Clone, Debug)]
pub enum BatchSize<'g> {
    /// The same number in every bucket.
    All(i64),
    /// A number for each bucket.
    Each(Vec<i64>),
    /// The same number in every bucket, an `int32` scalar evaluated at run time.
    Given(Output<'g>),
    /// As many rows as fit in this many tokens, padding included: the number of rows times the longest row. A
    /// row's length is its largest varying dimension; an element longer than the limit is an error.
    MaxTokens(usize),
}

macro_rules! batch_sizes {
    ($($t:ty)*) => { $(
        impl From<$t> for BatchSize<'_> {
            fn from(size: $t) -> Self {
                BatchSize::All(i64::try_from(size).unwrap_or(i64::MAX))
            }
        }
        impl From<Vec<$t>> for BatchSize<'_> {
            fn from(sizes: Vec<$t>) -> Self {
                BatchSize::Each(sizes.into_iter().map(|size| i64::try_from(size).unwrap_or(i64::MAX)).collect())
            }
        }
        impl<const N: usize> From<[$t; N]> for BatchSize<'_> {
            fn from(sizes: [$t; N]) -> Self {
                Vec::from(sizes).into()
            }
        }
    )* };
}
batch_sizes!(i32 i64 usize);

impl<'g> From<Output<'g>> for BatchSize<'g> {
    fn from(size: Output<'g>) -> Self {
        BatchSize::Given(size)
    }
}

/// The source of an element's bucket.
pub(super) enum Which<'g> {
    Given(Output<'g>),
    /// The length of the element, and the boundaries between buckets.
    Length(Output<'g>, Vec<i64>),
}

/// All options of a bucketing, without the tensors.
pub(super) struct Settings<'g> {
    pub(super) which: Which<'g>,
    pub(super) batch_size: BatchSize<'g>,
    pub(super) num_buckets: usize,
    pub(super) num_threads: usize,
    pub(super) capacity: usize,
    pub(super) bucket_capacities: Option<Vec<usize>>,
    pub(super) shapes: Option<Vec<PartialShape>>,
    pub(super) dynamic_pad: bool,
    pub(super) allow_smaller_final_batch: bool,
    pub(super) keep_input: Option<Output<'g>>,
    pub(super) drop_out_of_range: bool,
    pub(super) padding_values: Vec<(String, Result<Tensor>)>,
    pub(super) pad_to: Vec<(String, Vec<usize>)>,
    pub(super) pad_to_boundary: Vec<String>,
    pub(super) shared_name: String,
    pub(super) at: &'static Location<'static>,
}

impl<'g> Settings<'g> {
    pub(super) fn new(
        which: Which<'g>,
        batch_size: BatchSize<'g>,
        num_buckets: usize,
        at: &'static Location<'static>,
    ) -> Self {
        Settings {
            which,
            batch_size,
            num_buckets,
            num_threads: 1,
            capacity: 32,
            bucket_capacities: None,
            shapes: None,
            dynamic_pad: false,
            allow_smaller_final_batch: false,
            keep_input: None,
            drop_out_of_range: false,
            padding_values: Vec::new(),
            pad_to: Vec::new(),
            pad_to_boundary: Vec::new(),
            shared_name: String::new(),
            at,
        }
    }
}

impl<'g> Settings<'g> {
    pub(super) fn check_lists(&self) -> Result<()> {
        let n = self.num_buckets;
        if let Which::Length(_, boundaries) = &self.which {
            ensure!(
                !boundaries.is_empty(),
                "`boundaries` must not be empty: without any there is but one bucket"
            );
            for (i, pair) in boundaries.windows(2).enumerate() {
                ensure!(
                    pair[0] < pair[1],
                    "`boundaries` must increase, but boundary {i} is {} and the next {}",
                    pair[0],
                    pair[1]
                );
            }
        }
        ensure!(n > 0, "there must be at least one bucket, but `num_buckets` is 0");
        ensure!(i32::try_from(n).is_ok(), "{n} buckets are more than an int32 can number");
        ensure!(self.num_threads > 0, "at least one thread must enqueue, but `num_threads` is 0");
        if let BatchSize::Each(sizes) = &self.batch_size
            && sizes.len() != n
        {
            return Err(invalid!(
                "`batch_size` has {} entries, {sizes:?}, but there are {n} buckets (`num_buckets`)",
                sizes.len()
            )
            .with_help("give one for each bucket, or one number for all"));
        }
        if let Some(capacities) = &self.bucket_capacities
            && capacities.len() != n
        {
            return Err(invalid!(
                "`bucket_capacities` has {} entries, {capacities:?}, but there are {n} buckets (`num_buckets`)",
                capacities.len()
            )
            .with_help("give one for each bucket, or `capacity` for all"));
        }
        let zero = |what: &str| {
            Err(invalid!("a queue's capacity must be at least 1, but {what}").with_help("give at least 1"))
        };
        match &self.bucket_capacities {
            _ if self.capacity == 0 => zero("`capacity` is 0"),
            Some(capacities) => match capacities.iter().position(|&c| c == 0) {
                Some(i) => zero(&format!("`bucket_capacities[{i}]` is 0")),
                None => Ok(()),
            },
            None => Ok(()),
        }
    }

    pub(super) fn capacity_of(&self, bucket: usize) -> i64 {
        let capacity = self.bucket_capacities.as_ref().map_or(self.capacity, |c| c[bucket]);
        i64::try_from(capacity).unwrap_or(i64::MAX)
    }
}

/// The padding of components.
pub(super) struct Padding {
    pub(super) values: Vec<Tensor>,
    /// The least size of each component in each bucket; empty without one.
    to: Vec<Vec<usize>>,
}

impl Padding {
    /// Returns the least size of each component in a bucket.
    pub(super) fn to_in(&self, bucket: usize) -> Vec<usize> {
        match self.to.iter().all(Vec::is_empty) {
            true => Vec::new(),
            false => self.to.iter().map(|sizes| sizes.get(bucket).copied().unwrap_or(0)).collect(),
        }
    }
}

impl<'g> Settings<'g> {
    pub(super) fn max_tokens(&self) -> Option<usize> {
        if let BatchSize::MaxTokens(n) = self.batch_size { Some(n) } else { None }
    }

    /// Returns the paths of the components in the structure of the tensors.
    pub(super) fn paths(&self, nest: &impl Nest<'g>) -> Vec<String> {
        let paths = nest.structure().paths();
        if matches!(self.which, Which::Given(_)) {
            return paths;
        }
        let of_tensors = |path: String| match path.as_str() {
            "0" => "input_length".to_owned(),
            "1" => "0".to_owned(),
            _ => path.strip_prefix("1.").map_or(path.clone(), str::to_owned),
        };
        paths.into_iter().map(of_tensors).collect()
    }

    /// Returns the shapes of an element's components: the given ones, or the known shapes of the values.
    /// Checks that they can be batched.
    pub(super) fn shapes(
        &self,
        name: &str,
        paths: &[String],
        values: &[Output<'g>],
    ) -> Result<Vec<PartialShape>> {
        let known: Vec<PartialShape> = values.iter().map(|value| value.shape()).collect();
        let length = matches!(self.which, Which::Length(..)).then(PartialShape::scalar);
        let given =
            self.shapes.iter().map(|given| length.iter().chain(given).cloned().collect::<Vec<_>>()).next();
        let shapes = given.unwrap_or_else(|| known.clone());
        let n_length = usize::from(length.is_some());
        ensure!(
            shapes.len() == values.len(),
            "`shapes` has {} entries but an element of `{name}` has {} components",
            shapes.len() - n_length,
            values.len() - n_length
        );
        for (((path, value), shape), known) in paths.iter().zip(values).zip(&shapes).zip(&known) {
            let component = format!("component {path} of an element of `{name}` (`{}`)", value.name());
            ensure!(
                shape.is_compatible(known),
                "{component} has shape {known}, which is not the {shape} that `shapes` says"
            );
            if self.dynamic_pad && shape.rank().is_none() {
                return Err(invalid!("the rank of {component} is not known, so it cannot be padded").with_help(
                    "declare its shape, `_` for dimensions that vary, with `set_shape`, or all shapes with `.shapes(..)`",
                ));
            }
            if !self.dynamic_pad && !shape.is_full() {
                return Err(invalid!(
                    "the shape of {component} is {shape}, but batches without padding need a fully known shape"
                )
                .with_help(
                    "declare its shape with `set_shape`, or all shapes with `.shapes(..)`; or pad dimensions that vary with `.dynamic_pad(true)`",
                ));
            }
        }
        if let Some(tokens) = self.max_tokens() {
            ensure!(tokens > 0, "a batch of at most 0 tokens has no room for any element");
            if !self.dynamic_pad || shapes.iter().all(PartialShape::is_full) {
                return Err(invalid!("`{name}`: a batch size in tokens needs elements with a dimension that varies, but none varies")
                    .with_help("pad dimensions that vary with `.dynamic_pad(true)`, or give the batch size in elements"));
            }
        }
        Ok(shapes)
    }

    pub(super) fn padding(
        &self,
        name: &str,
        paths: &[String],
        dtypes: &[DType],
        is_sparse: &[bool],
    ) -> Result<Padding> {
        let asked = [self.padding_values.is_empty(), self.pad_to.is_empty(), self.pad_to_boundary.is_empty()];
        if !self.dynamic_pad && asked.contains(&false) {
            return Err(invalid!("`{name}` has padding options, but padding is off")
                .with_help("add `.dynamic_pad(true)`"));
        }
        let place = |component: &str| {
            let at = paths.iter().position(|path| path == component);
            let at = at.ok_or_else(|| {
                invalid!("`{name}` has no component `{component}` to pad: there are {paths:?}")
            })?;
            ensure!(!is_sparse[at], "component {component} of `{name}` is sparse: there is nothing to pad");
            Ok::<usize, Error>(at)
        };
        let mut values = Vec::new();
        if !self.padding_values.is_empty() {
            values = dtypes.iter().map(|&dtype| Tensor::zeros(dtype, [])).collect::<Result<Vec<_>>>()?;
        }
        for (component, value) in &self.padding_values {
            let at = place(component)?;
            let value = value.clone()?;
            let value = weak_cast(&value, dtypes[at]).unwrap_or(value);
            ensure!(
                value.rank() == 0 && value.dtype() == dtypes[at],
                "component {component} of `{name}` is {}, so it is padded with a scalar {}, not {}{}",
                dtypes[at],
                dtypes[at],
                value.dtype(),
                value.shape()
            );
            values[at] = value;
        }
        let mut to = vec![Vec::new(); paths.len()];
        for (component, sizes) in &self.pad_to {
            ensure!(
                sizes.len() == self.num_buckets,
                "`pad_to` has {} sizes for component {component}, but there are {} buckets",
                sizes.len(),
                self.num_buckets
            );
            to[place(component)?] = sizes.clone();
        }
        for component in &self.pad_to_boundary {
            let Which::Length(_, boundaries) = &self.which else {
                return Err(invalid!("`{name}` has no boundaries to pad component {component} to")
                    .with_help("give the sizes with `.pad_to(..)`, or use `bucket_by_sequence_length`"));
            };
            let longest = |&b: &i64| usize::try_from(b - 1).unwrap_or(0);
            to[place(component)?] = boundaries.iter().map(longest).chain([0]).collect();
        }
        Ok(Padding { values, to })
    }
}
