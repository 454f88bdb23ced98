//! The answers of a stream, as the frames of its response carry them.

use bytes::Bytes;
use sudoku_proto::wire::ResultWriter;

use super::requests::HEAD;
use crate::packing::{self, Packing};
use crate::pool::Lost;

/// From how many bytes on answers leave though more are ready.
const FULL: usize = 64 << 10;

/// Answers that leave together.
#[derive(Debug)]
pub(super) struct Answers {
    packing: Packing,
    frame: Vec<u8>,
}

impl Answers {
    pub fn new(packing: Packing) -> Self {
        Self {
            packing,
            frame: Vec::new(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.frame.is_empty()
    }

    /// Whether what is there should leave before more is added.
    pub fn is_full(&self) -> bool {
        self.frame.len() >= FULL
    }

    /// Gives what is there.
    pub fn take(&mut self) -> Bytes {
        std::mem::take(&mut self.frame).into()
    }

    /// Adds an answer of `results` results, as `write` writes them.
    ///
    /// # Errors
    ///
    /// It is larger than a message may be.
    pub fn add(&mut self, results: usize, write: impl FnOnce(ResultWriter<'_>)) -> Result<(), Lost> {
        let start = self.frame.len();
        self.frame.extend_from_slice(&[0; HEAD]);
        let mut writer = ResultWriter::new(&mut self.frame);
        writer.reserve(results);
        write(writer);
        if self.packing == Packing::Gzip {
            let message = self.frame.split_off(start + HEAD);
            self.frame[start] = 1;
            packing::pack(&message, &mut self.frame);
        }
        let length = self.frame.len() - start - HEAD;
        let Ok(length) = u32::try_from(length) else {
            tracing::error!("an answer has {length} bytes, more than gRPC carries in a message");
            self.frame.truncate(start);
            return Err(Lost);
        };
        self.frame[start + 1..start + HEAD].copy_from_slice(&length.to_be_bytes());
        Ok(())
    }
}
