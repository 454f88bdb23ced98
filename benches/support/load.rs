//! Streams of messages, as fast as a server takes them and as cheap as a client can be.
//!
//! A client made with tonic would be the bottleneck. This one speaks HTTP/2 with `h2`: it sends slices of messages that were
//! encoded beforehand, and of the answers it reads no more than where each begins.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Instant;

use bytes::Bytes;
use h2::client::SendRequest;
use h2::{RecvStream, SendStream};
use http::{HeaderMap, Request};
use prost::Message;
use sudoku_engine::{Grid, Solution};
use sudoku_proto::v1::{Outcome, SolveManyRequest, SolveManyResponse};
use tokio::net::TcpStream;

use super::SOLVE_MANY;
use super::sets::{FRAME_HEAD, Frames};

/// The most bytes handed to the connection at a time.
const CHUNK: usize = 64 * 1024;

/// What the load has room for: enough that it never holds the server up.
const STREAM_WINDOW: u32 = 1024 * 1024;
const CONNECTION_WINDOW: u32 = 64 * 1024 * 1024;

/// What came back so far, over all streams of a load.
#[derive(Debug, Default)]
pub struct Tally {
    pub messages: Cell<u64>,
    /// How long messages took, in seconds, and how many took so long, while it is asked for.
    pub latencies: RefCell<Vec<(f64, u32)>>,
    pub timing: Cell<bool>,
}

impl Tally {
    pub fn add(&self, sent_at: Instant, now: Instant, count: u32) {
        self.messages.set(self.messages.get() + u64::from(count));
        if self.timing.get() {
            let took = (now - sent_at).as_secs_f64();
            self.latencies.borrow_mut().push((took, count));
        }
    }

    /// The time within which a part of the messages was answered.
    pub fn latency(&self, part: f64) -> f64 {
        let mut latencies = self.latencies.borrow().clone();
        latencies.sort_by(|a, b| a.0.total_cmp(&b.0));
        let total: u64 = latencies.iter().map(|&(_, count)| u64::from(count)).sum();
        let mut left = (total as f64 * part) as u64;
        for (took, count) in latencies {
            match left.checked_sub(count.into()) {
                Some(rest) => left = rest,
                None => return took,
            }
        }
        f64::NAN
    }
}

/// Opens a connection. It runs on the current `LocalSet`.
pub async fn connect(address: SocketAddr) -> io::Result<SendRequest<Bytes>> {
    let socket = TcpStream::connect(address).await?;
    socket.set_nodelay(true)?;
    let (client, connection) = h2::client::Builder::new()
        .initial_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        // A call that is answered stays on the books for a while.
        .initial_max_send_streams(100)
        .handshake(socket)
        .await
        .map_err(io::Error::other)?;
    tokio::task::spawn_local(connection);
    client.ready().await.map_err(io::Error::other)
}

/// The head of a gRPC request.
pub fn request(path: &str) -> Request<()> {
    Request::post(format!("http://localhost{path}"))
        .header("content-type", "application/grpc")
        .header("te", "trailers")
        .body(())
        .expect("the head is valid")
}

/// A stream under way.
pub struct StreamLoad {
    frames: Frames,
    sending: SendStream<Bytes>,
    receiving: RecvStream,
    /// The most messages that wait for their answers at a time.
    depth: usize,
    /// Where in the frames the next message is.
    position: usize,
    waiting: usize,
    /// When messages were sent, and how many.
    sent: VecDeque<(Instant, u32)>,
    counter: Counter,
    tally: Rc<Tally>,
}

impl StreamLoad {
    /// Opens a stream that keeps up to `depth` messages under way.
    pub async fn open(
        client: &SendRequest<Bytes>,
        frames: Frames,
        depth: usize,
        tally: Rc<Tally>,
    ) -> io::Result<Self> {
        let mut client = client.clone().ready().await.map_err(io::Error::other)?;
        let (response, sending) = client
            .send_request(request(SOLVE_MANY), false)
            .map_err(io::Error::other)?;
        let response = response.await.map_err(io::Error::other)?;
        refuse_error(response.headers())?;
        Ok(Self {
            frames,
            sending,
            receiving: response.into_body(),
            depth,
            position: 0,
            waiting: 0,
            sent: VecDeque::new(),
            counter: Counter::default(),
            tally,
        })
    }

    /// Sends and receives until the server ends the stream, which it is not asked to: an error.
    pub async fn run(mut self) -> io::Error {
        loop {
            if let Err(error) = self.fill() {
                return error;
            }
            match poll_fn(|cx| self.poll_chunk(cx)).await {
                Ok(chunk) => self.take(&chunk),
                Err(error) => return error,
            }
        }
    }

    /// Sends until `depth` messages wait.
    fn fill(&mut self) -> io::Result<()> {
        while self.waiting < self.depth {
            let to_end = (self.frames.bytes.len() - self.position) / self.frames.length;
            let most = (CHUNK / self.frames.length).max(1);
            let count = (self.depth - self.waiting).min(to_end).min(most);
            let end = self.position + count * self.frames.length;
            let slice = self.frames.bytes.slice(self.position..end);
            self.sending.send_data(slice, false).map_err(io::Error::other)?;
            self.sent.push_back((Instant::now(), count as u32));
            self.waiting += count;
            self.position = end % self.frames.bytes.len();
        }
        Ok(())
    }

    fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Bytes>> {
        self.receiving.poll_data(cx).map(|chunk| match chunk {
            Some(chunk) => chunk.map_err(io::Error::other),
            None => Err(io::ErrorKind::UnexpectedEof.into()),
        })
    }

    /// Counts the answers that a chunk completes.
    fn take(&mut self, chunk: &Bytes) {
        // It fails if the stream is over, and then the next chunk does not come.
        let _ = self.receiving.flow_control().release_capacity(chunk.len());
        let mut completed = self.counter.feed(chunk);
        self.waiting -= completed as usize;
        let now = Instant::now();
        while completed > 0
            && let Some((sent_at, count)) = self.sent.front_mut()
        {
            let of_these = completed.min(*count);
            self.tally.add(*sent_at, now, of_these);
            completed -= of_these;
            *count -= of_these;
            if *count == 0 {
                self.sent.pop_front();
            }
        }
    }
}

/// Counts messages by the lengths that stand before them.
#[derive(Debug, Default)]
struct Counter {
    head: [u8; FRAME_HEAD],
    head_len: usize,
    /// What is left of the message whose head is complete.
    body_left: usize,
}

impl Counter {
    fn feed(&mut self, mut chunk: &[u8]) -> u32 {
        let mut completed = 0;
        while !chunk.is_empty() {
            if self.head_len < FRAME_HEAD {
                let taken = chunk.len().min(FRAME_HEAD - self.head_len);
                self.head[self.head_len..self.head_len + taken].copy_from_slice(&chunk[..taken]);
                self.head_len += taken;
                chunk = &chunk[taken..];
                let [_, length @ ..] = self.head;
                self.body_left = u32::from_be_bytes(length) as usize;
                if self.head_len < FRAME_HEAD || self.body_left > 0 {
                    continue;
                }
            }
            let taken = chunk.len().min(self.body_left);
            chunk = &chunk[taken..];
            self.body_left -= taken;
            if self.body_left == 0 {
                completed += 1;
                self.head_len = 0;
            }
        }
        completed
    }
}

/// Sends a few messages and looks at every answer: what is measured is the right thing. An echo's puzzles come back as
/// they are.
pub async fn verify(client: &SendRequest<Bytes>, frames: &Frames, solves: bool) -> io::Result<()> {
    let mut client = client.clone().ready().await.map_err(io::Error::other)?;
    let (response, mut sending) = client
        .send_request(request(SOLVE_MANY), false)
        .map_err(io::Error::other)?;
    let count = (frames.bytes.len() / frames.length).min(10);
    let sent = frames.bytes.slice(..count * frames.length);
    sending.send_data(sent.clone(), true).map_err(io::Error::other)?;
    let mut receiving = response.await.map_err(io::Error::other)?.into_body();
    let mut received = Vec::new();
    while let Some(chunk) = receiving.data().await {
        let chunk = chunk.map_err(io::Error::other)?;
        receiving
            .flow_control()
            .release_capacity(chunk.len())
            .map_err(io::Error::other)?;
        received.extend_from_slice(&chunk);
    }
    if let Some(trailers) = receiving.trailers().await.map_err(io::Error::other)? {
        refuse_error(&trailers)?;
    }
    let (requests, responses) = (messages(&sent), messages(&received));
    if requests.len() != responses.len() {
        let (sent, came) = (requests.len(), responses.len());
        return Err(io::Error::other(format!("{came} answers to {sent} messages")));
    }
    for (request, response) in requests.into_iter().zip(responses) {
        let puzzles = SolveManyRequest::decode(request)
            .map_err(io::Error::other)?
            .puzzles;
        let results = SolveManyResponse::decode(response)
            .map_err(io::Error::other)?
            .results;
        let right = puzzles.len() == results.len()
            && puzzles.iter().zip(&results).all(|(puzzle, result)| {
                let [solution] = result.solutions.as_slice() else {
                    return false;
                };
                result.outcome() == Outcome::Unique && (!solves || is_solution(puzzle, solution))
            });
        if !right {
            return Err(io::Error::other("an answer is wrong"));
        }
    }
    Ok(())
}

fn is_solution(puzzle: &str, solution: &str) -> bool {
    let grids = Grid::from_line(puzzle).ok().zip(Grid::from_line(solution).ok());
    grids.is_some_and(|(puzzle, solution)| Solution::check(&puzzle, &solution).is_ok())
}

/// The messages in a body.
fn messages(mut body: &[u8]) -> Vec<&[u8]> {
    let mut messages = Vec::new();
    while let Some((head, rest)) = body.split_first_chunk::<FRAME_HEAD>() {
        let [_, length @ ..] = *head;
        let (message, rest) = rest.split_at((u32::from_be_bytes(length) as usize).min(rest.len()));
        messages.push(message);
        body = rest;
    }
    messages
}

/// An error, if these headers or trailers tell one.
pub fn refuse_error(headers: &HeaderMap) -> io::Result<()> {
    match headers.get("grpc-status") {
        Some(status) if status != "0" => Err(io::Error::other(format!("the server says {headers:?}"))),
        _ => Ok(()),
    }
}
