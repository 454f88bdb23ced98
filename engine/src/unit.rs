//! Rows, columns and boxes.

use std::fmt;

/// A row, a column or a box: nine cells that hold every digit once.
///
/// The index is 0 to 8: rows from the top, columns from the left, boxes row by row from the top left. Displays with
/// its number counted from 1, as in `row 5`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(::serde::Serialize, ::serde::Deserialize))]
#[cfg_attr(
    feature = "serde",
    serde(try_from = "crate::serde::Place", into = "crate::serde::Place")
)]
pub enum Unit {
    /// Nine cells side by side.
    Row(u8),
    /// Nine cells above each other.
    Column(u8),
    /// Three by three cells.
    Box(u8),
}

impl Unit {
    /// All 27 units: the rows, the columns, the boxes.
    pub fn all() -> impl Iterator<Item = Self> {
        let each = |make: fn(u8) -> Self| (0..9).map(make);
        each(Self::Row).chain(each(Self::Column)).chain(each(Self::Box))
    }

    /// Its index among the units of its kind, 0 to 8.
    pub fn index(self) -> u8 {
        match self {
            Self::Row(index) | Self::Column(index) | Self::Box(index) => index,
        }
    }

    /// Its nine cells, 0 to 80 row by row, ascending.
    ///
    /// An index above 8, which no unit of [`Unit::all`] has, wraps around.
    pub fn cells(self) -> [u8; 9] {
        let at = self.index() % 9;
        std::array::from_fn(|i| {
            let i = i as u8;
            match self {
                Self::Row(_) => 9 * at + i,
                Self::Column(_) => 9 * i + at,
                Self::Box(_) => 9 * (3 * (at / 3) + i / 3) + 3 * (at % 3) + i % 3,
            }
        })
    }
}

/// How often each digit stands in a unit: four bits for each, those of digit 1 above those of the blank, and so on.
pub(crate) type Counts = u64;

/// The counts of a unit that holds every digit once.
pub(crate) const COMPLETE: Counts = 0x11_1111_1110;

/// The bits that are set in the counts of a unit that repeats a digit.
pub(crate) const REPEATED: Counts = 0xee_eeee_eee0;

/// Calls `with` with the counts of each of the 27 units of a grid. It has no branch that depends on the cells: it runs
/// once for every puzzle and every solution.
pub(crate) fn count_digits(cells: &[u8; 81], mut with: impl FnMut(Counts)) {
    const ONE: [Counts; 16] = {
        let mut one = [0; 16];
        let mut digit = 0;
        while digit <= 9 {
            one[digit] = 1 << (4 * digit);
            digit += 1;
        }
        one
    };
    let mut columns = [0; 9];
    for band in cells.as_chunks::<27>().0 {
        let mut boxes = [0; 3];
        for cells in band.as_chunks::<9>().0 {
            let mut minirows = [0; 3];
            for (column, &cell) in cells.iter().enumerate() {
                let one = ONE[usize::from(cell & 15)];
                minirows[column / 3] += one;
                columns[column] += one;
            }
            for (count, minirow) in boxes.iter_mut().zip(minirows) {
                *count += minirow;
            }
            with(minirows.into_iter().sum());
        }
        boxes.into_iter().for_each(&mut with);
    }
    columns.into_iter().for_each(with);
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self {
            Self::Row(_) => "row",
            Self::Column(_) => "column",
            Self::Box(_) => "box",
        };
        write!(f, "{kind} {}", self.index() + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cell_is_in_one_unit_of_each_kind() {
        let mut seen = [0; 81];
        for unit in Unit::all() {
            assert!(unit.cells().is_sorted());
            for cell in unit.cells() {
                seen[usize::from(cell)] += 1;
            }
        }
        assert_eq!(seen, [3; 81]);
    }

    #[test]
    fn boxes_are_three_by_three() {
        assert_eq!(Unit::Box(4).cells(), [30, 31, 32, 39, 40, 41, 48, 49, 50]);
    }
}
