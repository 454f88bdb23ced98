//! The branching rule: which candidate a stalled lane tries.

use super::planes::Work;
use crate::arch::{Kernel, Simd, Vector};

/// Which minirow, or minicolumn, of a box some lanes try for a digit.
#[derive(Clone, Copy)]
pub(super) struct Choice<V> {
    /// The lanes that try line 0.
    first: V,
    /// Those that try line 1. Line 0 is ruled out in them already.
    second: V,
}

impl<V: Vector> Choice<V> {
    /// What the child that goes this way loses, line by line: the lines not tried.
    #[inline(always)]
    pub(super) fn lost_by_taking(self) -> [V; 3] {
        [self.second, self.first, self.first | self.second]
    }

    /// What the other child loses: the line tried.
    #[inline(always)]
    pub(super) fn lost_by_refusing(self, zero: V) -> [V; 3] {
        [self.first, self.second, zero]
    }
}

/// The choices of a round of branching, by box and digit; at most one a lane.
pub(super) struct Choices<V> {
    list: [Choice<V>; 162],
    len: usize,
    /// For each box and digit: one more than the index of the choice of a minirow, and of a minicolumn; 0 for none.
    at: [[[u8; 2]; 9]; 9],
}

impl<V: Vector> Choices<V> {
    pub(super) fn new<S: Simd<Vector = V>>(simd: S) -> Box<Self> {
        let none = Choice {
            first: simd.zero(),
            second: simd.zero(),
        };
        Box::new(Self {
            list: [none; 162],
            len: 0,
            at: [[[0; 2]; 9]; 9],
        })
    }

    fn clear(&mut self) {
        self.len = 0;
        self.at = [[[0; 2]; 9]; 9];
    }

    /// Adds a choice for a box and a digit, for which none was added yet, unless it is of no lane.
    #[inline(always)]
    fn push(&mut self, b: usize, d: usize, kind: usize, choice: Choice<V>) {
        // No branch, as it could not be predicted.
        let is_some = !(choice.first | choice.second).is_zero();
        self.list[self.len] = choice;
        self.len += usize::from(is_some);
        self.at[b][d][kind] = if is_some { self.len as u8 } else { 0 };
    }

    /// The choice of a minirow and that of a minicolumn for a box and a digit.
    #[inline(always)]
    pub(super) fn of(&self, b: usize, d: usize) -> [Option<Choice<V>>; 2] {
        let [row, column] = self.at[b][d];
        [self.get(row), self.get(column)]
    }

    #[inline(always)]
    fn get(&self, index: u8) -> Option<Choice<V>> {
        (index != 0).then(|| self.list[usize::from(index) - 1])
    }
}

/// Chooses for each lane of `lanes`, in which propagation has come to its end. Since such a lane is not solved, some digit
/// has several placements left in it, and there is a choice.
///
/// The rule is much like that of tdoku (T. Dillon): in the band or stack that is closest to done, a digit with as few
/// placements left as possible. In a band, a digit occupies one minirow in each box, and these are in three different
/// rows: six configurations.
pub(super) struct Branch<'a, S: Simd> {
    pub(super) simd: S,
    pub(super) work: &'a Work<S::Vector>,
    pub(super) lanes: S::Vector,
    pub(super) choices: &'a mut Choices<S::Vector>,
}

/// Where a digit has two configurations left in a band, where three, and where more.
type Several<V> = [V; 3];

impl<S: Simd> Kernel for Branch<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.choices.clear();
        if self.lanes.is_zero() {
            return;
        }
        let zero = self.simd.zero();
        let mut several = [[[zero; 3]; 9]; 6];
        let mut closest = [zero; 6];
        let mut fewest = [self.simd.ones(); 6];
        for band in 0..6 {
            let open = count_open(zero, self.work, band, &mut several[band]);
            let fewer = less(zero, &open, &fewest);
            for (fewest, open) in fewest.iter_mut().zip(open) {
                *fewest = S::Vector::select(fewer, open, *fewest);
            }
            for earlier in &mut closest[..band] {
                *earlier = earlier.and_not(fewer);
            }
            closest[band] = fewer;
        }
        for band in 0..6 {
            let lanes = closest[band] & self.lanes;
            if !lanes.is_zero() {
                choose(zero, self.work, band, lanes, &several[band], self.choices);
            }
        }
    }
}

