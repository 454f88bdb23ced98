//! Where answers go: standard output, or a file that is never seen half written.

use std::fs::{self, File, TryLockError};
use std::io::{self, IsTerminal, Read, Seek, SeekFrom, Write};
use std::num::NonZeroU64;
use std::ops::Range;
#[cfg(unix)]
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail, ensure};
use same_file::Handle;
use tokio::task::block_in_place;

/// The output of a command.
#[derive(Debug)]
pub enum Output {
    /// Standard output.
    Stdout,
    /// What is there already and is no regular file, such as `/dev/null` or a named pipe: written in place.
    Device(Arc<File>),
    /// A file, written under another name until it is complete.
    File(Pending),
}

/// A file on its way: it is written as `FILE.partial`, and renamed to `FILE` by [`Output::commit`]. A run that fails or
/// is killed leaves what it has written in `FILE.partial`, and `FILE` as it was.
#[derive(Debug)]
pub struct Pending {
    file: Arc<File>,
    partial: PathBuf,
    path: PathBuf,
    /// Whether what an earlier run had left was removed.
    begun_anew: bool,
}

/// Writes to a file, and lets the system begin to bring it to the disk while more is written. Else all of it would be waited
/// for at the end.
#[derive(Debug)]
struct Forwarded {
    file: Arc<File>,
    /// Where the next byte goes, and up to where bytes are on their way.
    end: u64,
    forwarded: u64,
}

/// Writes to what may take its time, such as a pipe. The runtime's thread that waits leaves its other tasks to another one.
#[derive(Debug)]
struct Patient<W>(W);

impl<W: Write> Write for Patient<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        block_in_place(|| self.0.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        block_in_place(|| self.0.flush())
    }
}

/// After how many bytes they are brought to the disk.
const FORWARDED: u64 = 2 << 20;

impl Forwarded {
    fn new(file: &Arc<File>) -> Self {
        // Where it is not known nothing is lost but time.
        let end = (&**file).stream_position().unwrap_or_default();
        Self {
            file: Arc::clone(file),
            end,
            forwarded: end,
        }
    }
}

impl Write for Forwarded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.end += written as u64;
        if self.end - self.forwarded >= FORWARDED {
            begin_to_store(&self.file, self.forwarded..self.end);
            self.forwarded = self.end;
        }
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Says that a part of a file is not read soon: Linux then begins to write it, and waits for nothing.
#[cfg(target_os = "linux")]
fn begin_to_store(file: &File, part: Range<u64>) {
    // Only advice: whatever stays undone is done at the end.
    let length = NonZeroU64::new(part.end - part.start);
    let _ = rustix::fs::fadvise(file, part.start, length, rustix::fs::Advice::DontNeed);
}

#[cfg(not(target_os = "linux"))]
fn begin_to_store(_: &File, _: Range<u64>) {}

/// Whether it is a regular file.
#[cfg(unix)]
fn is_file(output: &impl AsFd) -> bool {
    let copy = output.as_fd().try_clone_to_owned().map(File::from);
    copy.and_then(|file| file.metadata())
        .is_ok_and(|found| found.is_file())
}

#[cfg(not(unix))]
fn is_file(_: &io::Stdout) -> bool {
    false
}

/// The name of a file while it is on its way.
pub fn partial(path: &Path) -> PathBuf {
    let mut partial = path.to_owned().into_os_string();
    partial.push(".partial");
    partial.into()
}

/// How many times a file is opened that others complete meanwhile.
const MOST_TRIES: usize = 10;

/// Opens a file and locks it. `None` if another has the lock, or completes the file each time.
fn open_locked(partial: &Path) -> io::Result<Option<File>> {
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(false);
    for _ in 0..MOST_TRIES {
        let file = options.open(partial)?;
        // A file system without locks is no reason to do nothing.
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            return Ok(None);
        }
        // Before it had the lock, the run that had may have given the file its last name.
        if is_at(&file, partial)? {
            return Ok(Some(file));
        }
    }
    Ok(None)
}

/// Whether the file is the one at this path.
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let file = Handle::from_file(file.try_clone()?)?;
    Ok(Handle::from_path(path).is_ok_and(|found| found == file))
}

