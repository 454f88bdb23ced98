//! Finding lanes for second children: moves of many lanes at once.

use super::exchange::{MOVES, Move};
use super::lanes::Lanes;
use crate::arch::Kernel;

/// Moves that bring lanes of `from` into lanes of `into`, each lane once: up to [`MOVES`] of them, found greedily, the
/// one that moves most first.
pub(super) struct Matching {
    pub(super) from: Lanes,
    pub(super) into: Lanes,
}

/// What a matching came to.
pub(super) struct Matched {
    pub(super) moves: [Move; MOVES],
    pub(super) moving: usize,
    /// The lanes that were not moved.
    pub(super) left: Lanes,
}

impl Kernel for Matching {
    type Output = Matched;

    #[inline(always)]
    fn run(self) -> Matched {
        let (mut from, mut into) = (self.from.0, self.into.0);
        let mut matched = Matched {
            moves: [Move::NONE; MOVES],
            moving: 0,
            left: self.from,
        };
        while matched.moving < MOVES && from != [0; 4] && into != [0; 4] {
            let mut step = Move::NONE;
            step.words = best_words(&from, &into);
            for word in 0..4 {
                let source = (word + 4 - step.words) % 4;
                if from[source] == 0 || into[word] == 0 {
                    continue;
                }
                let bits = best_bits(from[source], into[word]);
                let arrived = from[source].rotate_left(bits) & into[word];
                into[word] &= !arrived;
                from[source] &= !arrived.rotate_right(bits);
                step.bits[word] = bits as u8;
                step.into.0[word] = arrived;
            }
            if step.into.is_empty() {
                break;
            }
            matched.moves[matched.moving] = step;
            matched.moving += 1;
        }
        matched.left = Lanes(from);
        matched
    }
}

/// By how many words to turn so that as many lanes as possible face a free one.
#[inline(always)]
fn best_words(from: &[u64; 4], into: &[u64; 4]) -> usize {
    let (mut best, mut most) = (0, 0);
    for by in 0..4 {
        let mut pairs = 0;
        for word in 0..4 {
            pairs += from[word].count_ones().min(into[(word + by) % 4].count_ones());
        }
        if pairs > most {
            (best, most) = (by, pairs);
        }
    }
    best
}

/// By how many bits to turn a word so that as many lanes as possible land on a free one: at least one does.
#[inline(always)]
fn best_bits(from: u64, into: u64) -> u32 {
    let mut score = [0_u64; 64];
    for (bits, score) in score.iter_mut().enumerate() {
        *score = u64::from((from.rotate_left(bits as u32) & into).count_ones()) << 8 | (63 - bits as u64);
    }
    let best = score.iter().fold(0, |best, &score| best.max(score));
    63 - (best & 0xff) as u32
}