/// The lines of a digit in the three boxes of a band (0 to 2) or a stack (3 to 5).
#[inline(always)]
fn lines<V: Vector>(work: &Work<V>, band: usize, d: usize) -> [&[V; 3]; 3] {
    let [x, y, z] = boxes_of(band);
    if band < 3 {
        [&work.rows[x][d], &work.rows[y][d], &work.rows[z][d]]
    } else {
        [&work.columns[x][d], &work.columns[y][d], &work.columns[z][d]]
    }
}

#[inline(always)]
fn boxes_of(band: usize) -> [usize; 3] {
    if band < 3 {
        [3 * band, 3 * band + 1, 3 * band + 2]
    } else {
        [band - 3, band, band + 3]
    }
}

/// How far a band is from done, as six binary digits, the lowest first: for each digit that has several configurations
/// left in it, one more than their number.
#[inline(always)]
fn count_open<V: Vector>(zero: V, work: &Work<V>, band: usize, several: &mut [Several<V>; 9]) -> [V; 6] {
    let mut sum = [zero; 6];
    for d in 0..9 {
        let [x, y, z] = lines(work, band, d);
        let even = [
            V::and3(x[0], y[1], z[2]),
            V::and3(x[1], y[2], z[0]),
            V::and3(x[2], y[0], z[1]),
        ];
        let odd = [
            V::and3(x[0], y[2], z[1]),
            V::and3(x[1], y[0], z[2]),
            V::and3(x[2], y[1], z[0]),
        ];
        let (s0, c0) = V::sum(even[0], even[1], even[2]);
        let (s1, c1) = V::sum(odd[0], odd[1], odd[2]);
        // The number of configurations in binary, 0 to 6.
        let (bit0, carry) = (s0 ^ s1, s0 & s1);
        let (bit1, bit2) = V::sum(c0, c1, carry);
        let three = bit1 & bit0;
        several[d] = [bit1.and_neither(bit0, bit2), three, bit2];
        // One more, where there are two or more.
        let open = bit1 | bit2;
        add(&mut sum, [open.and_not(bit0), (bit1 ^ bit0) & open, bit2 | three]);
    }
    sum
}

/// Adds a number of three binary digits to one of six.
#[inline(always)]
fn add<V: Vector>(sum: &mut [V; 6], add: [V; 3]) {
    let mut carry = sum[0] & add[0];
    sum[0] = sum[0] ^ add[0];
    for k in 1..3 {
        (sum[k], carry) = V::sum(sum[k], add[k], carry);
    }
    for sum in &mut sum[3..] {
        (*sum, carry) = (*sum ^ carry, *sum & carry);
    }
}

/// Where a number is below another, and not zero.
#[inline(always)]
fn less<V: Vector>(zero: V, a: &[V; 6], b: &[V; 6]) -> V {
    let (mut less, mut any) = (zero, zero);
    for k in 0..6 {
        less = V::select(a[k] ^ b[k], b[k], less);
        any = any | a[k];
    }
    less & any
}

/// Chooses, in a band, the first digit among those with the fewest configurations, and for it the first box with two
/// lines left.
#[inline(always)]
fn choose<V: Vector>(
    zero: V,
    work: &Work<V>,
    band: usize,
    lanes: V,
    several: &[Several<V>; 9],
    choices: &mut Choices<V>,
) {
    let mut digits = [zero; 9];
    let mut without = lanes;
    for class in 0..3 {
        for d in 0..9 {
            let here = several[d][class] & without;
            without = without.and_not(here);
            digits[d] = digits[d] | here;
        }
        if without.is_zero() {
            break;
        }
    }
    for d in 0..9 {
        let mut without = digits[d];
        for (b, line) in boxes_of(band).into_iter().zip(lines(work, band, d)) {
            let here = V::majority(line[0], line[1], line[2]) & without;
            without = without.and_not(here);
            let first = here & line[0];
            let second = here.and_not(line[0]);
            choices.push(b, d, band / 3, Choice { first, second });
        }
    }
}
