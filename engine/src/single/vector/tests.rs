//! The operations of each instruction set against the portable ones, bit for bit.

#![cfg(all(feature = "simd", target_arch = "x86_64"))]

use proptest::prelude::*;

use super::x86_64::{Avx2, Avx512};
use super::{Cells, Portable, Vector};
use crate::Isa;
use crate::isa::Set;

/// The lanes that count.
const BOXES: [u64; 4] = [0xffff_ffff_ffff, 0xffff_ffff_ffff, 0xffff_ffff_ffff, 0];

fn boxes(cells: Cells) -> Cells {
    Cells(std::array::from_fn(|word| cells.0[word] & BOXES[word]))
}

/// Every operation on three sets of cells.
fn everything<V: Vector>(token: V::Token, cells: [Cells; 3]) -> Vec<Cells> {
    let [a, b, c] = cells.map(|cells| V::load(token, &cells));
    let first_column = a.and(V::splat(token, 0x111));
    let first_row = a.and(V::splat(token, 7));
    let mut results = [
        a,
        V::splat(token, 0x321),
        a.and(b),
        a.or(b),
        a.xor(b),
        a.without(b),
        a.select(b, c),
        a.add(b),
        a.or(b).sub(b),
        a.up::<2>(),
        a.up::<4>(),
        a.up::<8>(),
        a.down::<1>(),
        a.down::<3>(),
        a.down::<4>(),
        a.down::<8>(),
        first_column.repeat_columns(),
        first_row.repeat_rows(),
        a.drop_lowest(),
        a.empty_lanes(),
        a.count(),
        a.next_in_band(),
        a.previous_in_band(),
        a.next_in_stack(),
        a.previous_in_stack(),
    ]
    .map(|vector| boxes(vector.store()))
    .to_vec();
    let zeros = [a, a.without(a), a.without(b)].map(|vector| u64::from(vector.is_zero()));
    results.push(Cells([zeros[0], zeros[1], zeros[2], 0]));
    let union = a.and(V::load(token, &Cells(BOXES))).union();
    results.push(Cells([union, 0, 0, 0]));
    results
}

/// Cells as a search holds them, some lanes empty, or anything below bit 15.
fn cells() -> impl Strategy<Value = Cells> {
    let lane = prop_oneof![
        Just(0_u64),
        (0..0x1000_u64).prop_map(|lane| lane & 0x777),
        0..0x8000_u64
    ];
    let word = [lane.clone(), lane.clone(), lane].prop_map(|[a, b, c]| a | b << 16 | c << 32);
    [word.clone(), word.clone(), word].prop_map(|[a, b, c]| Cells([a, b, c, 0]))
}

proptest! {
    #[test]
    fn operations_are_those_of_plain_rust(cells in [cells(), cells(), cells()]) {
        let expected = everything::<Portable>((), cells);
        for isa in Isa::available() {
            let found = match isa.set() {
                Set::Portable => continue,
                Set::Avx2(token) | Set::Avx2NoPext(token) => everything::<Avx2>(token, cells),
                Set::Avx512(token) => everything::<Avx512>(token, cells),
            };
            prop_assert_eq!(&found, &expected, "{}", isa);
        }
        let zero = |cells: &Cells| Portable::load((), cells).is_zero();
        prop_assert_eq!(zero(&cells[0]), cells[0] == Cells::default());
        let [a, b, c, _] = cells[0].0;
        prop_assert_eq!(Portable::load((), &cells[0]).union(), a | b | c);
    }
}
