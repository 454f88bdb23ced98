//! Panics: bugs that must end one call and no more.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};

use futures_util::FutureExt;

use crate::error::Error;

/// Those of the process, since a panic may be caught where no service is at hand.
static CAUGHT: AtomicU64 = AtomicU64::new(0);

/// Turns a panic into the error that the call ends with.
pub(crate) fn catch<T>(place: &'static str, work: impl FnOnce() -> T) -> Result<T, Error> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| log(place, &*panic))
}

/// The same for what is waited for.
pub(crate) async fn catch_in<F: Future>(place: &'static str, work: F) -> Result<F::Output, Error> {
    AssertUnwindSafe(work)
        .catch_unwind()
        .await
        .map_err(|panic| log(place, &*panic))
}

/// Counts and logs a panic that was caught, and gives the error that the call ends with.
pub(crate) fn log(place: &'static str, panic: &(dyn Any + Send)) -> Error {
    CAUGHT.fetch_add(1, Ordering::Relaxed);
    let cause = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("of an unknown kind");
    tracing::error!(place, cause, "a panic was caught");
    Error::Internal
}

/// How many panics were caught since the process began.
pub(crate) fn caught() -> u64 {
    CAUGHT.load(Ordering::Relaxed)
}
