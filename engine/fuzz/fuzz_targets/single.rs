//! The single engine on any instruction set, in slices of any size, against the portable one and the reference engine.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sudoku_engine::Isa;
use sudoku_engine_fuzz::{Puzzle, Truth};

fuzz_target!(|input: (Puzzle, u8, u8)| {
    let (Puzzle(puzzle), isa, slice) = input;
    let isas: Vec<Isa> = Isa::available().collect();
    let isa = isas[usize::from(isa) % isas.len()];
    let truth = Truth::find(&puzzle, isa, slice.into());
    assert_eq!(
        truth,
        Truth::find(&puzzle, Isa::PORTABLE, u32::MAX),
        "{puzzle} on {isa}"
    );
    truth.check_against_reference(&puzzle);
});
