//! [`Foreign`]: elements in memory that belongs to somebody else, and [`Loan`], for owners that will write to
//! that memory again.
//!
//! Foreign memory is only read. Every write asks for mutable storage, and that of a foreign tensor is never
//! available, as if it were always shared. It is aligned for its elements, and no further.
//!
//! There are two kinds of owners. One gives its elements away for good: nothing changes them any more, and a
//! tensor of them is like any other. The other lends them: it will write to them again when the loan ends,
//! and by then nothing may read them. A value that is known to be kept longer, such as that of a variable, is
//! copied when it is stored ([`crate::Tensor::kept`]), which also releases the owner. If tensors still refer
//! to the memory when the loan ends, the memory is copied for them; the owner then lives as long as they do,
//! since a reader may be active at that moment.
#![expect(unsafe_code, reason = "the one place where tensors look at memory of others")]

use super::Buffer;
use crate::{Element, Result};
use std::ptr::NonNull;
use std::sync::{Arc, OnceLock, Weak};

/// The elements of an owner, which is dropped with this struct.
pub(crate) struct Foreign {
    elements: NonNull<u8>,
    /// The length in bytes.
    len: usize,
    /// A `Box` that is not touched until it is dropped: the elements may be inside it.
    owner: NonNull<dyn Send>,
    lent: bool,
    /// A copy of the elements, made when the loan ends if tensors still refer to them.
    own: OnceLock<Buffer>,
}

// SAFETY: the elements are borrowed from the owner and shared, and elements are `Sync`. The owner itself is
// not touched before it is dropped, and any thread may drop it since it is `Send`.
unsafe impl Send for Foreign {}
// SAFETY: as above.
unsafe impl Sync for Foreign {}

impl Foreign {
    /// The elements that `owner` exposes. `as_ref` is called once, after the owner has reached its final
    /// address.
    pub(crate) fn of<T: Element>(owner: impl AsRef<[T]> + Send + 'static, lent: bool) -> Foreign {
        let owner = Box::into_raw(Box::new(owner));
        // SAFETY: `into_raw` never returns null.
        let whole = unsafe { NonNull::new_unchecked(owner as *mut dyn Send) };
        // SAFETY: the box was made above. This borrow lasts until `drop`: until then nothing changes or drops
        // the owner, so safe code may rely on the slice. Should `as_ref` panic, the owner is leaked.
        let elements: &[T] = unsafe { &*owner }.as_ref();
        Foreign {
            elements: NonNull::from(elements).cast(),
            len: size_of_val(elements),
            owner: whole,
            lent,
            own: OnceLock::new(),
        }
    }

    /// Whether the owner will write to the elements again.
    pub(crate) fn is_lent(&self) -> bool {
        self.lent
    }

    /// The elements. The caller guarantees that the owner exposed `T`s.
    #[inline]
    pub(crate) fn typed<T: Element>(&self) -> &[T] {
        match self.own.get() {
            Some(own) => own.typed(),
            // SAFETY: the living owner exposed this many `T`s there, as the caller guarantees; they are
            // borrowed as long as `self`.
            None => unsafe {
                std::slice::from_raw_parts(self.elements.as_ptr().cast(), self.len / size_of::<T>())
            },
        }
    }

    /// The bytes of the elements.
    pub(crate) fn bytes(&self) -> &[u8] {
        match self.own.get() {
            Some(own) => own.bytes(),
            // SAFETY: as in `typed`; elements have no padding.
            None => unsafe { std::slice::from_raw_parts(self.elements.as_ptr(), self.len) },
        }
    }
}

impl Drop for Foreign {
    fn drop(&mut self) {
        // SAFETY: made by `Box::into_raw`, and dropped nowhere else; every borrow of the elements borrows
        // `self`.
        drop(unsafe { Box::from_raw(self.owner.as_ptr()) });
    }
}

/// The period for which a tensor refers to memory that its owner will write to again; see
/// [`crate::Tensor::lent`].
#[must_use = "what outlives the loan is copied when it ends"]
#[derive(Default, Debug)]
pub struct Loan(Weak<Foreign>);

