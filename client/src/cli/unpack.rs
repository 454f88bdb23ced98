//! Compressed files. What a file holds decides, not its name: a name only makes a promise that must be kept.
//!
//! Everything is unpacked as a stream, so a small file that unpacks to very much takes time and no memory.

use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, Cursor, Read, Seek, SeekFrom};
use std::path::Path;

use flate2::bufread::GzDecoder;
use zip::read::{Config, ZipFileEntry, ZipReadOptions};
use zip::unstable::read::ZipIterable;

/// A way in which a file is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packing {
    Gzip,
    Zstd,
    Zip,
}

/// How each packing's name ends, what people call it, and how its content begins.
const KNOWN: [(Packing, &str, &str, &[&[u8]]); 3] = [
    (Packing::Gzip, "gz", "gzip", &[b"\x1f\x8b"]),
    (Packing::Zstd, "zst", "zstd", &[b"\x28\xb5\x2f\xfd"]),
    (Packing::Zip, "zip", "zip", &[b"PK\x03\x04", b"PK\x05\x06"]),
];

impl Packing {
    /// The packing of what begins with `head`; `None` if that is text, or too short to tell.
    pub fn of(head: &[u8]) -> Option<Self> {
        if is_skippable_frame(head) && head.len() >= 4 {
            return Some(Self::Zstd);
        }
        let found = KNOWN
            .iter()
            .find(|(.., marks)| marks.iter().any(|mark| head.starts_with(mark)));
        found.map(|(packing, ..)| *packing)
    }

    /// Checks that a file is what its name says, where that says something.
    ///
    /// # Errors
    ///
    /// It is not compressed, and should be.
    pub fn check_name(packing: Option<Self>, path: &Path) -> io::Result<()> {
        let promised = KNOWN.iter().find(|(_, ending, ..)| {
            path.extension()
                .is_some_and(|e| e.eq_ignore_ascii_case(OsStr::new(ending)))
        });
        match promised {
            Some((_, _, name, _)) if packing.is_none() => {
                Err(invalid(format!("it is not {name}, as its name says")))
            }
            _ => Ok(()),
        }
    }
}

/// Zstandard allows frames before the data that hold something else; some programs write them.
fn is_skippable_frame(head: &[u8]) -> bool {
    let mark = [0x50, 0x2a, 0x4d, 0x18];
    let matches = |(at, &byte): (usize, &u8)| match at {
        0 => byte & 0xf0 == mark[0],
        _ => byte == mark[at],
    };
    head.iter().take(4).enumerate().all(matches)
}

/// Whether more bytes could make `head` the beginning of something compressed.
fn is_undecided(head: &[u8]) -> bool {
    let marks = KNOWN.iter().flat_map(|(.., marks)| marks.iter());
    let mut begun = marks.filter(|mark| mark.len() > head.len() && mark.starts_with(head));
    begun.next().is_some() || (head.len() < 4 && is_skippable_frame(head))
}

/// An input whose beginning has been looked at.
pub type Seen<R> = io::Chain<Cursor<Vec<u8>>, R>;

/// Reads the beginning of `input`, and only as much as it takes to tell how it is packed, in reads of `buffer` bytes.
pub fn look<R: Read>(mut input: R, buffer: usize) -> io::Result<(Option<Packing>, Seen<R>)> {
    let mut head = vec![0; buffer];
    let mut length = 0;
    while length < 4 && (length == 0 || is_undecided(&head[..length])) {
        match input.read(&mut head[length..]) {
            Ok(0) => break,
            Ok(bytes) => length += bytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    head.truncate(length);
    Ok((Packing::of(&head), Cursor::new(head).chain(input)))
}

/// The text in a stream that is packed as gzip or zstd, or not at all. Both may consist of several parts, one after the
/// other. A stream of zstd that wants a window of more than 128 MiB is refused.
///
/// # Errors
///
/// A zip archive has its list of files at its end, so it cannot be read as a stream.
pub fn text<'a>(packing: Option<Packing>, packed: impl BufRead + 'a) -> io::Result<Box<dyn Read + 'a>> {
    Ok(match packing {
        None => Box::new(packed),
        Some(Packing::Gzip) => Box::new(Gzip::new(packed)),
        Some(Packing::Zstd) => Box::new(zstd::Decoder::with_buffer(packed)?),
        Some(Packing::Zip) => return Err(invalid("a zip archive must be a file, not a stream".to_owned())),
    })
}

/// The parts of a gzip stream, one after the other. Zeros between and behind them are padding, which tapes and block
/// devices leave.
struct Gzip<R>(Option<GzDecoder<R>>);

impl<R: BufRead> Gzip<R> {
    fn new(packed: R) -> Self {
        Self(Some(GzDecoder::new(packed)))
    }
}

