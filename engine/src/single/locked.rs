//! Locked candidates, exactly, for three digits at a time.
//!
//! In a band, a digit takes another row in each of the three boxes. So a box can take a row only if the other two boxes
//! can take the other two rows, one way round or the other; the minirows for which that does not hold are dropped. That is
//! all that can be said of one digit in one band. The same goes for the columns of a stack.
//!
//! Whether a box can take a row is a bit for each row, so those of three digits go into one lane side by side, and the
//! moves between boxes and the logic are done once for the three.

use super::vector::Vector;

/// Drops the minirows and minicolumns that three digits cannot take.
#[inline(always)]
pub(super) fn lock<V: Vector>(token: V::Token, places: [V; 3]) -> [V; 3] {
    let rows = Rows::of(token, places);
    let kept = rows.kept();
    let [a, b, c] = places;
    let first = kept.and(V::splat(token, 0x888));
    let places = [
        a.and(first.sub(first.down::<3>())),
        b.and(kept.down::<2>().and(V::splat(token, 0x111)).repeat_columns()),
        c.and(kept.and(V::splat(token, 0x111)).repeat_columns()),
    ];
    let columns = Columns::of(token, places);
    let kept = columns.kept();
    let low = V::splat(token, 0b111);
    let [a, b, c] = places;
    [
        a.and(kept.and(low).repeat_rows()),
        b.and(kept.down::<4>().and(low).repeat_rows()),
        c.and(kept.down::<8>().and(low).repeat_rows()),
    ]
}

/// Which rows each box can take.
///
/// Bits 3, 2 and 0 of nibble `i` stand for the three digits in row `i` of `here`, and in the row after it, after the last
/// the first, of the boxes `next` to and `previous` to this one in its band; there, nibble 3 is like nibble 0.
#[derive(Clone, Copy)]
pub(super) struct Rows<V> {
    pub(super) here: V,
    next: V,
    previous: V,
}

impl<V: Vector> Rows<V> {
    #[inline(always)]
    pub(super) fn of(token: V::Token, places: [V; 3]) -> Self {
        // A carry into bit 3 of a nibble says that the row has a place.
        let [a, b, c] = places.map(|places| places.add(V::splat(token, 0x777)));
        let here = a.and(V::splat(token, 0x888));
        let here = here.or(b.down::<1>().and(V::splat(token, 0x444)));
        let here = here.or(c.down::<3>().and(V::splat(token, 0x111)));
        let turned = here.up::<8>().or(here.down::<4>());
        Self {
            here,
            next: turned.next_in_band(),
            previous: turned.previous_in_band(),
        }
    }

    /// The rows that a box can take as far as the other two go.
    #[inline(always)]
    fn kept(&self) -> V {
        let [after, before] = self.ways();
        after.or(before)
    }

    /// The same for the next box taking the row after this one's, and for it taking the row before.
    #[inline(always)]
    pub(super) fn ways(&self) -> [V; 2] {
        let after = self.next.and(self.previous.down::<4>());
        let before = self.next.down::<4>().and(self.previous);
        [after, before]
    }
}

/// Which columns each box can take.
///
/// A nibble stands for a digit; in it, bit `i` is column `i` of `here`, and the column after it, after the last the first,
/// of the boxes `next` to and `previous` to this one in its stack; there, bit 3 is like bit 0.
#[derive(Clone, Copy)]
pub(super) struct Columns<V> {
    pub(super) here: V,
    next: V,
    previous: V,
}

impl<V: Vector> Columns<V> {
    #[inline(always)]
    pub(super) fn of(token: V::Token, [a, b, c]: [V; 3]) -> Self {
        let a = a.or(a.down::<4>()).or(a.down::<8>());
        let b = b.up::<4>().or(b).or(b.down::<4>());
        let c = c.up::<8>().or(c.up::<4>()).or(c);
        let here = a.and(V::splat(token, 0x007));
        let here = here.or(b.and(V::splat(token, 0x070)));
        let here = here.or(c.and(V::splat(token, 0x700)));
        let turned = here.up::<2>().select(here.down::<1>(), V::splat(token, 0xccc));
        Self {
            here,
            next: turned.next_in_stack(),
            previous: turned.previous_in_stack(),
        }
    }

    /// The columns that a box can take as far as the other two go. Bit 3 of a nibble is unspecified.
    #[inline(always)]
    fn kept(&self) -> V {
        let [after, before] = self.ways();
        after.or(before)
    }

    /// The same for the next box taking the column after this one's, and for it taking the column before.
    #[inline(always)]
    pub(super) fn ways(&self) -> [V; 2] {
        let after = self.next.and(self.previous.down::<1>());
        let before = self.next.down::<1>().and(self.previous);
        [after, before]
    }
}
