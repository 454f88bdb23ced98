//! What a stream of puzzles costs its client: packing grids, and unpacking outcomes.
//!
//! ```text
//! cargo bench -p sudoku-client --bench stream [-- FILTER]
//! ```
//!
//! The service is a recording, so that all that is timed is the SDK's, down to the frames of gRPC.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes, BytesMut};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use sudoku_client::{Grid, SudokuClient};
use sudoku_proto::v1::Outcome;
use sudoku_proto::wire::ResultWriter;
use tokio_stream::StreamExt;
use tonic::Status;
use tonic::codegen::{Body as HttpBody, Service, http};

const PUZZLES: usize = 100_000;
const PUZZLE: &str = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79";
const SOLUTION: &[u8; 81] =
    b"534678912672195348198342567859761423426853791713924856961537284287419635345286179";

/// What stands before each message: whether it is packed, and its length.
const PREFIX: usize = 5;

/// The bytes of a puzzle in its message.
const LINE: usize = 83;

/// Answers every puzzle with the same result, made beforehand.
#[derive(Clone)]
struct Recording {
    full: Bytes,
}

/// The answers to a body of requests.
struct Answers {
    requests: tonic::body::Body,
    received: BytesMut,
    full: Bytes,
    complete: bool,
}

/// The answer to a message of so many puzzles, in its frame.
fn answer(puzzles: usize) -> Bytes {
    let mut frame = vec![0; PREFIX];
    let mut results = ResultWriter::new(&mut frame);
    (0..puzzles).for_each(|_| results.push(Outcome::Unique, 1, [*SOLUTION]));
    let length = (frame.len() - PREFIX) as u32;
    frame[1..PREFIX].copy_from_slice(&length.to_be_bytes());
    frame.into()
}

impl Service<http::Request<tonic::body::Body>> for Recording {
    type Response = http::Response<tonic::body::Body>;
    type Error = Infallible;
    type Future = Ready<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<tonic::body::Body>) -> Self::Future {
        if request.uri().path().ends_with("GetServerInfo") {
            return ready(Ok(Status::unimplemented("").into_http()));
        }
        ready(Ok(http::Response::new(tonic::body::Body::new(Answers {
            requests: request.into_body(),
            received: BytesMut::new(),
            full: self.full.clone(),
            complete: false,
        }))))
    }
}

impl Answers {
    /// The number of puzzles in the next message, if it is there.
    fn next(&mut self) -> Option<usize> {
        let length = self.received.get(1..PREFIX)?.iter();
        let length = length.fold(0, |length, &byte| length << 8 | usize::from(byte));
        if self.received.len() < PREFIX + length {
            return None;
        }
        self.received.advance(PREFIX + length);
        Some(length / LINE)
    }
}

impl HttpBody for Answers {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<Bytes>, Status>>> {
        loop {
            if let Some(puzzles) = self.next() {
                let full = self.full.clone();
                let frame = match answer_len(puzzles) == full.len() {
                    true => full,
                    false => answer(puzzles),
                };
                return Poll::Ready(Some(Ok(http_body::Frame::data(frame))));
            }
            match ready!(Pin::new(&mut self.requests).poll_frame(cx)) {
                Some(frame) => {
                    let frame = frame?;
                    self.received
                        .extend_from_slice(frame.data_ref().expect("data, and no trailers"));
                }
                None if std::mem::replace(&mut self.complete, true) => return Poll::Ready(None),
                None => {
                    let mut trailers = http::HeaderMap::new();
                    Status::ok("").add_header(&mut trailers)?;
                    return Poll::Ready(Some(Ok(http_body::Frame::trailers(trailers))));
                }
            }
        }
    }
}

/// The length of [`answer`].
fn answer_len(puzzles: usize) -> usize {
    PREFIX + puzzles * (LINE + 6)
}

fn streams(c: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let puzzle = Grid::from_line(PUZZLE).expect("81 cells");
    let mut group = c.benchmark_group("stream");
    group.throughput(Throughput::Elements(PUZZLES as u64));
    group.bench_function("solve_iter", |b| {
        let client = SudokuClient::from_service(Recording { full: answer(2_048) });
        b.iter(|| {
            runtime.block_on(async {
                let mut outcomes = client.solve_iter(std::iter::repeat_n(puzzle, PUZZLES));
                let mut unique = 0;
                while let Some(outcome) = outcomes.next().await {
                    unique += usize::from(outcome.expect("an outcome").is_unique());
                }
                assert_eq!(unique, PUZZLES);
            });
        });
    });
    group.finish();
}

criterion_group!(benches, streams);
criterion_main!(benches);
