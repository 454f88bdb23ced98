//! Puzzles with their solutions.

pub const PUZZLE: &str = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79";
pub const SOLUTION: &str =
    "534678912672195348198342567859761423426853791713924856961537284287419635345286179";

/// The puzzle with its digits exchanged for others, in one of 362,880 ways, and its solution: puzzles that differ, so that
/// an answer in the wrong place is noticed.
pub fn numbered(number: usize) -> (String, String) {
    let mut left: Vec<char> = ('1'..='9').collect();
    let mut number = number;
    let digits: Vec<char> = (1..=9)
        .rev()
        .map(|choices| {
            let digit = left.remove(number % choices);
            number /= choices;
            digit
        })
        .collect();
    let exchange = |line: &str| {
        let exchanged = line.chars().map(|cell| match cell.to_digit(10) {
            Some(digit) => digits[digit as usize - 1],
            None => cell,
        });
        exchanged.collect()
    };
    (exchange(PUZZLE), exchange(SOLUTION))
}
