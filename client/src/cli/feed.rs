//! Reads the sources on a thread of its own and hands the puzzles out in chunks: to the solver, and to the writer,
//! which needs to know what each answer belongs to.
//!
//! What has been read goes out before the next read, which may block. So a file goes out a buffer at a time, a line
//! typed at a terminal at once, and there is neither a timer nor a wait for a chunk to fill.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};

use anyhow::{Context as _, anyhow};
use sudoku_client::Puzzle;
use sudoku_engine::Grid;
use sudoku_engine::text::{ParseError, ParseErrorKind, Reader};
use tokio::sync::mpsc;
use tokio_stream::Stream;

use super::entry::Entry;
use super::source::Source;
use super::table::{Column, Table};
use super::unpack::{self, Archive, Packing};

/// Bytes a read asks for: some 3,200 puzzles, more than what a message to the service holds.
const BUFFER: usize = 256 << 10;

/// The most entries in a chunk. Only lines far shorter than a puzzle get there.
const CHUNK: usize = 4096;

/// The most chunks that wait for the solver, and for the writer.
const WAITING: usize = 8;

/// Entries that were read together.
#[derive(Debug)]
struct Chunk {
    /// The source's name, where there are several sources to tell apart.
    source: Option<Arc<str>>,
    entries: Vec<Entry>,
}

/// Starts to read `sources`, one after the other: their text, or a column of it.
pub fn start(sources: Vec<Source>, column: Option<Column>) -> (Puzzles, Records, BytesRead) {
    let (to_solver, puzzles) = mpsc::channel(WAITING);
    let (to_writer, records) = mpsc::channel(WAITING);
    let read = BytesRead::default();
    let feed = Feed {
        column,
        several: Cell::new(sources.len() > 1),
        source: RefCell::default(),
        entries: RefCell::default(),
        to_writer,
        to_solver,
        read: read.clone(),
    };
    // Not one of the runtime's threads: those are waited for at the end, and a read from a terminal has none.
    std::thread::spawn(move || feed.run(sources));
    (Puzzles::new(puzzles), Records::new(records), read)
}

/// The reading end.
struct Feed {
    column: Option<Column>,
    /// Whether there is more than one text, so that an error must name its own.
    several: Cell<bool>,
    source: RefCell<Option<Arc<str>>>,
    entries: RefCell<Vec<Entry>>,
    to_writer: mpsc::Sender<anyhow::Result<Arc<Chunk>>>,
    to_solver: mpsc::Sender<Arc<Chunk>>,
    read: BytesRead,
}

/// Why reading ends before the sources do.
enum Stop {
    /// Nobody takes the puzzles any more: the run has ended in another way.
    Gone,
    Unreadable(anyhow::Error),
}

impl Feed {
    fn run(self, sources: Vec<Source>) {
        let unreadable = match self.read_all(&sources) {
            Err(Stop::Unreadable(error)) => error,
            Ok(()) | Err(Stop::Gone) => return,
        };
        // What was read before it is still worth an answer.
        if self.hand_over().is_ok() {
            let _ = self.to_writer.blocking_send(Err(unreadable));
        }
    }

    fn read_all(&self, sources: &[Source]) -> Result<(), Stop> {
        for source in sources {
            let name = source.name();
            match source {
                Source::Puzzle(grid) => self.add(Ok(*grid))?,
                Source::File(path) => self.read_file(&name, path)?,
                Source::Stdin => self.read_stream(&name, io::stdin().lock())?,
            }
        }
        self.hand_over()
    }

    fn read_file(&self, name: &str, path: &Path) -> Result<(), Stop> {
        let unreadable = |error| unreadable(name, error);
        let tap = self.tap(File::open(path).map_err(unreadable)?);
        let (packing, seen) = unpack::look(tap, BUFFER).map_err(unreadable)?;
        Packing::check_name(packing, path).map_err(unreadable)?;
        if packing == Some(Packing::Zip) {
            return self.read_archive(name, seen.into_inner().1);
        }
        let packed = BufReader::with_capacity(BUFFER, seen);
        self.read(name, unpack::text(packing, packed).map_err(unreadable)?)
    }

