//! Unary calls, so many at once.

use std::io;
use std::rc::Rc;
use std::time::Instant;

use bytes::Bytes;
use h2::client::SendRequest;

use super::SOLVE;
use super::load::{Tally, refuse_error, request};

/// Makes one call after the other, with the frames from `start` on.
pub async fn calls(
    client: SendRequest<Bytes>,
    frames: Rc<Vec<Bytes>>,
    start: usize,
    tally: Rc<Tally>,
) -> io::Error {
    let mut client = client;
    for frame in frames.iter().cycle().skip(start % frames.len()) {
        let begin = Instant::now();
        client = match call(client, frame.clone()).await {
            Ok(client) => client,
            Err(error) => return error,
        };
        tally.add(begin, Instant::now(), 1);
    }
    unreachable!("the frames are cycled")
}

/// Makes a call. Gives the client back, ready for the next.
pub async fn call(client: SendRequest<Bytes>, frame: Bytes) -> io::Result<SendRequest<Bytes>> {
    let mut client = client.ready().await.map_err(io::Error::other)?;
    let (response, mut sending) = client
        .send_request(request(SOLVE), false)
        .map_err(io::Error::other)?;
    sending.send_data(frame, true).map_err(io::Error::other)?;
    let response = response.await.map_err(io::Error::other)?;
    refuse_error(response.headers())?;
    let mut body = response.into_body();
    while let Some(chunk) = body.data().await {
        let length = chunk.map_err(io::Error::other)?.len();
        body.flow_control()
            .release_capacity(length)
            .map_err(io::Error::other)?;
    }
    match body.trailers().await.map_err(io::Error::other)? {
        Some(trailers) => refuse_error(&trailers)?,
        None => return Err(io::ErrorKind::UnexpectedEof.into()),
    }
    Ok(client)
}
