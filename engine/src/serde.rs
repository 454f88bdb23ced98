//! How grids, units and conflicts are written by serde. What is read back is held to the same rules as everywhere.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde::ser::{Serialize, Serializer};

use crate::{Conflict, Grid, Unit};

/// As its 81 characters, with `.` for a blank.
impl Serialize for Grid {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// From 81 characters, as [`Grid::from_line`] reads them.
impl<'de> Deserialize<'de> for Grid {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Line;

        impl Visitor<'_> for Line {
            type Value = Grid;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a grid of 81 characters")
            }

            fn visit_str<E: Error>(self, line: &str) -> Result<Grid, E> {
                Grid::from_line(line).map_err(E::custom)
            }
        }

        deserializer.deserialize_str(Line)
    }
}

/// A unit: its kind, and its index from 0.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub struct Place {
    kind: Kind,
    index: u8,
}

#[derive(Debug, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Row,
    Column,
    Box,
}

impl From<Unit> for Place {
    fn from(unit: Unit) -> Self {
        let kind = match unit {
            Unit::Row(_) => Kind::Row,
            Unit::Column(_) => Kind::Column,
            Unit::Box(_) => Kind::Box,
        };
        Self {
            kind,
            index: unit.index(),
        }
    }
}

impl TryFrom<Place> for Unit {
    type Error = &'static str;

    fn try_from(place: Place) -> Result<Self, Self::Error> {
        if place.index > 8 {
            return Err("the index of a unit is 0 to 8");
        }
        Ok(match place.kind {
            Kind::Row => Self::Row(place.index),
            Kind::Column => Self::Column(place.index),
            Kind::Box => Self::Box(place.index),
        })
    }
}

/// A conflict that has not been looked at.
#[derive(Debug, serde::Deserialize)]
pub struct Repeated {
    digit: u8,
    unit: Unit,
    cells: Vec<u8>,
}

impl TryFrom<Repeated> for Conflict {
    type Error = &'static str;

    fn try_from(Repeated { digit, unit, cells }: Repeated) -> Result<Self, Self::Error> {
        if !(1..=9).contains(&digit) {
            return Err("a digit is 1 to 9");
        }
        if cells.iter().any(|&cell| cell > 80) {
            return Err("a cell is 0 to 80");
        }
        Ok(Self { digit, unit, cells })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_is_refused() {
        let refused = |text: &str, reason: &str| {
            let error = serde_json::from_str::<Conflict>(text).unwrap_err().to_string();
            assert!(error.starts_with(reason), "{error}");
        };
        refused(
            r#"{"digit":0,"unit":{"kind":"row","index":0},"cells":[]}"#,
            "a digit is",
        );
        refused(
            r#"{"digit":1,"unit":{"kind":"row","index":9},"cells":[]}"#,
            "the index",
        );
        refused(
            r#"{"digit":1,"unit":{"kind":"box","index":8},"cells":[81]}"#,
            "a cell is",
        );
        let error = serde_json::from_str::<Grid>("\"12\"").unwrap_err().to_string();
        assert!(error.starts_with("2 cells, need 81"), "{error}");
        assert!(serde_json::from_str::<Grid>("12").is_err());
    }
}
