//! One pass over all planes that moves states between lanes: forks, and what comes out of store.

use super::branch::{Choice, Choices};
use super::lanes::Lanes;
use super::moves::{MOVES, Move, turns};
use super::planes::{Page, Work, columns_of, rows_of};
use crate::arch::{Kernel, Simd, Vector};

/// Which lanes get a new state, and from where. No lane is in more than one set, but those that fork stay as their own
/// first child.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan {
    /// Second children into other lanes; the first `moving` of these count.
    pub(super) moves: [Move; MOVES],
    pub(super) moving: usize,
    /// Second children into store, by page.
    pub(super) store: [Lanes; PAGES],
    /// Out of store, by page.
    pub(super) fetch: [Lanes; PAGES],
    /// New puzzles.
    pub(super) load: Lanes,
}

/// How many states a lane can have in store: as many as there are pages.
pub(super) const PAGES: usize = 24;

impl Plan {
    pub(super) const NOTHING: Self = Self {
        moves: [Move::NONE; MOVES],
        moving: 0,
        store: [Lanes::NONE; PAGES],
        fetch: [Lanes::NONE; PAGES],
        load: Lanes::NONE,
    };

    pub(super) fn is_nothing(&self) -> bool {
        let pages = self.store.iter().chain(&self.fetch);
        self.moving == 0 && self.load.is_empty() && pages.into_iter().all(|lanes| lanes.is_empty())
    }
}

/// Carries out a plan.
pub(super) struct Exchange<'a, S: Simd> {
    pub(super) simd: S,
    pub(super) work: &'a mut Work<S::Vector>,
    pub(super) pages: &'a mut [Page<S::Vector>; PAGES],
    pub(super) new: &'a Page<S::Vector>,
    pub(super) choices: &'a Choices<S::Vector>,
    pub(super) plan: &'a Plan,
}

impl<S: Simd> Kernel for Exchange<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let simd = self.simd;
        let plan = self.plan;
        let turns = turns(simd, &plan.moves);
        let (mut store, mut fetch) = ([(0, simd.zero()); PAGES], [(0, simd.zero()); PAGES]);
        let storing = list_used(simd, &plan.store, &mut store);
        let fetching = list_used(simd, &plan.fetch, &mut fetch);
        let (load, zero) = (simd.load(&plan.load.0), simd.zero());
        for b in 0..9 {
            for d in 0..9 {
                let (mut cells, second) = fork(zero, self.work.page.boxes[b][d], self.choices.of(b, d));
                for turn in &turns[..plan.moving.min(MOVES)] {
                    for i in 0..9 {
                        cells[i] = turn.apply(second[i], cells[i]);
                    }
                }
                for &(page, lanes) in &store[..storing] {
                    let page = &mut self.pages[page].boxes[b][d];
                    for i in 0..9 {
                        page[i] = S::Vector::select(lanes, second[i], page[i]);
                    }
                }
                for &(page, lanes) in &fetch[..fetching] {
                    let page = &self.pages[page].boxes[b][d];
                    for i in 0..9 {
                        cells[i] = S::Vector::select(lanes, page[i], cells[i]);
                    }
                }
                if !plan.load.is_empty() {
                    let new = &self.new.boxes[b][d];
                    for i in 0..9 {
                        cells[i] = S::Vector::select(load, new[i], cells[i]);
                    }
                }
                self.work.page.boxes[b][d] = cells;
                self.work.rows[b][d] = rows_of(&cells);
                self.work.columns[b][d] = columns_of(&cells);
            }
        }
    }
}

/// Lists the pages of a plan that have lanes. Returns their number.
#[inline(always)]
fn list_used<S: Simd>(simd: S, pages: &[Lanes; PAGES], list: &mut [(usize, S::Vector); PAGES]) -> usize {
    let mut len = 0;
    for (page, lanes) in pages.iter().enumerate() {
        if !lanes.is_empty() {
            list[len] = (page, simd.load(&lanes.0));
            len += 1;
        }
    }
    len
}

/// Both children of the lanes that fork, for a box and a digit; other lanes as they are, twice.
#[inline(always)]
fn fork<V: Vector>(zero: V, cells: [V; 9], choices: [Option<Choice<V>>; 2]) -> ([V; 9], [V; 9]) {
    let (mut first, mut second) = (cells, cells);
    if let Some(choice) = choices[0] {
        let (taking, refusing) = (choice.lost_by_taking(), choice.lost_by_refusing(zero));
        for i in 0..9 {
            first[i] = first[i].and_not(taking[i / 3]);
            second[i] = second[i].and_not(refusing[i / 3]);
        }
    }
    if let Some(choice) = choices[1] {
        let (taking, refusing) = (choice.lost_by_taking(), choice.lost_by_refusing(zero));
        for i in 0..9 {
            first[i] = first[i].and_not(taking[i % 3]);
            second[i] = second[i].and_not(refusing[i % 3]);
        }
    }
    (first, second)
}
