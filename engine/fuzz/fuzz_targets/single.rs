//! The single engine on each instruction set, in slices of any size, and the reference engine.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sudoku_engine::Isa;
use sudoku_engine_fuzz::{Puzzle, Truth};

fuzz_target!(|input: (Puzzle, u8)| {
    let (Puzzle(puzzle), slice) = input;
    let truth = Truth::find(&puzzle, Isa::PORTABLE, u32::MAX);
    truth.check_against_reference(&puzzle);
    for isa in Isa::available() {
        assert_eq!(
            Truth::find(&puzzle, isa, slice.into()),
            truth,
            "{puzzle} on {isa}"
        );
    }
});
