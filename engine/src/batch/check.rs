//! The check that every solution passes before it leaves.

use super::planes::Work;
use crate::arch::{Kernel, Simd, Vector};

/// Which lanes hold a solution: each cell has exactly one candidate, and each unit has every digit in one of its cells.
///
/// It looks at nothing but the cells, and is the check that each solution passes before it leaves. That the clues are kept
/// is checked against the puzzle itself, where the solution is written out.
pub(super) struct Check<'a, S: Simd> {
    pub(super) simd: S,
    pub(super) work: &'a Work<S::Vector>,
}

impl<S: Simd> Kernel for Check<'_, S> {
    type Output = S::Vector;

    #[inline(always)]
    fn run(self) -> S::Vector {
        let (zero, mut good) = (self.simd.zero(), self.simd.ones());
        for cells in &self.work.page.boxes {
            for i in 0..9 {
                let (mut one, mut two) = (zero, zero);
                for digit in cells {
                    two = two.or_and(one, digit[i]);
                    one = one | digit[i];
                }
                good = good & one.and_not(two);
            }
        }
        for d in 0..9 {
            let (mut rows, mut columns) = ([zero; 9], [zero; 9]);
            for (b, cells) in self.work.page.boxes.iter().enumerate() {
                let mut inside = zero;
                for (i, &cell) in cells[d].iter().enumerate() {
                    let (row, column) = (3 * (b / 3) + i / 3, 3 * (b % 3) + i % 3);
                    inside = inside | cell;
                    rows[row] = rows[row] | cell;
                    columns[column] = columns[column] | cell;
                }
                good = good & inside;
            }
            for i in 0..9 {
                good = S::Vector::and3(good, rows[i], columns[i]);
            }
        }
        good
    }
}
