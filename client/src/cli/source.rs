//! Where puzzles come from: what each argument of `solve` names.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use anyhow::{Context, bail, ensure};
use sudoku_engine::Grid;
use sudoku_engine::text::ParseError;

/// One argument: a puzzle, or something that holds puzzles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A puzzle, given in full.
    Puzzle(Grid),
    /// A file of puzzles.
    File(PathBuf),
    /// Standard input.
    Stdin,
}

impl Source {
    /// Tells what an argument names: `-` standard input, a text that reads as a grid a puzzle, any other a file.
    ///
    /// # Errors
    ///
    /// There is no such file, or it is a directory. Where the argument looks like a puzzle with a slip in it, the
    /// error says what is wrong with the puzzle.
    pub fn from_argument(argument: &OsStr) -> anyhow::Result<Self> {
        if argument == "-" {
            return Ok(Self::Stdin);
        }
        let not_a_puzzle = match argument.to_str().map(str::parse::<Grid>) {
            Some(Ok(grid)) => return Ok(Self::Puzzle(grid)),
            Some(Err(error)) => Some(error),
            None => None,
        };
        let path = PathBuf::from(argument);
        match path.metadata() {
            Ok(metadata) => {
                ensure!(
                    !metadata.is_dir(),
                    "{} is a directory, not a file of puzzles",
                    path.display()
                );
                Ok(Self::File(path))
            }
            Err(error) => {
                if let Some(reason) = not_a_puzzle.filter(ParseError::is_near_puzzle) {
                    bail!("{argument:?} is neither a file nor a puzzle: {reason}");
                }
                Err(error).with_context(|| format!("cannot read {}", path.display()))
            }
        }
    }

    /// How errors name it.
    pub fn name(&self) -> String {
        match self {
            Self::Puzzle(_) => "a puzzle of the command line".to_owned(),
            Self::File(path) => path.display().to_string(),
            Self::Stdin => "standard input".to_owned(),
        }
    }
}

/// Writes a puzzle whose first blank is a dash with dots, so that it is not taken for an option. Any other argument
/// stays as it is.
pub fn without_leading_dash(argument: OsString) -> OsString {
    match argument.to_str() {
        Some(text) if text.starts_with('-') => text
            .parse::<Grid>()
            .map_or(argument, |grid| grid.to_string().into()),
        _ => argument,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const PUZZLE: &str = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79";

    fn source(argument: impl AsRef<OsStr>) -> Result<Source, String> {
        Source::from_argument(argument.as_ref()).map_err(|error| format!("{error:#}"))
    }

    #[test]
    fn what_reads_as_a_grid_is_a_puzzle() {
        let grid = Grid::from_line(PUZZLE).unwrap();
        assert_eq!(source(PUZZLE), Ok(Source::Puzzle(grid)));
        assert_eq!(source(PUZZLE.replace('.', "0")), Ok(Source::Puzzle(grid)));
        assert_eq!(source(grid.pretty().to_string()), Ok(Source::Puzzle(grid)));
    }

    #[test]
    fn anything_else_is_a_file_that_must_be_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("puzzles.txt");
        assert!(source(&path).unwrap_err().starts_with("cannot read "));
        fs::write(&path, PUZZLE).unwrap();
        assert_eq!(source(&path), Ok(Source::File(path)));
        assert!(
            source(folder.path())
                .unwrap_err()
                .ends_with("is a directory, not a file of puzzles")
        );
    }

    #[test]
    fn a_puzzle_with_a_slip_is_told_from_a_file() {
        let error = source(&PUZZLE[1..]).unwrap_err();
        assert!(
            error.ends_with("is neither a file nor a puzzle: line 1: 80 cells, need 81"),
            "{error}"
        );
        assert!(source("2024-01-31.txt").unwrap_err().starts_with("cannot read "));
    }

    #[test]
    fn only_a_puzzle_loses_its_leading_dash() {
        let dashes = Grid::EMPTY.to_string().replace('.', "-");
        assert_eq!(without_leading_dash(dashes.into()), *Grid::EMPTY.to_string());
        for argument in ["-", "--", "-q", "--limit", "2", "-1"] {
            assert_eq!(without_leading_dash(argument.into()), argument);
        }
    }
}
