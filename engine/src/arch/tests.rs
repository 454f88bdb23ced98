//! Every operation of every instruction set, bit for bit against the portable one.

#[path = "../../tests/common/random.rs"]
mod random;

use super::portable::Portable;
use super::*;
use crate::isa::{Isa, Set};
use random::Random;

impl Random {
    fn words(&mut self) -> [u64; 4] {
        std::array::from_fn(|_| self.word())
    }
}

/// Every operation on three operands and a number, as words.
struct Operations<S> {
    simd: S,
    operands: [[u64; 4]; 3],
    number: usize,
}

impl<S: Simd> Kernel for Operations<S> {
    type Output = Vec<[u64; 4]>;

    #[inline(always)]
    fn run(self) -> Self::Output {
        let [a, b, c] = self.operands.map(|words| self.simd.load(&words));
        let counts = self.operands[1].map(|word| word % 64);
        let (left, right) = (
            self.simd.load(&counts),
            self.simd.load(&counts.map(|count| 64 - count)),
        );
        let results = [
            a & b,
            a | b,
            a ^ b,
            !a,
            self.simd.zero(),
            self.simd.ones(),
            a.and_not(b),
            a.shift_left::<7>(),
            a.shift_right::<28>(),
            a.rotate_bits(left, right),
            a.rotate_words(self.number),
            S::Vector::or3(a, b, c),
            S::Vector::and3(a, b, c),
            S::Vector::sum(a, b, c).0,
            S::Vector::sum(a, b, c).1,
            S::Vector::majority(a, b, c),
            S::Vector::select(a, b, c),
            a.or_and(b, c),
            a.or_and_not(b, c),
            a.and_not_both(b, c),
            a.and_neither(b, c),
        ];
        let mut words: Vec<_> = results.into_iter().map(Vector::words).collect();
        words.push([u64::from(a.is_zero()), u64::from((a & !a).is_zero()), 0, 0]);
        words
    }
}

fn operations(simd: impl Simd, operands: [[u64; 4]; 3], number: usize) -> Vec<[u64; 4]> {
    simd.run(Operations {
        simd,
        operands,
        number,
    })
}

/// Calls `check` with the token of every instruction set that this machine has.
macro_rules! for_every_isa {
    ($check:ident) => {
        for isa in Isa::available() {
            match isa.set() {
                Set::Portable => $check(Portable),
                #[cfg(all(feature = "simd", target_arch = "x86_64"))]
                Set::Avx2(token) | Set::Avx2NoPext(token) => $check(token),
                #[cfg(all(feature = "simd", target_arch = "x86_64"))]
                Set::Avx512(token) => $check(token),
            }
        }
    };
}

#[test]
fn operations_equal_the_portable_ones() {
    fn check(simd: impl Simd) {
        let mut random = Random(1);
        for round in 0..1000 {
            let mut operands = [random.words(), random.words(), random.words()];
            if round % 10 == 0 {
                operands[round / 10 % 3] = [0; 4];
            }
            assert_eq!(
                operations(simd, operands, round % 4),
                operations(Portable, operands, round % 4),
                "{operands:x?}"
            );
        }
    }
    for_every_isa!(check);
}

#[test]
fn portable_operations_mean_what_they_say() {
    let (a, b, c) = (0b1111_0000, 0b1100_1100, 0b1010_1010);
    let words = operations(Portable, [[a; 4], [b; 4], [c; 4]], 1);
    let tables: Vec<u64> = words[11..21].iter().map(|words| words[2] & 0xff).collect();
    let expected = [
        a | b | c,
        a & b & c,
        a ^ b ^ c,
        a & b | a & c | b & c,
        a & b | a & c | b & c,
        a & b | !a & c,
        a | b & c,
        a | b & !c,
        a & !(b & c),
        a & !b & !c,
    ];
    assert_eq!(tables, expected.map(|table| table & 0xff));
    let words = operations(Portable, [[1, 2, 4, 8], [0, 1, 2, 63], [0; 4]], 1);
    assert_eq!(words[9], [1, 4, 16, 4]);
    assert_eq!(words[10], [8, 1, 2, 4]);
}