impl Loan {
    pub(crate) fn of(foreign: &Arc<Foreign>) -> Loan {
        Loan(Arc::downgrade(foreign))
    }

    /// Ends the loan: tensors that still refer to the memory, or to a part of it, refer to a copy from now
    /// on. An error if there is no room for the copy. Slices obtained from such tensors before must no longer
    /// be in use; see [`crate::Tensor::lent`].
    pub fn end(mut self) -> Result<()> {
        self.copy_what_is_left()
    }

    fn copy_what_is_left(&mut self) -> Result<()> {
        if let Some(foreign) = std::mem::take(&mut self.0).upgrade() {
            // This cannot fail: there is only one loan, and nothing else sets it.
            let _ = foreign.own.set(Buffer::copy_of(foreign.bytes())?);
        }
        Ok(())
    }
}

impl Drop for Loan {
    fn drop(&mut self) {
        // A caller that can handle the error calls `end`.
        let _ = self.copy_what_is_left();
    }
}

#[cfg(test)]
mod tests {
    use crate::{DType, Loan, Tensor};
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
    use std::sync::{Arc, Mutex};

    /// An owner that counts the living ones in `alive`.
    struct Owner<const N: usize>(Arc<AtomicUsize>, [f32; N]);

    impl<const N: usize> Owner<N> {
        fn new(alive: &Arc<AtomicUsize>, elements: [f32; N]) -> Owner<N> {
            alive.fetch_add(1, SeqCst);
            Owner(alive.clone(), elements)
        }
    }

    impl<const N: usize> AsRef<[f32]> for Owner<N> {
        fn as_ref(&self) -> &[f32] {
            &self.1
        }
    }

    impl<const N: usize> Drop for Owner<N> {
        fn drop(&mut self) {
            self.0.fetch_sub(1, SeqCst);
        }
    }

    fn address(tensor: &Tensor) -> usize {
        tensor.as_bytes().unwrap().as_ptr() as usize
    }

    fn floats(tensor: &Tensor) -> &[f32] {
        tensor.as_slice().unwrap()
    }

    #[test]
    fn an_owners_elements_stay_where_they_are_and_go_with_the_last_who_looks() {
        let alive = Arc::default();
        // The elements are inside the owner, so they must not be borrowed before the owner is where it stays.
        let whole = Tensor::from_owner([2, 2], Owner::new(&alive, [1., 2., 3., 4.])).unwrap();
        let row = whole.row(1).unwrap();
        let flat = whole.reshape([4]).unwrap();
        assert_eq!((floats(&row), floats(&flat)), (&[3., 4.][..], &[1., 2., 3., 4.][..]));
        assert_eq!((address(&row), address(&flat)), (address(&whole) + 8, address(&whole)));
        drop((whole, flat));
        assert_eq!(alive.load(SeqCst), 1);
        std::thread::spawn(move || drop(row)).join().unwrap();
        assert_eq!(alive.load(SeqCst), 0);
    }

    #[test]
    fn nobody_writes_to_an_owners_elements() {
        let alive = Arc::default();
        let mut tensor = Tensor::from_owner([3], Owner::new(&alive, [1., 2., 3.])).unwrap();
        assert!(tensor.make_mut::<f32>().is_none());
        assert!(tensor.storage_mut().is_none());
        let mut reshaped = tensor.clone().into_shape([3, 1]).unwrap();
        assert!(reshaped.make_mut::<f32>().is_none());
        drop(reshaped);
        tensor.make_mut_or_copy::<f32>().unwrap()[0] = 9.;
        assert_eq!((floats(&tensor), alive.load(SeqCst)), (&[9., 2., 3.][..], 0));
    }

    #[test]
    fn kernels_that_move_elements_read_and_never_write_there() {
        let alive = Arc::default();
        let source = Tensor::from_owner([2, 2], Owner::new(&alive, [1., 2., 3., 4.])).unwrap();
        let mut written = source.clone();
        written.scatter_runs(1, &[0], &Tensor::vector(&[7f32]).unwrap()).unwrap();
        assert_eq!((floats(&written), floats(&source)), (&[7., 2., 3., 4.][..], &[1., 2., 3., 4.][..]));
        assert_eq!(
            source.bitcast(DType::I32, [2, 2]).unwrap().as_slice::<i32>().unwrap()[0],
            1f32.to_bits() as i32
        );
        assert!(source.bits_eq(&Tensor::from_slice([2, 2], &[1f32, 2., 3., 4.]).unwrap()));
    }

