//! The check that every solution passes before it leaves.

use super::planes::{Work, columns_of, count, rows_of};
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
        let boxes = &self.work.page.boxes;
        let mut good = self.simd.ones();
        for cells in boxes {
            for i in 0..9 {
                let (any, several) = count(&cells.each_ref().map(|digit| digit[i]));
                good = (good & any).and_not(several);
            }
        }
        for d in 0..9 {
            // Nine cells with one digit each: a unit is complete if each digit is in it.
            let rows = boxes.each_ref().map(|cells| rows_of(&cells[d]));
            let columns = boxes.each_ref().map(|cells| columns_of(&cells[d]));
            for i in 0..3 {
                for j in 0..3 {
                    let minirows = &rows[3 * i + j];
                    let inside = S::Vector::or3(minirows[0], minirows[1], minirows[2]);
                    let row = S::Vector::or3(rows[3 * i][j], rows[3 * i + 1][j], rows[3 * i + 2][j]);
                    let column = S::Vector::or3(columns[i][j], columns[i + 3][j], columns[i + 6][j]);
                    good = S::Vector::and3(good, inside, row) & column;
                }
            }
        }
        good
    }
}
