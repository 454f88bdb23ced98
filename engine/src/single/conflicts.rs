//! What a long search learns from its dead ends.
//!
//! A contradiction between a few cells can hide behind guesses that have nothing to do with it, and is then met again
//! below each of them. So dead ends are counted for the digit and box that was guessed last, and once a search has gone on
//! for long it guesses where they were most, in proportion to what is left there. The contradiction then comes to the top
//! of the tree, where it is met once. (The weighted degree of F. Boussemart and others, 2004.)

use super::branch::Guess;
use super::state::State;
use super::vector::ROWS;

/// The steps after which a search guesses by its dead ends. Nearly all puzzles are done before.
pub(super) const PATIENCE: u64 = 500;

/// Up to so many dead ends a search is early: it may well be on its straight way to a solution, one of many perhaps.
const EARLY: u32 = 2;

/// The dead ends met, for each digit in each box.
#[derive(Debug, Clone)]
pub(super) struct Conflicts {
    counts: [u16; 81],
    /// All of them.
    met: u32,
}

impl Conflicts {
    pub(super) const NONE: Self = Self {
        counts: [0; 81],
        met: 0,
    };

    /// Counts a state that turned out to be dead.
    pub(super) fn note(&mut self, state: &State) {
        if let Some(count) = self.counts.get_mut(usize::from(state.guessed)) {
            *count = count.saturating_add(1);
        }
        self.met = self.met.saturating_add(1);
    }

    /// Whether there were hardly any.
    pub(super) fn are_few(&self) -> bool {
        self.met < EARLY
    }

    /// The guess for a stalled state: where there were the most dead ends for the square of the places left.
    #[cold]
    pub(super) fn pick(&self, state: &State) -> Option<Guess> {
        let mut best = (0, None);
        for (at, count) in self.counts.iter().enumerate() {
            let (digit, band, stack) = (at / 9, at / 3 % 3, at % 3);
            let cells = state.places[digit].lane(band, stack);
            let places = cells.count_ones();
            let score = ((u32::from(*count) + 1) << 12) / (places * places).max(1);
            if places > 1 && score > best.0 {
                best = (score, Some((digit, band, stack, cells)));
            }
        }
        let (digit, band, stack, cells) = best.1?;
        let row = ROWS.into_iter().map(|row| cells & row).find(|&row| row != 0)?;
        // All in one row: then a cell of it.
        let cells = if row == cells {
            row & row.wrapping_neg()
        } else {
            row
        };
        Some(Guess {
            digit,
            band,
            stack,
            cells,
            other: None,
        })
    }
}