    fn read_archive(&self, name: &str, file: impl Read + Seek) -> Result<(), Stop> {
        let mut archive = Archive::open(file).map_err(|error| unreadable(name, error))?;
        let files = archive.files().map_err(|error| unreadable(name, error))?;
        self.several.set(self.several.get() || files.len() > 1);
        if files.is_empty() {
            return self.read(name, io::empty());
        }
        for file in files {
            let inner = file.name().map_err(|error| unreadable(name, error))?;
            let name = format!("{name}/{inner}");
            let unreadable = |error| unreadable(&name, error);
            let content = archive.unpack(file).map_err(unreadable)?;
            let (packing, seen) = unpack::look(content, BUFFER).map_err(unreadable)?;
            Packing::check_name(packing, Path::new(&inner)).map_err(unreadable)?;
            if packing == Some(Packing::Zip) {
                let reason = "it is an archive inside an archive".to_owned();
                return Err(unreadable(unpack::invalid(reason)));
            }
            let packed = BufReader::with_capacity(BUFFER, seen);
            self.read(&name, unpack::text(packing, packed).map_err(unreadable)?)?;
        }
        Ok(())
    }

    fn read_stream(&self, name: &str, stream: impl Read) -> Result<(), Stop> {
        let unreadable = |error| unreadable(name, error);
        let (packing, seen) = unpack::look(self.tap(stream), BUFFER).map_err(unreadable)?;
        let packed = BufReader::with_capacity(BUFFER, seen);
        self.read(name, unpack::text(packing, packed).map_err(unreadable)?)
    }

    /// Reads the puzzles of one text.
    fn read(&self, name: &str, text: impl Read) -> Result<(), Stop> {
        self.hand_over()?;
        self.source.replace(self.several.get().then(|| Arc::from(name)));
        let text = BufReader::with_capacity(BUFFER, text);
        match &self.column {
            None => self.add_puzzles(name, Reader::new(text))?,
            Some(column) => {
                let table = Table::new(text, column.clone()).map_err(|error| unreadable(name, error))?;
                self.add_all(name, table)?;
            }
        }
        self.hand_over()?;
        self.source.take();
        Ok(())
    }

    fn add_puzzles(&self, name: &str, mut puzzles: Reader<impl BufRead>) -> Result<(), Stop> {
        let unreadable = |error| unreadable(name, error);
        while let Some(entry) = puzzles.next() {
            let entry = entry.map_err(unreadable)?;
            self.add_read(name, entry.map_err(|error| Box::new(error.into())))?;
            while self.add_plain(&mut puzzles).map_err(unreadable)? {
                self.hand_over()?;
            }
        }
        Ok(())
    }

    /// Adds puzzles that stand a line each, as nearly all do. Says whether the chunk is full.
    fn add_plain(&self, puzzles: &mut Reader<impl BufRead>) -> io::Result<bool> {
        let room = CHUNK - self.entries.borrow().len();
        // To read, the input hands over what is there. That happens before the first puzzle comes.
        let taken = puzzles.take_plain(room, |grid| self.entries.borrow_mut().push(Ok(grid)))?;
        Ok(taken == room)
    }

    fn add_all(&self, name: &str, entries: impl Iterator<Item = io::Result<Entry>>) -> Result<(), Stop> {
        for entry in entries {
            self.add_read(name, entry.map_err(|error| unreadable(name, error))?)?;
        }
        Ok(())
    }

    fn add_read(&self, name: &str, entry: Entry) -> Result<(), Stop> {
        match entry {
            // Among other sources this is an answer in its place. Alone, there is nothing to answer.
            Err(slip) if !self.several.get() && slip.is_barren() => {
                Err(Stop::Unreadable(anyhow!("{name}: {slip}")))
            }
            entry => self.add(entry),
        }
    }

    /// Watches an input.
    fn tap<R>(&self, inner: R) -> Tap<'_, R> {
        Tap {
            feed: self,
            inner,
            ended: Cell::new(false),
        }
    }

    fn add(&self, entry: Entry) -> Result<(), Stop> {
        let mut entries = self.entries.borrow_mut();
        entries.push(entry);
        if entries.len() < CHUNK {
            return Ok(());
        }
        drop(entries);
        self.hand_over()
    }

    /// Sends what has been read, first to the writer: whoever sees an answer can then rely on its record.
    fn hand_over(&self) -> Result<(), Stop> {
        let count = self.entries.borrow().len();
        if count == 0 {
            return Ok(());
        }
        // The next chunk is likely to be as large.
        let entries = self.entries.replace(Vec::with_capacity(count));
        let source = self.source.borrow().clone();
        let chunk = Arc::new(Chunk { source, entries });
        let record = Ok(Arc::clone(&chunk));
        self.to_writer.blocking_send(record).map_err(|_| Stop::Gone)?;
        self.to_solver.blocking_send(chunk).map_err(|_| Stop::Gone)
    }
}

