//! Values made of files, and made anew when the files change.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use sha2::{Digest, Sha256};

/// Why a file gives no certificate, key or tokens.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", path.display())]
pub struct FileError {
    path: PathBuf,
    problem: Problem,
}

impl FileError {
    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// What is wrong with a file. It says nothing of the file's content that is a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem(String);

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<io::Error> for Problem {
    fn from(error: io::Error) -> Self {
        Self(format!("cannot read the file: {error}"))
    }
}

impl Problem {
    pub fn content(problem: impl fmt::Display) -> Self {
        Self(problem.to_string())
    }
}

/// The content of files, or of one of them what is wrong with it: its index and the problem.
type Parsed<T> = Result<T, (usize, Problem)>;
type Parse<T> = Box<dyn Fn(&[Vec<u8>]) -> Parsed<T> + Send + Sync>;

/// A value that was made of files.
pub(crate) struct Watched<T> {
    files: Vec<PathBuf>,
    parse: Parse<T>,
    current: ArcSwap<T>,
    /// What the files were like when they were last looked at, whether or not that was any good: their digests, or why they
    /// could not be read.
    seen: Mutex<Result<Vec<[u8; 32]>, String>>,
}

impl<T> Watched<T> {
    /// Reads the files.
    pub fn load(
        files: Vec<PathBuf>,
        parse: impl Fn(&[Vec<u8>]) -> Parsed<T> + Send + Sync + 'static,
    ) -> Result<Self, FileError> {
        let contents = read(&files)?;
        let value = parse(&contents).map_err(|(index, problem)| blame(&files[index], problem))?;
        Ok(Self {
            parse: Box::new(parse),
            current: ArcSwap::from_pointee(value),
            seen: Mutex::new(Ok(contents.iter().map(digest).collect())),
            files,
        })
    }

    /// The value of the files as they were last good.
    pub fn current(&self) -> Arc<T> {
        self.current.load_full()
    }

    /// Reads the files if they are others than when they were last looked at. Says whether there is a new value; an error
    /// leaves the old one, and is told once, until the files change again.
    pub fn refresh(&self) -> Result<bool, FileError> {
        let contents = read(&self.files);
        let found = match &contents {
            Ok(contents) => Ok(contents.iter().map(digest).collect()),
            Err(error) => Err(error.to_string()),
        };
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if *seen == found {
            return Ok(false);
        }
        *seen = found;
        let contents = contents?;
        let value = (self.parse)(&contents).map_err(|(index, problem)| blame(&self.files[index], problem))?;
        self.current.store(Arc::new(value));
        Ok(true)
    }
}

impl<T> fmt::Debug for Watched<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Not the value: it holds secrets.
        f.debug_struct("Watched")
            .field("files", &self.files)
            .finish_non_exhaustive()
    }
}

fn read(files: &[PathBuf]) -> Result<Vec<Vec<u8>>, FileError> {
    files
        .iter()
        .map(|file| fs::read(file).map_err(|error| blame(file, error.into())))
        .collect()
}

fn digest(content: &Vec<u8>) -> [u8; 32] {
    Sha256::digest(content).into()
}

fn blame(path: &Path, problem: Problem) -> FileError {
    FileError {
        path: path.to_owned(),
        problem,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_file_leaves_the_value_and_is_told_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("number");
        let number = |contents: &[Vec<u8>]| {
            let text = String::from_utf8_lossy(&contents[0]).into_owned();
            text.parse::<u32>().map_err(|error| (0, Problem::content(error)))
        };
        fs::write(&path, "1").unwrap();
        let watched = Watched::load(vec![path.clone()], number).unwrap();
        assert!(!watched.refresh().unwrap());
        assert_eq!(*watched.current(), 1);

        fs::write(&path, "x").unwrap();
        let error = watched.refresh().unwrap_err().to_string();
        assert!(error.contains(path.to_str().unwrap()), "{error}");
        assert_eq!(*watched.current(), 1);
        assert!(!watched.refresh().unwrap(), "it is as broken as before");

        fs::write(&path, "2").unwrap();
        assert!(watched.refresh().unwrap());
        assert_eq!(*watched.current(), 2);
        fs::remove_file(&path).unwrap();
        let error = watched.refresh().unwrap_err().to_string();
        assert_eq!(error.matches("No such file").count(), 1, "{error}");
        assert!(!watched.refresh().unwrap(), "it is as gone as before");
        assert_eq!(*watched.current(), 2);
        fs::write(&path, "3").unwrap();
        assert!(watched.refresh().unwrap());
        assert_eq!(*watched.current(), 3);
    }
}
