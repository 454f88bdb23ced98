//! 256 search states as bit planes.

use crate::arch::{Simd, Vector};

/// The candidates of 256 grids: in `boxes[b][d][i]`, lane `l` says whether digit `d + 1` is still possible in cell `i` of
/// box `b`, both counted row by row from 0.
#[derive(Clone)]
#[repr(C, align(64))]
pub(super) struct Page<V> {
    pub(super) boxes: [[[V; 9]; 9]; 9],
}

/// The state that is swept: the candidates, and what the boxes tell each other.
///
/// ```text
///     a box        minirows     minicolumns
///     0 1 2        0 0 0        0 1 2
///     3 4 5        1 1 1        0 1 2
///     6 7 8        2 2 2        0 1 2
/// ```
#[derive(Clone)]
#[repr(C, align(64))]
pub(super) struct Work<V> {
    pub(super) page: Page<V>,
    /// `rows[b][d][r]`: digit `d + 1` is possible in minirow `r` of box `b`.
    pub(super) rows: [[[V; 3]; 9]; 9],
    /// The same for minicolumns.
    pub(super) columns: [[[V; 3]; 9]; 9],
}

impl<V: Vector> Page<V> {
    /// No candidates anywhere.
    pub(super) fn new<S: Simd<Vector = V>>(simd: S) -> Box<Self> {
        Box::new(Self {
            boxes: [[[simd.zero(); 9]; 9]; 9],
        })
    }

    /// Several of them.
    pub(super) fn several<S: Simd<Vector = V>, const N: usize>(simd: S) -> Box<[Self; N]> {
        let pages: Box<[Self]> = (0..N).map(|_| *Self::new(simd)).collect();
        match pages.try_into() {
            Ok(pages) => pages,
            Err(_) => unreachable!("there are N of them"),
        }
    }
}

impl<V: Vector> Work<V> {
    pub(super) fn new<S: Simd<Vector = V>>(simd: S) -> Box<Self> {
        let zero = simd.zero();
        Box::new(Self {
            page: Page {
                boxes: [[[zero; 9]; 9]; 9],
            },
            rows: [[[zero; 3]; 9]; 9],
            columns: [[[zero; 3]; 9]; 9],
        })
    }
}

/// In which minirows a digit is possible, from the cells in which it is.
#[inline(always)]
pub(super) fn rows_of<V: Vector>(cells: &[V; 9]) -> [V; 3] {
    [
        V::or3(cells[0], cells[1], cells[2]),
        V::or3(cells[3], cells[4], cells[5]),
        V::or3(cells[6], cells[7], cells[8]),
    ]
}

/// In which minicolumns.
#[inline(always)]
pub(super) fn columns_of<V: Vector>(cells: &[V; 9]) -> [V; 3] {
    [
        V::or3(cells[0], cells[3], cells[6]),
        V::or3(cells[1], cells[4], cells[7]),
        V::or3(cells[2], cells[5], cells[8]),
    ]
}

/// Of nine planes: where any is set, and where two or more are.
#[inline(always)]
pub(super) fn count<V: Vector>(x: &[V; 9]) -> (V, V) {
    let any = rows_of(x);
    let two_in_one = V::or3(
        V::majority(x[0], x[1], x[2]),
        V::majority(x[3], x[4], x[5]),
        V::majority(x[6], x[7], x[8]),
    );
    (
        V::or3(any[0], any[1], any[2]),
        two_in_one | V::majority(any[0], any[1], any[2]),
    )
}

/// The cell of the grid, 0 to 80 row by row, that is cell `i` of box `b`.
pub(super) const fn cell_of(b: usize, i: usize) -> usize {
    (b / 3 * 3 + i / 3) * 9 + b % 3 * 3 + i % 3
}
