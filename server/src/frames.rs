//! A look at the frames that a client sends, for what the HTTP/2 library leaves open: whether the client takes part in the
//! protocol at all, and whether it sends next to nothing in each frame.
//!
//! A frame that waits for its stream to be read costs some 300 bytes of memory however little it carries. The flow control
//! of HTTP/2 counts only what it carries, so frames of a byte could take 300 times the window.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncWrite, Join, ReadBuf, join};

/// A DATA frame with less than this is a tiny one, and what it lacks is held against the client. No message with a puzzle
/// is as small, also when a client sends the five bytes before a message in a frame of their own.
const TINY: u32 = 32;

/// What is forgiven for each call: two empty frames, and the five bytes of a message without content.
const FORGIVEN: u32 = 3 * TINY;

/// How much may be held against a client within this time: some 2,000 empty frames.
const MOST: u32 = 2_000 * TINY;
const PERIOD: Duration = Duration::from_secs(60);

const PREFACE_BYTES: usize = 24;
const HEADER_BYTES: usize = 9;

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const ACK: u8 = 1;
const PADDED: u8 = 8;

/// The most of a frame that may be padding, its length included (RFC 9113, section 6.1).
const MOST_PADDING: u32 = 256;

/// What was seen of a client.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    settled: AtomicBool,
    flooded: AtomicBool,
}

impl Seen {
    /// For a protocol without frames.
    pub fn settled_already() -> Self {
        Self {
            settled: AtomicBool::new(true),
            ..Self::default()
        }
    }

    /// Whether it has acknowledged our settings, as every client does at once.
    pub fn settled(&self) -> bool {
        self.settled.load(Ordering::Relaxed)
    }

    /// Whether it has sent too many tiny frames.
    pub fn flooded(&self) -> bool {
        self.flooded.load(Ordering::Relaxed)
    }
}

/// The reading half of a stream, whose frames are looked at as they are read. A flood is an error of reading, so that not
/// even what was read with it reaches the HTTP/2 library.
#[derive(Debug)]
pub(crate) struct Frames<T> {
    stream: T,
    watch: Watch,
    seen: Arc<Seen>,
}

#[derive(Debug)]
struct Watch {
    /// How many bytes come before the next header.
    skip: usize,
    header: [u8; HEADER_BYTES],
    /// How many bytes of the header are there.
    filled: usize,
    held: u32,
    since: Instant,
}

/// Too many tiny frames.
#[derive(Debug, PartialEq, Eq)]
struct Flood;

impl<T: AsyncRead + Unpin> Frames<T> {
    /// Looks at the frames of a stream that begins with the preface.
    pub fn watch<W: AsyncWrite>(stream: Join<T, W>) -> (Join<Self, W>, Arc<Seen>) {
        let (stream, sink) = stream.into_inner();
        let seen = Arc::<Seen>::default();
        let frames = Self {
            stream,
            watch: Watch::new(),
            seen: Arc::clone(&seen),
        };
        (join(frames, sink), seen)
    }
}

impl Watch {
    fn new() -> Self {
        Self {
            skip: PREFACE_BYTES,
            header: [0; HEADER_BYTES],
            filled: 0,
            held: 0,
            since: Instant::now(),
        }
    }

    fn read(&mut self, mut bytes: &[u8], seen: &Seen) -> Result<(), Flood> {
        loop {
            let skipped = self.skip.min(bytes.len());
            self.skip -= skipped;
            bytes = &bytes[skipped..];
            if bytes.is_empty() {
                return Ok(());
            }
            let count = (HEADER_BYTES - self.filled).min(bytes.len());
            self.header[self.filled..self.filled + count].copy_from_slice(&bytes[..count]);
            self.filled += count;
            bytes = &bytes[count..];
            if self.filled < HEADER_BYTES {
                return Ok(());
            }
            self.filled = 0;
            self.frame(seen)?;
        }
    }

