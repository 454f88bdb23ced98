//! The single engine at work on a file.

use anyhow::Context;
use sudoku_engine::{Grid, Isa, Search, Step};

use crate::tally::Tally;

/// One pass over the puzzles, one at a time, with the checksum or without.
pub fn solve_each(isa: Isa, limit: usize, puzzles: &[&str], checksum: bool) -> anyhow::Result<Tally> {
    let mut tally = Tally::default();
    let mut search = Search::with_isa(&Grid::EMPTY, isa);
    for (line, puzzle) in puzzles.iter().enumerate() {
        let grid = Grid::from_line(puzzle).with_context(|| format!("puzzle {}", line + 1))?;
        solve(&mut search, &grid, limit, checksum, &mut tally);
    }
    Ok(tally)
}

/// Solves a puzzle and counts what it comes to.
pub fn solve(search: &mut Search, puzzle: &Grid, limit: usize, checksum: bool, tally: &mut Tally) {
    search.restart(puzzle);
    let (mut found, mut first) = (0, None);
    while found < limit {
        match search.run(u32::MAX) {
            Step::Solution(solution) => {
                found += 1;
                first.get_or_insert(solution);
            }
            Step::Done => break,
            Step::Paused => {}
        }
    }
    tally.count(found);
    if let Some(solution) = first.filter(|_| checksum && found == 1) {
        tally.sum(&solution);
    }
}
