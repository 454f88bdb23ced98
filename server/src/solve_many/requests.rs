//! The messages of a stream, out of the body of its request.
//!
//! Before each message stand [five bytes](https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md): whether it is
//! packed, and its length. A message that came in one piece is read where it lies. That, and that none is kept, is why this
//! is not left to tonic.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::Body as _;
use sudoku_proto::wire::Puzzles;
use tonic::body::Body;

use crate::error::Error;
use crate::packing::{self, Packing};

/// What stands before a message.
pub(super) const HEAD: usize = 5;

/// Room that is kept for the next message. More is given back.
const KEPT: usize = 64 << 10;

/// The messages of a stream.
#[derive(Debug)]
pub(super) struct Requests {
    body: Body,
    /// The most bytes of a message.
    limit: u32,
    packing: Packing,
    /// What came last, and how much of it is read.
    chunk: Bytes,
    position: usize,
    /// A message, its head included, that comes in several pieces, as far as it is there.
    partial: Vec<u8>,
    /// Such a message that is complete.
    message: Vec<u8>,
    unpacked: Vec<u8>,
    /// How much work the last message was.
    work: usize,
}

/// Where a message is that is there.
enum Place {
    /// In the chunk, from here to there.
    Chunk(usize, usize),
    /// It is `message`.
    Pieces,
}

impl Requests {
    pub fn new(body: Body, packing: Packing, limit: u32) -> Self {
        Self {
            body,
            limit,
            packing,
            chunk: Bytes::new(),
            position: 0,
            partial: Vec::new(),
            message: Vec::new(),
            unpacked: Vec::new(),
            work: 0,
        }
    }

    /// How much work the last message was, in bytes of a message that was not packed.
    pub fn work(&self) -> usize {
        self.work
    }

