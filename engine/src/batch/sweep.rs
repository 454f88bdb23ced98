//! The sweep: one round of deduction in all boxes of all lanes.

use super::planes::{Work, columns_of, count, rows_of};
use super::triads;
use crate::arch::{Kernel, Simd, Vector};

/// The order in which a sweep visits the boxes: each box of the first three shares no band and no stack with the other
/// two, and so for the next three, so that news of a box reach its four neighbours soon.
const ORDER: [usize; 9] = [0, 4, 8, 1, 5, 6, 2, 3, 7];

/// What a detecting sweep found out about each lane.
#[derive(Clone, Copy)]
pub(super) struct Status<V> {
    /// No contradiction was met.
    pub(super) alive: V,
    /// No cell had two candidates.
    pub(super) single: V,
    /// The sweep changed something, or the next one will.
    pub(super) changed: V,
}

/// A number of sweeps, the last of which looks at what became of each lane.
pub(super) struct Sweep<'a, S: Simd> {
    pub(super) simd: S,
    pub(super) work: &'a mut Work<S::Vector>,
    pub(super) count: u32,
    /// Whether the last sweep applies the triad rule.
    pub(super) triads: bool,
}

impl<S: Simd> Kernel for Sweep<'_, S> {
    type Output = Status<S::Vector>;

    #[inline(always)]
    fn run(self) -> Self::Output {
        let nothing = Status {
            alive: self.simd.ones(),
            single: self.simd.ones(),
            changed: self.simd.zero(),
        };
        let mut status = nothing;
        for _ in 1..self.count {
            for b in ORDER {
                visit::<_, false>(self.simd.zero(), self.work, b, &mut status);
            }
        }
        status = nothing;
        for b in ORDER {
            visit::<_, true>(self.simd.zero(), self.work, b, &mut status);
            if self.triads {
                triads::visit(self.simd, self.work, b, &mut status);
            }
        }
        status
    }
}

/// In which minirows a digit can be in a box, by the two other boxes of the band: in row 0 only if one of the others can
/// take row 1 and the other row 2, and so on.
#[inline(always)]
fn left_by<V: Vector>(x: &[V; 3], y: &[V; 3]) -> [V; 3] {
    [
        (x[1] & y[2]).or_and(x[2], y[1]),
        (x[0] & y[2]).or_and(x[2], y[0]),
        (x[0] & y[1]).or_and(x[1], y[0]),
    ]
}

/// One box: takes over what its neighbours rule out, then finds naked and hidden singles and removes what they leave no
/// room for, all inside the box.
#[inline(always)]
fn visit<V: Vector, const DETECT: bool>(zero: V, work: &mut Work<V>, b: usize, status: &mut Status<V>) {
    let (band, stack) = (b / 3, b % 3);
    let beside = [3 * band + (stack + 1) % 3, 3 * band + (stack + 2) % 3];
    let above = [(band + 1) % 3 * 3 + stack, (band + 2) % 3 * 3 + stack];
    // Of each digit: two places.
    let mut places = [zero; 9];
    for d in 0..9 {
        let rows = left_by(&work.rows[beside[0]][d], &work.rows[beside[1]][d]);
        let columns = left_by(&work.columns[above[0]][d], &work.columns[above[1]][d]);
        if DETECT {
            for i in 0..3 {
                status.changed = status.changed.or_and_not(work.rows[b][d][i], rows[i]);
                status.changed = status.changed.or_and_not(work.columns[b][d][i], columns[i]);
            }
        }
        let mut cells = work.page.boxes[b][d];
        for i in 0..9 {
            cells[i] = V::and3(cells[i], rows[i / 3], columns[i % 3]);
        }
        work.page.boxes[b][d] = cells;
        let any;
        (any, places[d]) = count(&cells);
        if DETECT {
            status.alive = status.alive & any;
        }
    }

    // Of each cell: the only place left for some digit; one candidate at most.
    let (mut hidden, mut naked) = ([zero; 9], [zero; 9]);
    for i in 0..9 {
        let (mut digits, mut only) = ([zero; 9], [zero; 9]);
        for d in 0..9 {
            digits[d] = work.page.boxes[b][d][i];
            only[d] = digits[d].and_not(places[d]);
        }
        let (any, two) = count(&digits);
        naked[i] = !two;
        let clash;
        (hidden[i], clash) = count(&only);
        if DETECT {
            status.alive = (status.alive & any).and_not(clash);
            status.single = status.single.and_not(two);
            status.changed = status.changed.or_and(hidden[i], two);
        }
    }

    for d in 0..9 {
        let cells = work.page.boxes[b][d];
        let mut here = cells;
        for i in 0..9 {
            here[i] = cells[i] & naked[i];
        }
        let (placed, twice) = count(&here);
        if DETECT {
            status.alive = status.alive.and_not(twice);
            status.changed = status.changed.or_and(placed, places[d]);
        }
        // A digit with several places leaves the cells that are another's only place, and, once it is placed, all
        // cells but that.
        let mut left = cells;
        for i in 0..9 {
            left[i] = cells[i].and_not_both(places[d], hidden[i].or_and_not(placed, naked[i]));
        }
        work.page.boxes[b][d] = left;
        work.rows[b][d] = rows_of(&left);
        work.columns[b][d] = columns_of(&left);
    }
}
