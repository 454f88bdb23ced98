//! The triad rule: a minirow, and a minicolumn, holds exactly three digits.

use super::planes::Work;
use super::sweep::Status;
use crate::arch::{Simd, Vector};

/// Applies the rule in box `b`: where only three digits are possible in a minirow, they are nowhere else in the box; where
/// three digits are possible nowhere else in the box, no other is in that minirow.
#[inline(always)]
pub(super) fn visit<S: Simd>(simd: S, work: &mut Work<S::Vector>, b: usize, status: &mut Status<S::Vector>) {
    let boxes = &mut work.page.boxes[b];
    lines(simd, &mut work.rows[b], boxes, status, |i| i / 3);
    lines(simd, &mut work.columns[b], boxes, status, |i| i % 3);
}

/// The rule for the minirows of a box or for its minicolumns; `line_of` a cell is the one it is in.
#[inline(always)]
fn lines<S: Simd>(
    simd: S,
    lines: &mut [[S::Vector; 3]; 9],
    boxes: &mut [[S::Vector; 9]; 9],
    status: &mut Status<S::Vector>,
    line_of: impl Fn(usize) -> usize,
) {
    let zero = simd.zero();
    // Of each line: three digits are possible in it; three are possible in no other.
    let (mut full, mut forced) = ([zero; 3], [zero; 3]);
    let mut wrong = zero;
    for line in 0..3 {
        let (mut possible, mut only) = ([zero; 9], [zero; 9]);
        for d in 0..9 {
            possible[d] = lines[d][line];
            only[d] = lines[d][line].and_neither(lines[d][(line + 1) % 3], lines[d][(line + 2) % 3]);
        }
        let (bit0, bit1, more) = count(&possible);
        full[line] = (bit0 & bit1).and_not(more);
        wrong = wrong | !(more | (bit0 & bit1));
        let (bit0, bit1, more) = count(&only);
        forced[line] = bit0 & bit1;
        wrong = wrong | more;
    }
    status.alive = status.alive.and_not(wrong);
    let any = S::Vector::or3(full[0], full[1], full[2]) | S::Vector::or3(forced[0], forced[1], forced[2]);
    if any.is_zero() {
        return;
    }
    for d in 0..9 {
        let before = lines[d];
        for line in 0..3 {
            let (p, q) = ((line + 1) % 3, (line + 2) % 3);
            let other = before[p] | before[q];
            // In a full line next door; or elsewhere too, where this line is forced to three others.
            let gone = (before[p] & full[p])
                .or_and(before[q], full[q])
                .or_and(other, forced[line]);
            status.changed = status.changed.or_and(before[line], gone);
            lines[d][line] = before[line].and_not(gone);
            for i in 0..9 {
                if line_of(i) == line {
                    boxes[d][i] = boxes[d][i].and_not(gone);
                }
            }
        }
    }
}

/// How many of the nine are set: the two lowest bits, and whether there are four or more.
#[inline(always)]
fn count<V: Vector>(x: &[V; 9]) -> (V, V, V) {
    let (s0, c0) = V::sum(x[0], x[1], x[2]);
    let (s1, c1) = V::sum(x[3], x[4], x[5]);
    let (s2, c2) = V::sum(x[6], x[7], x[8]);
    let (bit0, carry) = V::sum(s0, s1, s2);
    let (twos, fours) = V::sum(c0, c1, c2);
    (bit0, twos ^ carry, fours.or_and(twos, carry))
}