    fn frame(&mut self, seen: &Seen) -> Result<(), Flood> {
        let [a, b, c, kind, flags, ..] = self.header;
        let length = u32::from_be_bytes([0, a, b, c]);
        self.skip = length as usize;
        match kind {
            DATA => self.data(match flags & PADDED {
                0 => length,
                // As much of it as cannot be padding, which costs no window.
                _ => length.saturating_sub(MOST_PADDING),
            }),
            HEADERS => {
                self.held = self.held.saturating_sub(FORGIVEN);
                Ok(())
            }
            SETTINGS if flags & ACK != 0 => {
                seen.settled.store(true, Ordering::Relaxed);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// A DATA frame that carries so many bytes.
    fn data(&mut self, carried: u32) -> Result<(), Flood> {
        match carried.checked_sub(TINY) {
            None => self.hold(TINY - carried),
            Some(more) => {
                self.held = self.held.saturating_sub(more);
                Ok(())
            }
        }
    }

    fn hold(&mut self, lack: u32) -> Result<(), Flood> {
        self.held += lack;
        if self.held <= MOST {
            return Ok(());
        }
        if self.since.elapsed() < PERIOD {
            return Err(Flood);
        }
        self.held = 0;
        self.since = Instant::now();
        Ok(())
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Frames<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let before = buffer.filled().len();
        let read = Pin::new(&mut this.stream).poll_read(cx, buffer);
        let bytes = &buffer.filled()[before..];
        if this.watch.read(bytes, &this.seen) == Err(Flood) {
            this.seen.flooded.store(true, Ordering::Relaxed);
            return Poll::Ready(Err(io::Error::other("too many tiny frames")));
        }
        read
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(kind: u8, flags: u8, length: usize) -> Vec<u8> {
        let [_, a, b, c] = (length as u32).to_be_bytes();
        let mut frame = vec![a, b, c, kind, flags, 0, 0, 0, 1];
        frame.resize(HEADER_BYTES + length, b'x');
        frame
    }

    /// Reads frames in pieces of so many bytes.
    fn read(frames: &[Vec<u8>], piece: usize) -> (Result<(), Flood>, Seen) {
        let mut bytes = vec![b'p'; PREFACE_BYTES];
        bytes.extend(frames.concat());
        let seen = Seen::default();
        let mut watch = Watch::new();
        let end = bytes.chunks(piece).try_for_each(|piece| watch.read(piece, &seen));
        (end, seen)
    }

    #[test]
    fn an_acknowledgement_is_seen_however_the_bytes_come() {
        let sent = [
            frame(SETTINGS, 0, 18),
            frame(HEADERS, 4, 40),
            frame(SETTINGS, ACK, 0),
        ];
        for piece in [1, 2, 7, 24, 1_000] {
            let (end, seen) = read(&sent, piece);
            assert_eq!(end, Ok(()));
            assert!(seen.settled(), "in pieces of {piece}");
            assert!(!read(&sent[..2], piece).1.settled());
        }
    }

    #[test]
    fn tiny_frames_are_a_flood() {
        for length in [0, 1, 10] {
            let (end, _) = read(&vec![frame(DATA, 0, length); 3_000], 4_096);
            assert_eq!(end, Err(Flood), "of {length} bytes");
        }
    }

    #[test]
    fn padding_makes_no_frame_larger() {
        let (end, _) = read(&vec![frame(DATA, PADDED, 200); 3_000], 4_096);
        assert_eq!(end, Err(Flood));
        assert_eq!(read(&vec![frame(DATA, PADDED, 500); 10_000], 4_096).0, Ok(()));
    }

    #[test]
    fn what_clients_do_is_no_flood() {
        // A puzzle a message, in one frame or with the five bytes before it apart.
        let whole = vec![frame(DATA, 0, 88)];
        let split = vec![frame(DATA, 0, 5), frame(DATA, 0, 83)];
        // Health checks: headers, an empty message, and the end.
        let check = vec![frame(HEADERS, 4, 50), frame(DATA, 0, 5), frame(DATA, 1, 0)];
        for pattern in [whole, split, check] {
            let many: Vec<_> = std::iter::repeat_n(pattern, 10_000).flatten().collect();
            assert_eq!(read(&many, 16_384).0, Ok(()));
        }
    }
}
