//! `sudoku-client`, the command line.
#![forbid(unsafe_code)]

mod cli;

use std::hint::black_box;
use std::process::ExitCode;

fn main() -> ExitCode {
    keep_memory();
    cli::run().unwrap_or_else(|error| {
        cli::report(&error);
        cli::exit::status_of(&error).into()
    })
}

/// Lets memory stay that is free for a moment.
///
/// The allocator of glibc gives it back to the system when 128 KiB in a row are free, and for the next message gets it anew,
/// page by page. It is content with twice the largest block that it has seen come and go (`M_MMAP_THRESHOLD` in mallopt(3)).
/// This block is larger than all that come often, and no page of it is ever touched.
fn keep_memory() {
    drop(black_box(Vec::<u8>::with_capacity(8 << 20)));
}
