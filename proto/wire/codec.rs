//! The codec as tonic takes it.

use std::marker::PhantomData;

use bytes::{Buf, BufMut};
use prost::DecodeError;
use tonic::Status;
use tonic::codec::{BufferSettings, DecodeBuf, EncodeBuf};

/// How much memory for outgoing frames is asked for at a time, and from how many bytes on they leave though more messages
/// are ready: room for several messages of 256 puzzles, so that adding one seldom moves those before it.
const BUFFER: usize = 64 << 10;

/// A message that can be sent.
pub trait Encode: Send + 'static {
    /// How many bytes [`encode`](Self::encode) writes.
    fn encoded_len(&self) -> usize;

    /// Writes the message, without anything around it.
    fn encode(&self, frame: &mut impl BufMut);
}

/// A message that can be received.
pub trait Decode: Sized + Send + 'static {
    /// Reads a message that takes all of `frame`. Where that is one piece of [`Bytes`](bytes::Bytes), nothing is copied.
    ///
    /// # Errors
    ///
    /// What `prost` has against the message. It accepts all that this does, and nothing else.
    fn decode(frame: impl Buf) -> Result<Self, DecodeError>;
}

/// Sends `T` and receives `U`.
#[derive(Debug, Clone)]
pub struct Codec<T, U> {
    messages: PhantomData<(T, U)>,
}

/// Writes messages into the frames that tonic sends.
#[derive(Debug, Clone)]
pub struct Encoder<T> {
    messages: PhantomData<T>,
}

/// Reads messages out of the frames that tonic received.
#[derive(Debug, Clone)]
pub struct Decoder<U> {
    messages: PhantomData<U>,
}

impl<T, U> Default for Codec<T, U> {
    fn default() -> Self {
        Self {
            messages: PhantomData,
        }
    }
}

impl<T: Encode, U: Decode> tonic::codec::Codec for Codec<T, U> {
    type Encode = T;
    type Decode = U;
    type Encoder = Encoder<T>;
    type Decoder = Decoder<U>;

    fn encoder(&mut self) -> Encoder<T> {
        Encoder {
            messages: PhantomData,
        }
    }

    fn decoder(&mut self) -> Decoder<U> {
        Decoder {
            messages: PhantomData,
        }
    }
}

impl<T: Encode> tonic::codec::Encoder for Encoder<T> {
    type Item = T;
    type Error = Status;

    fn encode(&mut self, message: T, frame: &mut EncodeBuf<'_>) -> Result<(), Status> {
        frame.reserve(message.encoded_len());
        message.encode(frame);
        Ok(())
    }

    fn buffer_settings(&self) -> BufferSettings {
        BufferSettings::new(BUFFER, BUFFER)
    }
}

impl<U: Decode> tonic::codec::Decoder for Decoder<U> {
    type Item = U;
    type Error = Status;

    fn decode(&mut self, frame: &mut DecodeBuf<'_>) -> Result<Option<U>, Status> {
        U::decode(frame)
            .map(Some)
            // As gRPC has it, and as the codec of the other methods does.
            .map_err(|error| Status::internal(error.to_string()))
    }
}
