//! Clues that contradict each other.

use crate::{Grid, Unit, unit};

/// A digit that stands more than once in a unit.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(::serde::Serialize, ::serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "crate::serde::Repeated"))]
pub struct Conflict {
    /// The digit, 1 to 9.
    pub digit: u8,
    /// The unit in which it is repeated.
    pub unit: Unit,
    /// All cells of the unit that hold it, 0 to 80, ascending: 2 to 9 of them.
    pub cells: Vec<u8>,
}

/// Every unit in which `grid` repeats a digit, one entry for each such digit: rows, then columns, then boxes, each by
/// index, then by digit. Empty where no two digits contradict each other.
pub fn conflicts(grid: &Grid) -> Vec<Conflict> {
    if !has_conflict(grid) {
        return Vec::new();
    }
    let holding = |unit: Unit, digit: u8| -> Vec<u8> {
        unit.cells()
            .into_iter()
            .filter(|&cell| grid.get(cell.into()) == Some(digit))
            .collect()
    };
    Unit::all()
        .flat_map(|unit| (1..=9).map(move |digit| (unit, digit)))
        .map(|(unit, digit)| Conflict {
            digit,
            unit,
            cells: holding(unit, digit),
        })
        .filter(|conflict| conflict.cells.len() > 1)
        .collect()
}

/// Whether any unit of `grid` repeats a digit: [`conflicts`] without the report.
pub fn has_conflict(grid: &Grid) -> bool {
    let mut any = 0;
    unit::count_digits(grid.cells(), |counts| any |= counts);
    any & unit::REPEATED != 0
}