impl<R: BufRead> Read for Gzip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(part) = &mut self.0 {
            let bytes = part.read(buffer)?;
            if bytes > 0 || buffer.is_empty() {
                return Ok(bytes);
            }
            let packed = part.get_mut();
            if skip_zeros(packed)? {
                return Ok(0);
            }
            self.0 = self.0.take().map(|part| GzDecoder::new(part.into_inner()));
        }
        Ok(0)
    }
}

/// Skips zeros, and tells whether nothing else follows.
fn skip_zeros(text: &mut impl BufRead) -> io::Result<bool> {
    loop {
        let available = text.fill_buf()?;
        if available.is_empty() {
            return Ok(true);
        }
        let zeros = available.iter().take_while(|&&byte| byte == 0).count();
        let ended = zeros < available.len();
        text.consume(zeros);
        if ended {
            return Ok(false);
        }
    }
}

/// The files of a zip archive. Two of them may have the same name.
pub struct Archive<R>(ZipIterable<BufReader<R>>);

/// A file of an archive.
pub struct Packed(ZipFileEntry<'static>);

impl Packed {
    /// Its name.
    ///
    /// # Errors
    ///
    /// It is damaged.
    pub fn name(&self) -> io::Result<String> {
        Ok(self.0.name()?.into_owned())
    }
}

impl<R: Read + Seek> Archive<R> {
    /// Finds the list of its files.
    ///
    /// # Errors
    ///
    /// It is damaged, or cannot be read at any place.
    pub fn open(mut file: R) -> io::Result<Self> {
        file.seek(SeekFrom::Start(0))?;
        Ok(Self(ZipIterable::try_new(
            BufReader::new(file),
            Config::default(),
        )?))
    }

    /// Each file with content of its own, in the archive's order. Folders are left out, and the attributes that macOS keeps
    /// beside the files.
    ///
    /// # Errors
    ///
    /// The list is damaged.
    pub fn files(&mut self) -> io::Result<Vec<Packed>> {
        let mut files = Vec::new();
        for entry in self.0.files()? {
            let file = Packed(entry?);
            let name = file.name()?;
            if !name.ends_with('/') && !name.starts_with("__MACOSX/") {
                files.push(file);
            }
        }
        Ok(files)
    }

    /// What a file holds, which may be packed in turn.
    ///
    /// # Errors
    ///
    /// It is encrypted, or packed in a way that is not supported.
    pub fn unpack<'a>(&'a mut self, file: Packed) -> io::Result<impl Read + 'a> {
        let archive = self.0.files()?.reader_mut();
        Ok(file.0.with_reader(archive, ZipReadOptions::new())?)
    }
}

/// What is wrong with a file.
pub fn invalid(reason: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_tells_the_packing() {
        let cases: [(&[u8], Option<Packing>); 8] = [
            (b"\x1f\x8b\x08", Some(Packing::Gzip)),
            (b"\x28\xb5\x2f\xfd", Some(Packing::Zstd)),
            (b"\x5a\x2a\x4d\x18", Some(Packing::Zstd)),
            (b"PK\x03\x04", Some(Packing::Zip)),
            (b"PK", None),
            (b"(53", None),
            (b"", None),
            (b"53..7....6..195....98", None),
        ];
        for (head, packing) in cases {
            assert_eq!(Packing::of(head), packing, "{head:?}");
        }
    }

    /// Gives one byte a read.
    struct Slow<'a>(&'a [u8]);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let wanted = buffer.len().min(1);
            self.0.read(&mut buffer[..wanted])
        }
    }

    #[test]
    fn no_more_is_read_than_it_takes_to_tell() {
        let cases: [(&[u8], usize, Option<Packing>); 5] = [
            (b"5..", 1, None),
            (b"P5..", 2, None),
            (b"\x1f\x8b\x08\x00\x00", 2, Some(Packing::Gzip)),
            (b"\x5a\x2a\x4d\x18\x00", 4, Some(Packing::Zstd)),
            (b"(", 1, None),
        ];
        for (content, taken, packing) in cases {
            let (found, mut seen) = look(Slow(content), 8).unwrap();
            assert_eq!(
                (found, seen.get_ref().0.get_ref().len()),
                (packing, taken),
                "{content:?}"
            );
            let mut all = Vec::new();
            seen.read_to_end(&mut all).unwrap();
            assert_eq!(all, content);
        }
    }

    #[test]
    fn a_name_makes_a_promise() {
        assert!(Packing::check_name(None, Path::new("a.txt")).is_ok());
        assert!(Packing::check_name(Some(Packing::Gzip), Path::new("a.txt")).is_ok());
        assert!(Packing::check_name(Some(Packing::Zstd), Path::new("a.GZ")).is_ok());
        let error = Packing::check_name(None, Path::new("a.ZST")).unwrap_err();
        assert_eq!(error.to_string(), "it is not zstd, as its name says");
    }
}
