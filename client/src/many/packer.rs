//! Packs puzzles into batches: full ones when there are plenty, at once what is there when they trickle.

use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll};

use sudoku_proto::wire::PuzzleWriter;
use tokio::task::coop;
use tokio_stream::Stream;

use crate::{InvalidPuzzle, Puzzle};

/// Puzzles in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct Batch {
    /// Those to be sent, as they will be.
    pub(super) puzzles: PuzzleWriter,
    /// Those that are none, each with its index in the batch, ascending.
    pub(super) invalid: Vec<(usize, InvalidPuzzle)>,
}

impl Batch {
    fn with_capacity(puzzles: usize) -> Self {
        Self {
            puzzles: PuzzleWriter::with_capacity(puzzles),
            invalid: Vec::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.puzzles.len() + self.invalid.len()
    }

    #[inline(always)]
    fn push(&mut self, Puzzle(puzzle): Puzzle) {
        match puzzle {
            Ok(grid) => self.puzzles.push(&grid.to_line()),
            Err(invalid) => self.push_invalid(invalid),
        }
    }

    #[cold]
    fn push_invalid(&mut self, invalid: InvalidPuzzle) {
        self.invalid.push((self.len(), invalid));
    }
}

/// A packer of puzzles from whatever source.
pub(super) trait Pack: Send {
    /// The next batch: a full one, or what there is if the source has nothing more at this moment. `None` when the
    /// source has ended.
    ///
    /// With `hold` the batch is only filled and not handed out.
    fn poll_batch(&mut self, cx: &mut Context<'_>, hold: bool) -> Poll<Option<Batch>>;
}

/// Takes puzzles from a source and makes batches of them.
pub(super) struct Packer<S> {
    /// `None` once it has ended.
    source: Option<Pin<Box<S>>>,
    size: usize,
    batch: Batch,
    /// Whether the batch has grown since the source last had nothing.
    grown: bool,
}

impl<S: Stream> Packer<S> {
    /// Makes batches of at most `size` puzzles.
    pub(super) fn new(source: S, size: usize) -> Self {
        Self {
            source: Some(Box::pin(source)),
            size,
            batch: Batch::default(),
            grown: false,
        }
    }
}

impl<S: Stream<Item: Into<Puzzle>> + Send> Pack for Packer<S> {
    // Made for each kind of source, so that a puzzle takes no call that the compiler cannot look into.
    fn poll_batch(&mut self, cx: &mut Context<'_>, hold: bool) -> Poll<Option<Batch>> {
        while self.batch.len() < self.size {
            let Some(source) = &mut self.source else { break };
            match source.as_mut().poll_next(cx) {
                Poll::Ready(Some(puzzle)) => {
                    self.batch.push(puzzle.into());
                    self.grown = true;
                }
                Poll::Ready(None) => self.source = None,
                // A source may have paused only to let other tasks run, or its producer is one of them. So they run
                // once before this counts as all there is.
                Poll::Pending if mem::take(&mut self.grown) || !coop::has_budget_remaining() => {
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                Poll::Pending => break,
            }
        }
        if self.batch.len() == 0 && self.source.is_none() {
            return Poll::Ready(None);
        }
        if self.batch.len() == 0 || hold {
            return Poll::Pending;
        }
        self.grown = false;
        // The next one is likely to be as large.
        let next = Batch::with_capacity(self.batch.puzzles.len());
        Poll::Ready(Some(mem::replace(&mut self.batch, next)))
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::time::Duration;

    use sudoku_engine::{Grid, GridError};
    use tokio::sync::mpsc;
    use tokio::time::timeout;
    use tokio_stream::wrappers::ReceiverStream;

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(30);

    async fn next(packer: &mut impl Pack) -> Option<Batch> {
        timeout(PATIENCE, poll_fn(|cx| packer.poll_batch(cx, false)))
            .await
            .expect("the packer waits for ever")
    }

    async fn sizes(mut packer: impl Pack) -> Vec<usize> {
        let mut sizes = Vec::new();
        while let Some(batch) = next(&mut packer).await {
            sizes.push(batch.len());
        }
        sizes
    }

    fn grids(count: usize) -> Vec<Puzzle> {
        vec![Grid::EMPTY.into(); count]
    }

    #[tokio::test]
    async fn plenty_makes_full_batches() {
        let source = tokio_stream::iter(grids(2_500));
        assert_eq!(sizes(Packer::new(source, 1_000)).await, [1_000, 1_000, 500]);
    }

    #[tokio::test]
    async fn a_producer_on_the_same_thread_makes_full_batches() {
        let (sender, receiver) = mpsc::channel(10);
        tokio::spawn(async move {
            for puzzle in grids(2_500) {
                sender.send(puzzle).await.unwrap();
            }
        });
        assert_eq!(
            sizes(Packer::new(ReceiverStream::new(receiver), 1_000)).await,
            [1_000, 1_000, 500]
        );
    }

    #[tokio::test]
    async fn a_lone_puzzle_leaves_while_the_source_waits() {
        let (sender, receiver) = mpsc::channel(1);
        let mut packer = Packer::new(ReceiverStream::new(receiver), 1_000);
        for _ in 0..3 {
            sender.send(Grid::EMPTY).await.unwrap();
            assert_eq!(next(&mut packer).await.map(|batch| batch.len()), Some(1));
        }
        drop(sender);
        assert!(next(&mut packer).await.is_none());
    }

    #[tokio::test]
    async fn a_held_batch_fills_up_and_stops_taking() {
        let (sender, receiver) = mpsc::channel(10);
        let mut packer = Packer::new(ReceiverStream::new(receiver), 4);
        for _ in 0..10 {
            sender.send(Grid::EMPTY).await.unwrap();
        }
        poll_fn(|cx| {
            assert!(packer.poll_batch(cx, true).is_pending());
            Poll::Ready(())
        })
        .await;
        assert_eq!(sender.capacity(), 4, "more was taken than a batch holds");
        assert_eq!(next(&mut packer).await.map(|batch| batch.len()), Some(4));
    }

    #[tokio::test]
    async fn errors_keep_their_place_and_are_not_sent() {
        let bad = || Puzzle::from(Err(GridError::Length { length: 3 }));
        let source = tokio_stream::iter([bad(), Grid::EMPTY.into(), bad(), bad(), Grid::EMPTY.into()]);
        let batch = next(&mut Packer::new(source, 5)).await.unwrap();
        let places: Vec<_> = batch.invalid.iter().map(|&(index, _)| index).collect();
        assert_eq!((places, batch.puzzles.len()), (vec![0, 2, 3], 2));
    }
}
