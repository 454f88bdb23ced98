//! What a connection writes in one go leaves together.
//!
//! HTTP/2 hands each of its frames to the socket by itself, and with TCP_NODELAY each is sent by itself, which costs the
//! kernel as much as a hundred easy puzzles cost the engine. So where a second write follows the first the socket is corked,
//! and once the connection's task has done what there is to do the cork is taken out again, which sends the rest at once.

use std::future::poll_fn;
use std::io::{self, IoSlice};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// A TCP stream that corks itself.
#[derive(Debug)]
pub(crate) struct CorkedStream(Arc<Mutex<Socket>>);

/// Takes the cork out of a [`CorkedStream`].
#[derive(Debug)]
pub(crate) struct Cork(Arc<Mutex<Socket>>);

#[derive(Debug)]
struct Socket {
    stream: TcpStream,
    /// Whether the connection's task has written, since it last waited.
    written: bool,
    corked: bool,
}

/// Lets a stream cork itself. It has to be used within [`Cork::drive`]: else what it writes may wait for 200 milliseconds.
pub(crate) fn cork(stream: TcpStream) -> (CorkedStream, Cork) {
    let socket = Arc::new(Mutex::new(Socket {
        stream,
        written: false,
        corked: false,
    }));
    (CorkedStream(Arc::clone(&socket)), Cork(socket))
}

impl Cork {
    /// Does what `connection` does, and sends what it has written whenever it waits.
    pub async fn drive<F: Future>(self, connection: F) -> F::Output {
        let mut connection = pin!(connection);
        poll_fn(|cx| {
            let poll = connection.as_mut().poll(cx);
            lock(&self.0).pause();
            poll
        })
        .await
    }
}

impl Socket {
    /// Something will be written.
    fn write(&mut self) -> Pin<&mut TcpStream> {
        // Most answers to single calls are one write, and would cost two system calls more.
        if self.written {
            self.set_corked(true);
        }
        self.written = true;
        Pin::new(&mut self.stream)
    }

    /// Nothing more will be written for now.
    fn pause(&mut self) {
        self.set_corked(false);
        self.written = false;
    }

    fn set_corked(&mut self, corked: bool) {
        if self.corked == corked {
            return;
        }
        self.corked = corked;
        // Elsewhere each write is sent by itself.
        #[cfg(target_os = "linux")]
        if let Err(error) = socket2::SockRef::from(&self.stream).set_tcp_cork(corked) {
            tracing::debug!(%error, "cannot set TCP_CORK");
        }
    }
}

/// Only the task of the connection uses the socket, so nobody waits here.
fn lock(socket: &Mutex<Socket>) -> MutexGuard<'_, Socket> {
    socket.lock().unwrap_or_else(PoisonError::into_inner)
}

impl AsyncRead for CorkedStream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut lock(&self.0).stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for CorkedStream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        lock(&self.0).write().poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        lock(&self.0).write().poll_write_vectored(cx, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        lock(&self.0).stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut lock(&self.0).stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut lock(&self.0).stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    async fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        (client, listener.accept().await.unwrap().0)
    }

    #[tokio::test]
    async fn what_is_written_leaves_when_its_writer_waits() {
        let (mut client, server) = pair().await;
        let (mut stream, cork) = cork(server);
        let echo = cork.drive(async move {
            let mut byte = [0];
            while stream.read_exact(&mut byte).await.is_ok() {
                stream.write_all(&byte).await.unwrap();
                stream.write_all(b"!").await.unwrap();
            }
            stream.shutdown().await.unwrap();
        });
        let echo = tokio::spawn(echo);
        for byte in 0..100 {
            client.write_all(&[byte]).await.unwrap();
            let mut answer = [0; 2];
            client.read_exact(&mut answer).await.unwrap();
            assert_eq!(answer, [byte, b'!']);
        }
        client.shutdown().await.unwrap();
        assert_eq!(client.read(&mut [0]).await.unwrap(), 0);
        echo.await.unwrap();
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn it_is_corked_from_the_second_write_until_its_task_waits() {
        let (_client, server) = pair().await;
        let (mut stream, cork) = cork(server);
        let socket = Arc::clone(&cork.0);
        let is_corked = move || socket2::SockRef::from(&lock(&socket).stream).tcp_cork().unwrap();
        let within = is_corked.clone();
        cork.drive(async move {
            assert!(!within());
            stream.write_all(b"a").await.unwrap();
            assert!(!within());
            stream.write_all(b"b").await.unwrap();
            assert!(within());
            tokio::task::yield_now().await;
            assert!(!within());
            stream.write_all(b"c").await.unwrap();
            stream.write_all(b"d").await.unwrap();
            assert!(within());
        })
        .await;
        assert!(!is_corked());
    }
}