impl Output {
    /// Opens the output: the named file, or standard output where none is named. With `resume` a file keeps what an
    /// earlier run has written.
    ///
    /// # Errors
    ///
    /// The file cannot be created, or another run is writing it; with `resume`, it can only be written in place.
    pub fn open(path: Option<&Path>, resume: bool) -> anyhow::Result<Self> {
        let Some(path) = path else {
            return Ok(Self::Stdout);
        };
        // The file behind a symbolic link is what gets replaced, not the link.
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        match fs::metadata(&path) {
            Ok(found) if found.is_dir() => bail!("cannot write {}: it is a directory", path.display()),
            Ok(found) if !found.is_file() => {
                ensure!(!resume, "cannot resume {}: it is no regular file", path.display());
                let file = File::options().write(true).open(&path);
                let file = file.with_context(|| format!("cannot write {}", path.display()))?;
                return Ok(Self::Device(Arc::new(file)));
            }
            _ => {}
        }
        let partial = partial(&path);
        let cannot = || format!("cannot write {}", partial.display());
        let file = open_locked(&partial)
            .with_context(cannot)?
            .with_context(|| format!("{}: another run is writing it", cannot()))?;
        let begun_anew = !resume && file.metadata().with_context(cannot)?.len() > 0;
        if begun_anew {
            file.set_len(0).with_context(cannot)?;
        }
        Ok(Self::File(Pending {
            file: Arc::new(file),
            partial,
            path,
            begun_anew,
        }))
    }

    /// A file that is on its way.
    pub fn pending(&self) -> Option<&Pending> {
        match self {
            Self::File(pending) => Some(pending),
            Self::Stdout | Self::Device(_) => None,
        }
    }

    /// Where to write.
    pub fn writer(&self) -> Box<dyn Write + Send> {
        match self {
            // Which takes no longer than any other file.
            Self::Stdout if is_file(&io::stdout()) => Box::new(io::stdout()),
            Self::Stdout => Box::new(Patient(io::stdout())),
            Self::Device(file) => Box::new(Patient(Arc::clone(file))),
            Self::File(pending) => Box::new(Forwarded::new(&pending.file)),
        }
    }

    /// Whether a person reads along.
    pub fn is_terminal(&self) -> bool {
        matches!(self, Self::Stdout) && io::stdout().is_terminal()
    }

    /// Whether it takes colours: a terminal that `NO_COLOR` and its like do not forbid, or anything that
    /// `CLICOLOR_FORCE` asks for, but never a file.
    pub fn takes_colours(&self) -> bool {
        matches!(self, Self::Stdout)
            && anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never
    }

    /// How many characters fit on a line: `COLUMNS` says it, or the terminal; `None` where answers go elsewhere.
    pub fn width(&self) -> Option<usize> {
        if !matches!(self, Self::Stdout) {
            return None;
        }
        let said = std::env::var("COLUMNS")
            .ok()
            .and_then(|columns| columns.parse().ok());
        let terminal = || terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| width.0.into());
        said.or_else(terminal).filter(|&width| width > 0)
    }

    /// Puts a complete file in its place. All its writers must be gone.
    ///
    /// # Errors
    ///
    /// The file cannot be written out or renamed.
    pub fn commit(self) -> anyhow::Result<()> {
        let Self::File(Pending {
            file, partial, path, ..
        }) = self
        else {
            return Ok(());
        };
        file.sync_all()
            .and_then(|()| fs::rename(&partial, &path))
            .with_context(|| format!("cannot write {}", path.display()))
    }

    /// Gives up: removes a file that is still empty, and tells where one that is not has been left.
    pub fn abandon(self) -> Option<PathBuf> {
        let Self::File(Pending { file, partial, .. }) = self else {
            return None;
        };
        if file.metadata().is_ok_and(|found| found.len() > 0) {
            return Some(partial);
        }
        let _ = fs::remove_file(&partial);
        None
    }
}

impl Pending {
    /// Whether what an earlier run had left was removed to make room.
    pub fn is_begun_anew(&self) -> bool {
        self.begun_anew
    }

    /// What has been written, from the beginning.
    pub fn written(&self) -> impl Read {
        Arc::clone(&self.file)
    }

    /// Cuts off all that follows the first `length` bytes. What is written next comes after them.
    pub fn cut(&self, length: u64) -> io::Result<()> {
        self.file.set_len(length)?;
        (&*self.file).seek(SeekFrom::Start(length)).map(drop)
    }

    /// The name of what has been written.
    pub fn name(&self) -> String {
        self.partial.display().to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(output: &Output, text: &str) {
        output.writer().write_all(text.as_bytes()).unwrap();
    }

    #[test]
    fn a_file_appears_only_when_it_is_complete() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("answers");
        fs::write(&path, "old").unwrap();
        let output = Output::open(Some(&path), false).unwrap();
        write(&output, "new");
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        output.commit().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    }

