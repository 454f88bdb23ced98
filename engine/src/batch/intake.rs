//! How many puzzles to have in flight.

use super::lanes::LANES;

/// Decides how many puzzles share the lanes.
///
/// A puzzle that needs search spreads: the second child of each fork goes to a free lane if there is one, in the same
/// pass that moves all others, and into store if there is none, which costs a pass for each page now and another when it
/// is fetched. So with hard puzzles it pays to have few of them in flight, each in several lanes, and with easy ones as
/// many as there are lanes. The aim follows what it sees: it falls while second children find no lane, and rises while
/// lanes lie idle.
///
/// Puzzles with many solutions are the exception. In them hardly any fork has a child that dies, two solutions are found
/// by going deep, and going wide only opens more states than are ever looked at. When few lanes die, every second child
/// goes into store, and every free lane to a new puzzle.
pub(super) struct Intake {
    /// How many puzzles to have in flight.
    aim: u32,
    /// The forks and the deaths of late: sums in which a round counts 1/16 less with each round after it.
    forks: u32,
    deaths: u32,
}

/// The least to aim at.
const LEAST: u32 = 16;

impl Intake {
    pub(super) fn new() -> Self {
        Self {
            aim: LANES as u32 / 4,
            forks: 0,
            deaths: 0,
        }
    }

    /// Takes note of a round: how many lanes want to fork, and how many met a contradiction.
    pub(super) fn note_round(&mut self, forks: u32, deaths: u32) {
        self.forks = self.forks - self.forks.div_ceil(16) + forks;
        self.deaths = self.deaths - self.deaths.div_ceil(16) + deaths;
        if self.forks == 0 || self.goes_deep() {
            self.aim = LANES as u32;
        }
    }

    /// Whether any lane had to fork of late.
    pub(super) fn has_search(&self) -> bool {
        self.forks > 0
    }

    /// Whether second children go into store even where there are free lanes for them.
    pub(super) fn goes_deep(&self) -> bool {
        4 * self.deaths < self.forks
    }

    /// Takes note of second children that found no lane.
    pub(super) fn note_unplaced(&mut self, count: u32) {
        if !self.goes_deep() {
            self.aim = self
                .aim
                .saturating_sub((self.aim * count).div_ceil(SHRINK))
                .max(LEAST);
        }
    }

    /// How many of `free` lanes to give to new puzzles.
    pub(super) fn admit(&mut self, in_flight: u32, free: u32) -> u32 {
        let admitted = self.aim.saturating_sub(in_flight).min(free);
        let grown = self.aim + (self.aim * (free - admitted)).div_ceil(GROW);
        self.aim = grown.min(LANES as u32);
        admitted
    }
}

/// A second child without a lane takes this part off the aim.
const SHRINK: u32 = 1024;

/// An idle lane adds this part to it.
const GROW: u32 = 2048;