/// The one puzzle of a text, which may be compressed.
///
/// # Errors
///
/// There is none, there are several, or what is there is none.
pub fn single(bytes: &[u8]) -> anyhow::Result<Grid> {
    let (packing, seen) = unpack::look(bytes, BUFFER)?;
    let text = BufReader::new(unpack::text(packing, BufReader::new(seen))?);
    let mut entries = Reader::new(text);
    let first = entries.next().context("no puzzle found")??;
    match entries.next().transpose()? {
        None => Ok(first?),
        Some(Ok(_)) => Err(ParseError::from(ParseErrorKind::Several).into()),
        Some(Err(error)) => Err(error.into()),
    }
}

fn unreadable(name: &str, error: io::Error) -> Stop {
    Stop::Unreadable(anyhow::Error::new(error).context(format!("cannot read {name}")))
}

/// A source, watched: hands over what has been read before it waits for more.
struct Tap<'a, R> {
    feed: &'a Feed,
    inner: R,
    /// A terminal can be read on after its end; an input has only one.
    ended: Cell<bool>,
}

impl<R: Read> Read for Tap<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.ended.get() || self.feed.hand_over().is_err() {
            return Ok(0);
        }
        let bytes = self.inner.read(buffer)?;
        self.ended.set(bytes == 0);
        self.feed.read.add(bytes);
        Ok(bytes)
    }
}

impl<R: Seek> Seek for Tap<'_, R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.ended.set(false);
        self.inner.seek(to)
    }
}

/// How many bytes of all sources have been read so far.
#[derive(Debug, Clone, Default)]
pub struct BytesRead(Arc<AtomicU64>);

impl BytesRead {
    fn add(&self, bytes: usize) {
        self.0.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The entries for the solver, in order. It ends early where a source cannot be read; [`Records::finish`] says so.
#[derive(Debug)]
pub struct Puzzles {
    chunks: mpsc::Receiver<Arc<Chunk>>,
    current: Option<Arc<Chunk>>,
    next: usize,
}

impl Puzzles {
    fn new(chunks: mpsc::Receiver<Arc<Chunk>>) -> Self {
        Self {
            chunks,
            current: None,
            next: 0,
        }
    }
}

impl Stream for Puzzles {
    type Item = Puzzle;

    #[inline]
    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if let Some(entry) = self
                .current
                .as_ref()
                .and_then(|chunk| chunk.entries.get(self.next))
            {
                let puzzle = to_solve(entry);
                self.next += 1;
                return Poll::Ready(Some(puzzle));
            }
            self.current = ready!(self.chunks.poll_recv(cx));
            self.next = 0;
            if self.current.is_none() {
                return Poll::Ready(None);
            }
        }
    }
}

/// An entry as the solver takes it.
fn to_solve(entry: &Entry) -> Puzzle {
    match entry {
        Ok(grid) => grid.into(),
        Err(slip) => Err::<Grid, _>(slip.error().clone()).into(),
    }
}

/// What an answer belongs to.
#[derive(Debug, Clone, Copy)]
pub struct Record<'a> {
    pub entry: &'a Entry,
    /// The name of its source, where there are several sources.
    pub source: Option<&'a str>,
}

/// The records for the writer, in order, one for each answer.
#[derive(Debug)]
pub struct Records {
    chunks: mpsc::Receiver<anyhow::Result<Arc<Chunk>>>,
    ahead: VecDeque<anyhow::Result<Arc<Chunk>>>,
    current: Option<Arc<Chunk>>,
    next: usize,
}

impl Records {
    fn new(chunks: mpsc::Receiver<anyhow::Result<Arc<Chunk>>>) -> Self {
        Self {
            chunks,
            ahead: VecDeque::new(),
            current: None,
            next: 0,
        }
    }

    /// Waits for the first `wanted` entries, or the end, and tells how many there are, as far as it knows: 0 for none.
    /// To be asked before the first record is taken.
    pub async fn ahead(&mut self, wanted: usize) -> usize {
        let known =
            |chunk: &anyhow::Result<Arc<Chunk>>| chunk.as_ref().map_or(0, |chunk| chunk.entries.len());
        let mut entries = self.ahead.iter().map(known).sum();
        while entries < wanted {
            let Some(chunk) = self.chunks.recv().await else {
                break;
            };
            entries += known(&chunk);
            self.ahead.push_back(chunk);
        }
        entries
    }

