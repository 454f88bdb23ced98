//! The first bytes of a connection: those that every HTTP/2 client sends.

use std::io::{self, Cursor};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, Chain, Join, ReadHalf, WriteHalf, join, split};

/// What every HTTP/2 client sends first (RFC 9113, section 3.4).
const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// What a client begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Preface {
    Http2,
    /// Something else, or nothing and the end.
    Other,
}

/// A stream whose first bytes were looked at, and are still to be read.
pub(crate) type Rewound<T> = Join<Chain<Cursor<Vec<u8>>, ReadHalf<T>>, WriteHalf<T>>;

/// Reads the first bytes, as many as it takes to tell. A client that sends fewer is waited for.
pub(crate) async fn read<T: AsyncRead + AsyncWrite>(stream: T) -> io::Result<(Preface, Rewound<T>)> {
    let (mut stream, sink) = split(stream);
    let mut first = [0; PREFACE.len()];
    let mut filled = 0;
    let preface = loop {
        if !PREFACE.starts_with(&first[..filled]) {
            break Preface::Other;
        }
        if filled == PREFACE.len() {
            break Preface::Http2;
        }
        match stream.read(&mut first[filled..]).await? {
            0 => break Preface::Other,
            count => filled += count,
        }
    };
    let first = Cursor::new(first[..filled].to_vec());
    Ok((preface, join(first.chain(stream), sink)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is seen of a client that sends these parts, and what is read of them afterwards.
    async fn check(parts: &[&[u8]], expected: Preface) {
        let (mut client, server) = tokio::io::duplex(64);
        let parts: Vec<Vec<u8>> = parts.iter().map(|part| part.to_vec()).collect();
        let sent = parts.concat();
        tokio::spawn(async move {
            for part in parts {
                tokio::io::AsyncWriteExt::write_all(&mut client, &part)
                    .await
                    .unwrap();
                tokio::task::yield_now().await;
            }
        });
        let (preface, mut rewound) = read(server).await.unwrap();
        assert_eq!(preface, expected);
        let mut all = Vec::new();
        rewound.read_to_end(&mut all).await.unwrap();
        assert_eq!(all, sent);
    }

    #[tokio::test]
    async fn what_was_looked_at_is_read_all_the_same() {
        check(&[PREFACE, b"more"], Preface::Http2).await;
        check(
            &[b"PRI", b" * HTTP/2.0\r\n\r\nS", b"M\r\n\r\nmore"],
            Preface::Http2,
        )
        .await;
        check(&[b"GET / HTTP/1.1\r\n\r\n"], Preface::Other).await;
        check(&[b"PRI * HTTP/2.0\r\n\r\nXX\r\n\r\nmore"], Preface::Other).await;
        check(&[b"PRI"], Preface::Other).await;
        check(&[], Preface::Other).await;
    }
}
