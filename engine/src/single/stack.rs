//! The states still to be looked at.

use super::state::State;
use super::vector::Vector;

/// The most states that a stack can hold.
///
/// Every state but the last is what a guess left behind, and what the guess said holds in all states after it. It gave a
/// cell with several candidates one of them, which can happen once for each cell; or it gave a digit in some box one row,
/// or one column, where it had more, which can happen twice for each digit and box.
const DEPTH: usize = 81 + 2 * 9 * 9 + 1;

/// States, the next one to look at last. Together they hold all solutions not yet found.
#[derive(Debug)]
pub(super) struct Stack {
    /// The states and, after them, others to write over.
    states: Vec<State>,
    len: usize,
}

impl Clone for Stack {
    /// The copy has all the memory that it needs, too.
    fn clone(&self) -> Self {
        let mut copy = Self::new();
        copy.states.clone_from(&self.states);
        copy.len = self.len;
        copy
    }
}

impl Stack {
    /// An empty stack with all the memory that it needs.
    pub(super) fn new() -> Self {
        let mut states = Vec::with_capacity(DEPTH);
        states.push(State::NONE);
        Self { states, len: 0 }
    }

    /// Makes it one state, which is to be written.
    pub(super) fn restart(&mut self) -> &mut State {
        self.len = 1;
        &mut self.states[0]
    }

    pub(super) fn clear(&mut self) {
        self.len = 0;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(super) fn states(&self) -> &[State] {
        &self.states[..self.len]
    }

    pub(super) fn states_mut(&mut self) -> &mut [State] {
        &mut self.states[..self.len]
    }

    pub(super) fn pop(&mut self) {
        self.len = self.len.saturating_sub(1);
    }

    /// Adds a copy of the last state, and gives both. The stack must not be empty.
    ///
    /// The last state has just been written, register by register, and is read as it was written: to read larger pieces
    /// would have to wait for the memory.
    #[inline(always)]
    pub(super) fn double<V: Vector>(&mut self, token: V::Token) -> (&mut State, &mut State) {
        if self.len == self.states.len() {
            self.states.push(State::NONE);
        }
        let (below, above) = self.states.split_at_mut(self.len);
        self.len += 1;
        let (state, copy) = (&mut below[below.len() - 1], &mut above[0]);
        for (places, copy) in state.places.iter().zip(&mut copy.places) {
            *copy = V::load(token, places).store();
        }
        copy.guessed = state.guessed;
        copy.changed = state.changed;
        (state, copy)
    }
}
