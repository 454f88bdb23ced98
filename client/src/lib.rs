//! The SDK of the Sudoku service.
#![forbid(unsafe_code)]
