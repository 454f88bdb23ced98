//! The sweep: one round of deduction in all boxes of all lanes.

use super::planes::{Work, columns_of, rows_of};
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

#[inline(always)]
fn all_of<V: Vector>(x: &[V; 9]) -> V {
    V::and3(
        V::and3(x[0], x[1], x[2]),
        V::and3(x[3], x[4], x[5]),
        V::and3(x[6], x[7], x[8]),
    )
}

#[inline(always)]
fn any_of<V: Vector>(x: &[V; 9]) -> V {
    V::or3(
        V::or3(x[0], x[1], x[2]),
        V::or3(x[3], x[4], x[5]),
        V::or3(x[6], x[7], x[8]),
    )
}

/// One box: takes over what its neighbours rule out, then finds naked and hidden singles and removes what they leave no
/// room for, all inside the box.
#[inline(always)]
fn visit<V: Vector, const DETECT: bool>(zero: V, work: &mut Work<V>, b: usize, status: &mut Status<V>) {
    let (band, stack) = (b / 3, b % 3);
    let beside = [3 * band + (stack + 1) % 3, 3 * band + (stack + 2) % 3];
    let above = [(band + 1) % 3 * 3 + stack, (band + 2) % 3 * 3 + stack];
    // Of each cell: a candidate, two candidates. Of each digit: two places.
    let (mut one, mut two) = ([zero; 9], [zero; 9]);
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
        let cells = &mut work.page.boxes[b][d];
        let (mut any, mut many) = (zero, zero);
        for r in 0..3 {
            let x = V::and3(cells[3 * r], rows[r], columns[0]);
            let y = V::and3(cells[3 * r + 1], rows[r], columns[1]);
            let z = V::and3(cells[3 * r + 2], rows[r], columns[2]);
            let row = V::or3(x, y, z);
            many = if r == 0 {
                V::majority(x, y, z)
            } else {
                many.or_and(any, row) | V::majority(x, y, z)
            };
            any = any | row;
            for (column, cell) in [x, y, z].into_iter().enumerate() {
                let i = 3 * r + column;
                cells[i] = cell;
                two[i] = two[i].or_and(one[i], cell);
                one[i] = one[i] | cell;
            }
        }
        places[d] = many;
        status.alive = status.alive & any;
    }
    status.alive = status.alive & all_of(&one);
    status.single = status.single.and_not(any_of(&two));

    // Of each cell: the only place left for some digit.
    let mut hidden = [zero; 9];
    let mut clash = zero;
    for d in 0..9 {
        let cells = &work.page.boxes[b][d];
        for i in 0..9 {
            if DETECT {
                clash = clash | (hidden[i] & cells[i]).and_not(places[d]);
            }
            hidden[i] = hidden[i].or_and_not(cells[i], places[d]);
        }
    }
    if DETECT {
        status.alive = status.alive.and_not(clash);
        for i in 0..9 {
            status.changed = status.changed.or_and(hidden[i], two[i]);
        }
    }

    let mut naked = one;
    for i in 0..9 {
        naked[i] = one[i].and_not(two[i]);
    }
    for d in 0..9 {
        let cells = work.page.boxes[b][d];
        let mut placed = cells[0] & naked[0];
        if DETECT {
            let mut twice = zero;
            for i in 1..9 {
                let here = cells[i] & naked[i];
                twice = twice.or_and(placed, here);
                placed = placed | here;
            }
            status.alive = status.alive.and_not(twice);
            status.changed = status.changed.or_and(placed, places[d]);
        } else {
            for i in 1..9 {
                placed = placed.or_and(cells[i], naked[i]);
            }
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
