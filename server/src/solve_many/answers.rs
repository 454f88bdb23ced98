//! The answers of a stream, as the frames of its response carry them.

use bytes::Bytes;
use sudoku_proto::wire::ResultWriter;

use super::requests::HEAD;
use crate::packing::{self, Packing};
use crate::pool::Lost;

/// From how many bytes on, or as much work, answers leave though more are ready.
const FULL: usize = 64 << 10;

/// The results of usual size with which that is so, and those of the message that makes it so.
const MOST_TOGETHER: usize = 1_024;

/// Answers that leave together.
#[derive(Debug)]
pub(super) struct Answers {
    packing: Packing,
    frame: Vec<u8>,
    /// How much work the answers in it were, in bytes of answers that are not packed.
    written: usize,
}

impl Answers {
    pub fn new(packing: Packing) -> Self {
        Self {
            packing,
            frame: Vec::new(),
            written: 0,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.frame.is_empty()
    }

    /// Whether what is there should leave before more is added.
    pub fn is_full(&self) -> bool {
        self.written >= FULL
    }

    /// Gives what is there.
    pub fn take(&mut self) -> Bytes {
        self.written = 0;
        let mut frame = std::mem::take(&mut self.frame);
        // It may wait for long for a client that does not read, who is charged for its length alone.
        if frame.capacity() > 2 * frame.len() {
            frame.shrink_to_fit();
        }
        frame.into()
    }

    /// Drops what is there.
    pub fn clear(&mut self) {
        self.take();
    }

    /// Makes room for the first of so many results, as far as they leave together, even if each is a message.
    pub fn expect(&mut self, results: usize) {
        let results = results.min(MOST_TOGETHER);
        // What stands before a message takes less than a sixteenth of a result.
        ResultWriter::new(&mut self.frame).reserve(results + results.div_ceil(16));
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
        self.written += self.frame.len() - start;
        if self.packing == Packing::Gzip {
            let message = self.frame.split_off(start + HEAD);
            self.frame[start] = 1;
            self.written += packing::OVERHEAD;
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

#[cfg(test)]
mod tests {
    use sudoku_proto::v1::Outcome;

    use super::*;

    /// Adds an answer without solutions.
    fn add(answers: &mut Answers, results: usize) {
        let write = |mut writer: ResultWriter<'_>| {
            (0..results).for_each(|_| writer.push(Outcome::Unsolvable, 0, []));
        };
        answers.add(results, write).unwrap();
    }

    #[test]
    fn answers_that_wait_to_be_read_keep_no_more_room_than_they_need() {
        for packing in [Packing::None, Packing::Gzip] {
            let mut answers = Answers::new(packing);
            add(&mut answers, 2_000);
            assert!(!answers.is_empty());
            let frame = Vec::from(answers.take());
            assert!(frame.capacity() <= 2 * frame.len(), "{packing:?}");
            assert!(answers.is_empty());
        }
    }

    #[test]
    fn packed_answers_leave_after_no_more_work_than_others() {
        let messages = |packing, results| {
            let mut answers = Answers::new(packing);
            let count = (0..).take_while(|_| {
                add(&mut answers, results);
                !answers.is_full()
            });
            count.count()
        };
        assert!(messages(Packing::Gzip, 2_000) <= messages(Packing::None, 2_000));
        assert!(messages(Packing::Gzip, 1) < 20);
    }
}
