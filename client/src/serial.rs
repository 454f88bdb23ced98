//! How serde writes what is no puzzle. All else says so where it is defined.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sudoku_engine::{Grid, GridError, ParseError};

use crate::{InvalidPuzzle, Puzzle};

/// What is written of an error: the text for people, and the error.
#[derive(Serialize)]
struct Written<'a> {
    message: String,
    error: Reason<&'a ParseError, &'a GridError>,
}

/// What is read of it.
#[derive(Deserialize)]
struct Read {
    error: Reason<ParseError, GridError>,
}

/// Why there is no puzzle. Owned where it is read, and borrowed where it is written.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Reason<P, G> {
    Text(P),
    Line(G),
    Refused {
        message: String,
        length: u32,
        position: Option<u32>,
    },
}

impl Serialize for InvalidPuzzle {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let error = match self {
            Self::Text(error) => Reason::Text(error),
            Self::Line(error) => Reason::Line(error),
            Self::Refused {
                message,
                length,
                position,
            } => Reason::Refused {
                message: message.clone(),
                length: *length,
                position: *position,
            },
        };
        let message = self.to_string();
        Written { message, error }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for InvalidPuzzle {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match Read::deserialize(deserializer)?.error {
            Reason::Text(error) => Self::Text(error),
            Reason::Line(error) => Self::Line(error),
            Reason::Refused {
                message,
                length,
                position,
            } => Self::Refused {
                message,
                length,
                position,
            },
        })
    }
}

impl Serialize for Puzzle {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Ok(grid) => grid.serialize(serializer),
            Err(invalid) => invalid.serialize(serializer),
        }
    }
}

/// A string that is no grid is an invalid puzzle, and no error: one bad puzzle must not keep the others from being read.
impl<'de> Deserialize<'de> for Puzzle {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "a puzzle, or what is wrong with one")]
        enum Either {
            Line(String),
            Invalid(InvalidPuzzle),
        }

        Ok(match Either::deserialize(deserializer)? {
            Either::Line(line) => Grid::from_line(&line).into(),
            Either::Invalid(invalid) => Self(Err(invalid)),
        })
    }
}
