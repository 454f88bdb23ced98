//! The checksum of solutions: the wrapping sum of what each of them counts for, so that their order is of no matter.

use sudoku_engine::Solution;

/// What a solution counts for: the 64-bit FNV-1a hash of its 81 digits.
pub fn checksum(solution: &Solution) -> u64 {
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    let digits = solution.grid().to_line();
    digits.into_iter().fold(0xcbf2_9ce4_8422_2325, mix)
}
