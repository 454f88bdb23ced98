//! How many messages a stream may have in flight.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Semaphore;

/// How many are taken from the stock at once, where there are as many. They are given back soon if no messages come.
const AT_ONCE: usize = 32;

/// A stream's share of the messages in flight.
///
/// It may always have one, so that streams that hold many cannot bring the others to a halt. Each further one is taken from
/// a stock that all streams share.
#[derive(Debug)]
pub(super) struct Window {
    size: usize,
    shared: Arc<Semaphore>,
    /// Those of all streams, and how many of this one are in it.
    gauge: Arc<AtomicUsize>,
    gauged: usize,
    /// How many are in flight.
    taken: usize,
    /// How many there is room for: those, one that is about to come, and some that were given back, kept for the next.
    reserved: usize,
}

impl Window {
    pub fn new(size: usize, shared: Arc<Semaphore>, gauge: Arc<AtomicUsize>) -> Self {
        Self {
            size,
            shared,
            gauge,
            gauged: 0,
            taken: 0,
            reserved: 0,
        }
    }

    /// The most that it may have.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Whether there is room for a further message.
    pub fn has_room(&mut self) -> bool {
        if self.taken >= self.size {
            return false;
        }
        if self.taken == self.reserved {
            self.reserve();
        }
        self.taken < self.reserved
    }

    /// Makes room for some more, if there is any in the stock.
    fn reserve(&mut self) {
        if self.reserved == 0 {
            self.reserved = 1;
            return;
        }
        for count in [AT_ONCE.min(self.size - self.reserved), 1] {
            if let Ok(permits) = self.shared.try_acquire_many(count as u32) {
                permits.forget();
                self.reserved += count;
                return;
            }
        }
    }

    /// Puts a message where there is room.
    pub fn take(&mut self) {
        self.taken += 1;
    }

    /// Messages are answered. Others have what they took once [`Window::settle`] is called.
    pub fn give_back(&mut self, count: usize) {
        self.taken -= count;
    }

    /// Gives to the stock what is not in use, and tells the gauge what is. Not message by message: threads that share a
    /// number wait for each other, for longer than small messages take.
    pub fn settle(&mut self) {
        match self.taken.checked_sub(self.gauged) {
            Some(more) => self.gauge.fetch_add(more, Ordering::Relaxed),
            None => self.gauge.fetch_sub(self.gauged - self.taken, Ordering::Relaxed),
        };
        self.gauged = self.taken;
        let of_stock = |count: usize| count.saturating_sub(1);
        let surplus = of_stock(self.reserved) - of_stock(self.taken);
        if surplus > 0 {
            self.shared.add_permits(surplus);
        }
        self.reserved = self.taken;
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        self.give_back(self.taken);
        self.settle();
    }
}
