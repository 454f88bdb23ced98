//! The Sudoku service.
#![forbid(unsafe_code)]