    /// The record of the next answer; `None` if nothing more was sent to the solver.
    pub fn next(&mut self) -> Option<Record<'_>> {
        if self
            .current
            .as_ref()
            .is_none_or(|chunk| self.next >= chunk.entries.len())
        {
            self.current = Some(self.receive()?.ok()?);
            self.next = 0;
        }
        let chunk = self.current.as_ref()?;
        let entry = chunk.entries.get(self.next)?;
        self.next += 1;
        Some(Record {
            entry,
            source: chunk.source.as_deref(),
        })
    }

    /// To be called when there are no more answers.
    ///
    /// # Errors
    ///
    /// The source that could not be read.
    pub fn finish(&mut self) -> anyhow::Result<()> {
        self.receive().map_or(Ok(()), |chunk| chunk.map(drop))
    }

    fn receive(&mut self) -> Option<anyhow::Result<Arc<Chunk>>> {
        self.ahead.pop_front().or_else(|| self.chunks.try_recv().ok())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tokio_stream::StreamExt;

    use super::*;

    const PUZZLE: &str = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79";

    /// A folder with files of these texts, and their sources.
    fn files(texts: &[&str]) -> (tempfile::TempDir, Vec<Source>) {
        let folder = tempfile::tempdir().unwrap();
        let sources = texts.iter().enumerate().map(|(number, text)| {
            let path = folder.path().join(number.to_string());
            fs::write(&path, text).unwrap();
            Source::File(path)
        });
        let sources = sources.collect();
        (folder, sources)
    }

    /// Takes everything as the solver and the writer do: an entry, then its record. Returns the names of the sources.
    async fn drain(puzzles: &mut Puzzles, records: &mut Records) -> Vec<Option<String>> {
        let mut sources = Vec::new();
        while let Some(puzzle) = puzzles.next().await {
            let record = records.next().expect("a record for each entry");
            assert_eq!(puzzle, to_solve(record.entry));
            sources.push(record.source.map(str::to_owned));
        }
        sources
    }

    #[tokio::test]
    async fn every_entry_has_its_record() {
        // More than one chunk holds, of puzzles and of short lines.
        let text = format!("{}{}", format!("{PUZZLE}\n").repeat(5_000), "12\n".repeat(5_000));
        let (_folder, sources) = files(&[&text]);
        let (mut puzzles, mut records, read) = start(sources, None);
        assert_eq!(drain(&mut puzzles, &mut records).await, vec![None; 10_000]);
        records.finish().unwrap();
        assert_eq!(read.get(), text.len() as u64);
    }

    #[tokio::test]
    async fn several_sources_are_told_apart() {
        let (_folder, mut sources) = files(&[PUZZLE, "# none"]);
        sources.insert(0, Source::Puzzle(Grid::EMPTY));
        let names: Vec<Option<String>> = sources.iter().map(|source| Some(source.name())).collect();
        let (mut puzzles, mut records, _) = start(sources, None);
        let seen = drain(&mut puzzles, &mut records).await;
        assert_eq!(seen[0], None);
        assert_eq!(seen[1..], names[1..]);
        records.finish().unwrap();
    }

    #[tokio::test]
    async fn what_cannot_be_read_comes_after_what_could() {
        let (folder, mut sources) = files(&[PUZZLE]);
        sources.push(Source::File(folder.path().join("missing")));
        sources.push(Source::Puzzle(Grid::EMPTY));
        let (mut puzzles, mut records, _) = start(sources, None);
        assert_eq!(drain(&mut puzzles, &mut records).await.len(), 1);
        assert!(
            records
                .finish()
                .unwrap_err()
                .to_string()
                .starts_with("cannot read ")
        );
    }

    #[tokio::test]
    async fn a_lone_source_without_a_puzzle_is_an_error_and_no_entry() {
        let (_folder, sources) = files(&["# none"]);
        let (mut puzzles, mut records, _) = start(sources, None);
        assert_eq!(records.ahead(1).await, 0);
        assert!(drain(&mut puzzles, &mut records).await.is_empty());
        assert!(
            records
                .finish()
                .unwrap_err()
                .to_string()
                .ends_with(": no puzzle found")
        );
    }

    #[tokio::test]
    async fn looking_ahead_takes_nothing_away() {
        let two = format!("{PUZZLE}\n{PUZZLE}\n");
        for (text, expected) in [(PUZZLE, 1), (&two, 2)] {
            let (_folder, sources) = files(&[text]);
            let (mut puzzles, mut records, _) = start(sources, None);
            assert!(records.ahead(1).await >= 1);
            assert_eq!(records.ahead(2).await, expected);
            assert_eq!(drain(&mut puzzles, &mut records).await.len(), expected);
            records.finish().unwrap();
        }
    }
}