    #[test]
    fn a_failed_run_leaves_what_it_wrote_and_says_where() {
        let folder = tempfile::tempdir().unwrap();
        let output = Output::open(Some(&folder.path().join("answers")), false).unwrap();
        write(&output, "half");
        let left = output.abandon().unwrap();
        assert_eq!(left.file_name().unwrap(), "answers.partial");
        assert_eq!(fs::read_to_string(left).unwrap(), "half");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    }

    #[test]
    fn a_failed_run_that_wrote_nothing_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let output = Output::open(Some(&folder.path().join("answers")), false).unwrap();
        assert_eq!(output.abandon(), None);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_keeps_pointing_at_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("answers"), folder.path().join("link"));
        fs::write(&path, "old").unwrap();
        std::os::unix::fs::symlink(&path, &link).unwrap();
        let output = Output::open(Some(&link), false).unwrap();
        write(&output, "new");
        output.commit().unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
    }

    #[cfg(unix)]
    #[test]
    fn a_device_is_written_in_place() {
        let output = Output::open(Some(Path::new("/dev/null")), false).unwrap();
        write(&output, "gone");
        assert!(matches!(output, Output::Device(_)));
        output.commit().unwrap();
        assert!(!Path::new("/dev/null.partial").exists());
    }

    #[cfg(unix)]
    #[test]
    fn what_may_take_its_time_is_no_regular_file() {
        let folder = tempfile::tempdir().unwrap();
        assert!(is_file(&File::create(folder.path().join("answers")).unwrap()));
        assert!(!is_file(&File::options().write(true).open("/dev/null").unwrap()));
        assert!(!is_file(&io::pipe().unwrap().1));
    }

    #[test]
    fn a_long_file_is_brought_to_the_disk_meanwhile_and_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("answers");
        let output = Output::open(Some(&path), false).unwrap();
        let mut writer = output.writer();
        let block: Vec<u8> = (0..=255).cycle().take(1 << 20).collect();
        for _ in 0..20 {
            writer.write_all(&block).unwrap();
        }
        drop(writer);
        output.commit().unwrap();
        assert!(fs::read(&path).unwrap() == block.repeat(20));
    }

    #[test]
    fn a_file_is_written_by_one_run_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("answers");
        let first = Output::open(Some(&path), false).unwrap();
        write(&first, "first");
        for resume in [false, true] {
            let error = Output::open(Some(&path), resume).unwrap_err();
            assert!(
                error.to_string().ends_with(": another run is writing it"),
                "{error}"
            );
        }
        first.commit().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "first");
    }

    #[test]
    fn a_file_that_got_its_last_name_is_no_longer_the_one_on_its_way() {
        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (
            folder.path().join("answers.partial"),
            folder.path().join("answers"),
        );
        let file = File::create(&path).unwrap();
        assert!(is_at(&file, &path).unwrap());
        fs::rename(&path, &other).unwrap();
        assert!(!is_at(&file, &path).unwrap());
        File::create(&path).unwrap();
        assert!(!is_at(&file, &path).unwrap());
    }

    #[test]
    fn whoever_has_the_lock_has_the_file_on_its_way() {
        let folder = tempfile::tempdir().unwrap();
        let (path, complete) = (
            folder.path().join("answers.partial"),
            folder.path().join("answers"),
        );
        let run = || {
            let mut completed = 0;
            for _ in 0..2_000 {
                // With the lock nobody else renames it.
                if let Some(file) = open_locked(&path).unwrap() {
                    assert!(is_at(&file, &path).unwrap(), "it is complete already");
                    fs::rename(&path, &complete).unwrap();
                    completed += 1;
                }
            }
            completed
        };
        std::thread::scope(|scope| {
            let runs = [(); 3].map(|()| scope.spawn(run));
            let completed: u32 = runs.into_iter().map(|run| run.join().unwrap()).sum();
            assert!(completed > 0);
        });
    }

    #[test]
    fn a_resumed_file_goes_on_where_it_is_cut() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("answers");
        fs::write(folder.path().join("answers.partial"), "one\ntw").unwrap();
        let output = Output::open(Some(&path), true).unwrap();
        let mut before = String::new();
        output
            .pending()
            .unwrap()
            .written()
            .read_to_string(&mut before)
            .unwrap();
        assert_eq!(before, "one\ntw");
        output.pending().unwrap().cut(4).unwrap();
        write(&output, "three\n");
        output.commit().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "one\nthree\n");
    }
}
