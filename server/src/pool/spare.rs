//! Batches that were answered, kept for the puzzles to come: their memory is in use all the time while streams run.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use sudoku_engine::batch::{Batch, Options};

/// How many are kept. With 256 puzzles each they take some 60 KiB.
const MOST: usize = 64;

/// The batches that nobody uses.
#[derive(Debug, Default)]
pub(super) struct Spare {
    batches: Mutex<Vec<Batch>>,
    next_key: AtomicU64,
}

impl Spare {
    /// An empty batch, with a key that no other has.
    pub fn take(&self, options: Options) -> Batch {
        let key = self.next_key.fetch_add(1, Ordering::Relaxed);
        let spare = self.batches.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let Some(mut batch) = spare else {
            return Batch::new(key, Vec::new(), options);
        };
        batch.clear(key, options);
        batch
    }

    /// Takes a batch back.
    pub fn give_back(&self, batch: Batch) {
        let mut batches = self.batches.lock().unwrap_or_else(PoisonError::into_inner);
        if batches.len() < MOST {
            batches.push(batch);
        }
    }
}

#[cfg(test)]
mod tests {
    use sudoku_engine::Grid;
    use sudoku_engine::batch::Limit;

    use super::*;

    #[test]
    fn what_is_given_back_comes_empty_and_with_the_options_asked_for() {
        let spare = Spare::default();
        let two = Options::default();
        let one = Options {
            limit: Limit::One,
            ..two
        };
        let mut batch = spare.take(two);
        batch.push(Grid::EMPTY);
        let key = batch.key();
        spare.give_back(batch);

        let again = spare.take(one);
        assert_eq!((again.options(), again.puzzles().len()), (one, 0));
        assert_ne!(again.key(), key);
        assert!(spare.batches.lock().unwrap().is_empty());
    }

    #[test]
    fn no_more_are_kept_than_so_many() {
        let spare = Spare::default();
        for key in 0..2 * MOST as u64 {
            spare.give_back(Batch::new(key, Vec::new(), Options::default()));
        }
        assert_eq!(spare.batches.lock().unwrap().len(), MOST);
    }
}