    /// Gives the next message, and nothing after the last.
    ///
    /// # Errors
    ///
    /// What has come is no message that is taken, or the client is gone. It is not to be polled again then.
    pub fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Puzzles<'_>>, Error>> {
        let place = loop {
            if let Some(place) = self.whole()? {
                break place;
            }
            if !ready!(self.poll_chunk(cx))? {
                return Poll::Ready(match self.partial.is_empty() {
                    true => Ok(None),
                    false => Err(Error::malformed("the request ends within a message")),
                });
            }
        };
        let framed = match place {
            Place::Chunk(start, end) => &self.chunk[start..end],
            Place::Pieces => &self.message,
        };
        let (head, mut message) = framed.split_at(HEAD);
        self.work = 0;
        if head[0] != 0 {
            self.work = packing::OVERHEAD;
            packing::unpack(message, self.limit, &mut self.unpacked)?;
            message = &self.unpacked;
        }
        self.work += message.len();
        let puzzles = Puzzles::read(message).map_err(|error| Error::malformed(&error.to_string()))?;
        Poll::Ready(Ok(Some(puzzles)))
    }

    /// Finds the next message, if all of it is there.
    fn whole(&mut self) -> Result<Option<Place>, Error> {
        if !self.partial.is_empty() {
            return Ok(self.completed()?.then_some(Place::Pieces));
        }
        let rest = &self.chunk[self.position..];
        let Some(whole) = self.announced(rest)? else {
            return Ok(None);
        };
        if rest.len() < whole {
            return Ok(None);
        }
        let start = self.position;
        self.position += whole;
        Ok(Some(Place::Chunk(start, self.position)))
    }

    /// Adds to the message that comes in pieces what there is of it. Tells whether it is complete, and makes it `message`.
    fn completed(&mut self) -> Result<bool, Error> {
        self.add(HEAD);
        let Some(whole) = self.announced(&self.partial)? else {
            return Ok(false);
        };
        // What a message only claims to have is no reason to make room for it.
        self.partial
            .reserve(whole.min(KEPT).saturating_sub(self.partial.len()));
        self.add(whole);
        if self.partial.len() < whole {
            return Ok(false);
        }
        self.message.clear();
        std::mem::swap(&mut self.message, &mut self.partial);
        Ok(true)
    }

    /// Moves bytes from the chunk to `partial`, until that has so many.
    fn add(&mut self, bytes: usize) {
        let rest = &self.chunk[self.position..];
        let count = rest.len().min(bytes.saturating_sub(self.partial.len()));
        self.partial.extend_from_slice(&rest[..count]);
        self.position += count;
    }

    /// How long a message with its head is that begins with these bytes, if they are enough to tell.
    fn announced(&self, bytes: &[u8]) -> Result<Option<usize>, Error> {
        let Some(&[packed, ref length @ ..]) = bytes.first_chunk::<HEAD>() else {
            return Ok(None);
        };
        match (packed, self.packing) {
            (0, _) | (1, Packing::Gzip) => {}
            (1, Packing::None) => {
                return Err(Error::malformed(
                    "a message is packed, and the request names no grpc-encoding",
                ));
            }
            _ => return Err(Error::malformed("a message begins with neither 0 nor 1")),
        }
        let length = u32::from_be_bytes(*length);
        if length > self.limit {
            return Err(Error::MessageTooLarge { limit: self.limit });
        }
        Ok(Some(HEAD + length as usize))
    }

    /// Waits for more bytes. Tells whether some came, or all were there.
    fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Result<bool, Error>> {
        for buffer in [&mut self.message, &mut self.unpacked] {
            if buffer.capacity() > KEPT {
                *buffer = Vec::new();
            }
        }
        self.add(usize::MAX);
        // Not kept while the client is waited for.
        self.chunk = Bytes::new();
        self.position = 0;
        loop {
            match ready!(Pin::new(&mut self.body).poll_frame(cx)) {
                None => return Poll::Ready(Ok(false)),
                Some(Ok(frame)) => {
                    if let Ok(data) = frame.into_data() {
                        self.chunk = data;
                        return Poll::Ready(Ok(true));
                    }
                }
                Some(Err(status)) => {
                    let error = Error::of_tonic(&status, self.limit);
                    return Poll::Ready(Err(error.unwrap_or(Error::malformed(status.message()))));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::task::Waker;

    use http_body::Frame;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use prost::Message;
    use sudoku_proto::v1::SolveManyRequest;
    use tonic::Status;

    use super::*;

    const LIMIT: u32 = 2_000;

    /// A body of these pieces, each of which is there only when it is asked for a second time.
    #[derive(Debug)]
    struct Pieces {
        pieces: VecDeque<Result<Bytes, Status>>,
        ready: bool,
    }

    impl http_body::Body for Pieces {
        type Data = Bytes;
        type Error = Status;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
            self.ready = !self.ready;
            match self.ready {
                true => Poll::Pending,
                false => Poll::Ready(self.pieces.pop_front().map(|piece| piece.map(Frame::data))),
            }
        }
    }

    fn requests(pieces: impl IntoIterator<Item = Result<Bytes, Status>>, packing: Packing) -> Requests {
        let pieces = Pieces {
            pieces: pieces.into_iter().collect(),
            ready: false,
        };
        Requests::new(Body::new(pieces), packing, LIMIT)
    }

    /// Reads all messages, and how they end.
    fn read(mut requests: Requests) -> (Vec<Vec<String>>, Result<(), Error>) {
        let mut messages = Vec::new();
        loop {
            match requests.poll(&mut Context::from_waker(Waker::noop())) {
                Poll::Pending => {}
                Poll::Ready(Ok(None)) => return (messages, Ok(())),
                Poll::Ready(Ok(Some(message))) => messages.push(message.iter().map(str::to_owned).collect()),
                Poll::Ready(Err(error)) => return (messages, Err(error)),
            }
        }
    }

    fn read_bytes(bytes: &[u8]) -> (Vec<Vec<String>>, Result<(), Error>) {
        read(requests([Ok(Bytes::copy_from_slice(bytes))], Packing::None))
    }

    fn frame(packed: u8, message: &[u8]) -> Vec<u8> {
        let mut frame = vec![packed];
        frame.extend((message.len() as u32).to_be_bytes());
        frame.extend(message);
        frame
    }

    fn encoded(puzzles: &[String]) -> Vec<u8> {
        let puzzles = puzzles.to_vec();
        SolveManyRequest {
            puzzles,
            options: None,
        }
        .encode_to_vec()
    }

    /// Cuts bytes into pieces, some of them empty.
    fn cut(bytes: &[u8], places: &[prop::sample::Index]) -> Vec<Bytes> {
        let mut places: Vec<usize> = places.iter().map(|place| place.index(bytes.len() + 1)).collect();
        places.extend([0, bytes.len()]);
        places.sort_unstable();
        let piece = |ends: &[usize]| Bytes::copy_from_slice(&bytes[ends[0]..ends[1]]);
        places.windows(2).map(piece).collect()
    }

    fn messages() -> impl Strategy<Value = Vec<Vec<String>>> {
        let line = prop_oneof![8 => "[.0-9]{81}", 1 => "\\PC{0,20}"];
        vec(vec(line, 0..15), 0..8)
    }

    proptest! {
        #[test]
        fn messages_are_the_same_however_they_are_cut(
            messages in messages(),
            places in vec(any::<prop::sample::Index>(), 0..30),
            packed in any::<bool>(),
        ) {
            let mut bytes = Vec::new();
            for (index, puzzles) in messages.iter().enumerate() {
                let message = encoded(puzzles);
                // Not every message has to be packed where some are.
                if packed && index % 3 != 2 {
                    let mut small = Vec::new();
                    packing::pack(&message, &mut small);
                    bytes.extend(frame(1, &small));
                } else {
                    bytes.extend(frame(0, &message));
                }
            }
            let packing = if packed { Packing::Gzip } else { Packing::None };
            let pieces = cut(&bytes, &places).into_iter().map(Ok);
            prop_assert_eq!(read(requests(pieces, packing)), (messages, Ok(())));
        }

        #[test]
        fn what_ends_within_a_message_is_an_error(messages in messages(), end in any::<prop::sample::Index>()) {
            let frames: Vec<Vec<u8>> = messages.iter().map(|puzzles| frame(0, &encoded(puzzles))).collect();
            let bytes = frames.concat();
            let end = end.index(bytes.len() + 1);
            let mut whole = 0;
            let mut left = end;
            while let Some(frame) = frames.get(whole) && frame.len() <= left {
                left -= frame.len();
                whole += 1;
            }
            let (read, outcome) = read_bytes(&bytes[..end]);
            prop_assert_eq!(read, &messages[..whole]);
            prop_assert_eq!(outcome.is_err(), left > 0);
        }

        #[test]
        fn any_bytes_are_messages_or_an_error(bytes in vec(prop_oneof![6 => Just(0), 1 => 0..12_u8, 1 => any::<u8>()], 0..60)) {
            let (messages, end) = read_bytes(&bytes);
            prop_assert_eq!(end.is_ok().then_some(messages.len()), count(&bytes));
        }
    }

    /// How many messages there are, or nothing if there is anything else.
    fn count(mut bytes: &[u8]) -> Option<usize> {
        let mut count = 0;
        while !bytes.is_empty() {
            let (head, rest) = bytes.split_first_chunk::<HEAD>()?;
            let [0, length @ ..] = *head else {
                return None;
            };
            let (message, rest) = rest.split_at_checked(u32::from_be_bytes(length) as usize)?;
            SolveManyRequest::decode(message).ok()?;
            bytes = rest;
            count += 1;
        }
        Some(count)
    }

    #[test]
    fn a_message_has_at_most_the_bytes_of_the_limit() {
        let too_large = Err(Error::MessageTooLarge { limit: LIMIT });
        let text = |length: u32| vec!["x".repeat(length as usize)];
        // Three bytes stand before a text of this length.
        let largest = frame(0, &encoded(&text(LIMIT - 3)));
        assert_eq!(read_bytes(&largest), (vec![text(LIMIT - 3)], Ok(())));
        // More is refused as soon as it is announced.
        let larger = frame(0, &encoded(&text(LIMIT - 2)));
        assert_eq!(read_bytes(&larger[..HEAD]).1, too_large);

        let mut bomb = Vec::new();
        packing::pack(&vec![0; 1 << 20], &mut bomb);
        let bomb = Bytes::from(frame(1, &bomb));
        assert_eq!(read(requests([Ok(bomb)], Packing::Gzip)).1, too_large);
    }

    #[test]
    fn what_is_no_message_is_malformed() {
        for bytes in [frame(1, b""), frame(2, b""), frame(0, b"\x0a\x05")] {
            let (messages, end) = read_bytes(&[frame(0, b""), bytes].concat());
            assert_eq!(messages.len(), 1);
            assert!(matches!(end, Err(Error::Malformed(_))));
        }
        let mut packed = Vec::new();
        packing::pack(b"", &mut packed);
        let (_, end) = read_bytes(&frame(1, &packed));
        assert!(
            matches!(end, Err(Error::Malformed(_))),
            "nothing was said of packing"
        );
        let no_gzip = Bytes::from(frame(1, b"no gzip"));
        let (_, end) = read(requests([Ok(no_gzip)], Packing::Gzip));
        assert!(matches!(end, Err(Error::Malformed(_))));
    }

    #[test]
    fn a_packed_message_is_work_however_short_it_is() {
        let mut packed = Vec::new();
        packing::pack(b"", &mut packed);
        for (message, work) in [(frame(0, b""), 0), (frame(1, &packed), packing::OVERHEAD)] {
            let mut requests = requests([Ok(Bytes::from(message))], Packing::Gzip);
            let mut cx = Context::from_waker(Waker::noop());
            while requests.poll(&mut cx).is_pending() {}
            assert_eq!(requests.work(), work);
        }
    }

    #[test]
    fn a_body_that_breaks_off_says_why() {
        let whole = Bytes::from(frame(0, b""));
        let pieces = [Ok(whole), Err(Status::cancelled("gone"))];
        let (messages, end) = read(requests(pieces, Packing::None));
        assert_eq!(messages.len(), 1);
        assert_eq!(end, Err(Error::malformed("gone")));
    }

    #[test]
    fn a_long_message_keeps_no_room() {
        let mut requests = requests(
            [
                Ok(Bytes::from(frame(0, b"")).slice(..3)),
                Ok(Bytes::from_static(&[0, 0])),
            ],
            Packing::None,
        );
        requests.message = Vec::with_capacity(2 * KEPT);
        requests.unpacked = Vec::with_capacity(2 * KEPT);
        assert_eq!(read_capacity(&mut requests), 0);
    }

    fn read_capacity(requests: &mut Requests) -> usize {
        let mut cx = Context::from_waker(Waker::noop());
        while requests.poll(&mut cx).is_pending() {}
        requests.message.capacity().saturating_sub(KEPT) + requests.unpacked.capacity()
    }
}
