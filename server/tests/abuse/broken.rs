//! Clients that break off, and what is no client at all.

use futures_util::future::join_all;
use test_support::http2::{DATA, PREFACE, SOLVE, SOLVE_MANY, beginning_with_window, call, frame, request};
use test_support::puzzles::PUZZLE;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::victim::{Victim, harder};

/// Numbers that are as good as random, and the same each time.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn bytes(&mut self, most: u64) -> Vec<u8> {
        let count = self.next() % most;
        (0..count).map(|_| self.next() as u8).collect()
    }

    /// Frames of all kinds, streams and flags, with nonsense in them.
    fn frames(&mut self) -> Vec<u8> {
        let count = self.next() % 20;
        (0..count)
            .flat_map(|_| {
                let (kind, flags, stream) = (self.next() % 11, self.next(), self.next() % 8);
                frame(kind as u8, flags as u8, stream as u32, &self.bytes(200))
            })
            .collect()
    }
}

#[tokio::test]
async fn random_bytes() {
    let mut victim = Victim::start(&["--handshake-timeout=500ms"]).await;
    let address = victim.server.address;
    let mut random = Random(0x5eed);
    let abuse = async {
        for _ in 0..200 * harder() {
            // From the first byte, after the preface, and after a call has begun.
            let bytes = [
                random.bytes(2_000),
                [PREFACE, &random.frames()].concat(),
                [
                    beginning_with_window(65_535),
                    call(1, SOLVE_MANY),
                    random.frames(),
                ]
                .concat(),
            ];
            let connections = bytes.iter().map(async |bytes| {
                let mut stream = TcpStream::connect(address).await.unwrap();
                // It may be hung up on while it sends.
                let _ = stream.write_all(bytes).await;
                let _ = stream.shutdown().await;
            });
            join_all(connections).await;
        }
    };
    victim.suffers("random bytes", abuse).await;
    assert!(victim.rejected("not_http2") > 0.0);
    victim.recovers("random bytes").await;
}

#[tokio::test]
async fn clients_that_vanish_in_mid_message() {
    let mut victim = Victim::start(&[]).await;
    let address = victim.server.address;
    let request = request(PUZZLE).repeat(100);
    let abuse = async {
        for number in 0..100 * harder() {
            let (path, whole) = match number % 2 {
                0 => (SOLVE, 0),
                _ => (SOLVE_MANY, 16_384.min(number * 37)),
            };
            let mut stream = TcpStream::connect(address).await.unwrap();
            // In the middle of a message, and at times of a frame.
            let last = frame(DATA, 0, 1, &request[whole % 91..][..60]);
            let bytes = [
                beginning_with_window(65_535),
                call(1, path),
                frame(DATA, 0, 1, &request[..whole % request.len()]),
                last[..last.len() - number % 40].to_vec(),
            ];
            stream.write_all(&bytes.concat()).await.unwrap();
            if number % 3 == 0 {
                // Without a word: what the server still sends is answered with a reset.
                stream.set_zero_linger().unwrap();
            }
        }
    };
    victim.suffers("clients that vanish", abuse).await;
    victim.recovers("clients that vanish").await;
}
