//! Moves of many lanes at once, and how to find them.
//!
//! Any permutation of lanes would need an operation for each bit. A rotation of words, and then of the bits in each word,
//! takes three operations for all lanes of a plane; a few of these, each applied to some of the lanes, bring nearly all
//! lanes that have to move to one that is free.

use super::lanes::Lanes;
use crate::arch::{Kernel, Simd, Vector};

/// How many different moves of lanes a pass can make.
pub(super) const MOVES: usize = 3;

/// A move of lanes to others: a rotation of the words, then one inside each word.
#[derive(Debug, Clone, Copy)]
pub(super) struct Move {
    /// By how many words: word `w` goes to word `(w + words) % 4`.
    pub(super) words: usize,
    /// By how many bits, 0 to 63 to the left, in each word of arrival.
    pub(super) bits: [u8; 4],
    /// The lanes of arrival that take what comes.
    pub(super) into: Lanes,
}

impl Move {
    pub(super) const NONE: Self = Self {
        words: 0,
        bits: [0; 4],
        into: Lanes::NONE,
    };

    /// The lane from which `lane` is reached.
    pub(super) fn source(&self, lane: usize) -> usize {
        let (word, bit) = (lane / 64, lane % 64);
        let from = (word + 4 - self.words) % 4;
        64 * from + (bit + 64 - usize::from(self.bits[word])) % 64
    }
}

/// A move as vectors.
#[derive(Clone, Copy)]
pub(super) struct Turn<V> {
    words: usize,
    left: V,
    right: V,
    into: V,
}

impl<V: Vector> Turn<V> {
    /// `to`, with what the move brings from `from`.
    #[inline(always)]
    pub(super) fn apply(&self, from: V, to: V) -> V {
        let moved = from.rotate_words(self.words).rotate_bits(self.left, self.right);
        V::select(self.into, moved, to)
    }
}

#[inline(always)]
pub(super) fn turns<S: Simd>(simd: S, moves: &[Move; MOVES]) -> [Turn<S::Vector>; MOVES] {
    [
        turn(simd, &moves[0]),
        turn(simd, &moves[1]),
        turn(simd, &moves[2]),
    ]
}

#[inline(always)]
fn turn<S: Simd>(simd: S, by: &Move) -> Turn<S::Vector> {
    let [a, b, c, d] = by.bits;
    let left = [u64::from(a), u64::from(b), u64::from(c), u64::from(d)];
    let right = [64 - left[0], 64 - left[1], 64 - left[2], 64 - left[3]];
    Turn {
        words: by.words,
        left: simd.load(&left),
        right: simd.load(&right),
        into: simd.load(&by.into.0),
    }
}

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

impl Matched {
    /// Every lane of a set to itself.
    pub(super) fn in_place(lanes: Lanes) -> Self {
        let mut matched = Self {
            moves: [Move::NONE; MOVES],
            moving: 1,
            left: Lanes::NONE,
        };
        matched.moves[0].into = lanes;
        matched
    }
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
