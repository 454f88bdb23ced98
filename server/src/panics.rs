//! Panics: bugs that must end one call and no more.

use std::any::Any;

use crate::error::Error;

/// Logs a panic that was caught, and gives the error that the call ends with.
pub(crate) fn log(place: &'static str, panic: &(dyn Any + Send)) -> Error {
    let cause = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("of an unknown kind");
    tracing::error!(place, cause, "a panic was caught");
    Error::Internal
}