    #[test]
    fn bytes_are_not_aligned_for_what_is_wider() {
        let bytes: &'static [u8] = &[0, 0, 0, 128, 63, 0, 0, 0, 64, 0];
        struct Part(&'static [u8]);
        impl AsRef<[u8]> for Part {
            fn as_ref(&self) -> &[u8] {
                self.0
            }
        }
        for start in 0..2 {
            let tensor = Tensor::from_owner([8], Part(&bytes[start..start + 8])).unwrap();
            let cast = tensor.bitcast(DType::F32, [2]).unwrap();
            assert_ne!(address(&cast), address(&tensor));
            assert_eq!(start == 1, floats(&cast) == [1., 2.]);
        }
    }

    #[test]
    fn counts_must_agree_and_scalars_are_held_in_place() {
        let error = Tensor::from_owner([3], vec![1i64, 2]).unwrap_err().to_string();
        assert!(error.contains("shape [3] has 3 elements but 2 were given"), "{error}");
        let alive = Arc::default();
        let scalar = Tensor::from_owner([], Owner::new(&alive, [5.])).unwrap();
        assert_eq!((scalar.to_scalar::<f32>().unwrap(), alive.load(SeqCst)), (5., 0));
        assert_eq!(Tensor::from_owner([0], Vec::<f64>::new()).unwrap().elements(), 0);
    }

    #[test]
    fn what_is_kept_beyond_a_loan_is_a_copy_and_what_is_owned_stays() {
        let alive = Arc::default();
        let (lent, loan) = Tensor::lent([2, 2], Owner::new(&alive, [1., 2., 3., 4.])).unwrap();
        let kept = lent.row(1).unwrap().kept().unwrap();
        drop(lent);
        assert_eq!((floats(&kept), alive.load(SeqCst)), (&[3., 4.][..], 0));
        loan.end().unwrap();
        let own = Tensor::from_owner([1, 4], Owner::new(&alive, [1., 2., 3., 4.])).unwrap();
        let at = address(&own);
        assert_eq!(address(&own.kept().unwrap()), at);
        let plain = Tensor::vector(&[1f32, 2.]).unwrap();
        let at = address(&plain);
        assert_eq!(address(&plain.kept().unwrap()), at);
    }

    /// An owner that writes to its memory again.
    struct Lender(Arc<Mutex<Vec<f32>>>);

    impl AsRef<[f32]> for Lender {
        #[expect(unsafe_code, reason = "a lender, as there are in other languages")]
        fn as_ref(&self) -> &[f32] {
            let elements = self.0.lock().unwrap();
            // SAFETY: the vector never grows, and the tests below write to it only while no slice of it is in
            // use.
            unsafe { std::slice::from_raw_parts(elements.as_ptr(), elements.len()) }
        }
    }

    #[test]
    fn what_still_looks_when_a_loan_ends_looks_at_a_copy() {
        for end in [|loan: Loan| loan.end().unwrap(), drop] {
            let memory = Arc::new(Mutex::new(vec![1., 2., 3., 4.]));
            let (lent, loan) = Tensor::lent([4], Lender(memory.clone())).unwrap();
            let (whole, rows) = (lent.clone(), lent.rows(2, 2).unwrap());
            drop(lent);
            end(loan);
            memory.lock().unwrap().fill(9.);
            assert_eq!((floats(&whole), floats(&rows)), (&[1., 2., 3., 4.][..], &[3., 4.][..]));
            assert_eq!(floats(&rows.clone().kept().unwrap()), [3., 4.]);
            assert_eq!(Arc::strong_count(&memory), 2);
            drop((whole, rows));
            assert_eq!(Arc::strong_count(&memory), 1);
        }
    }
}
