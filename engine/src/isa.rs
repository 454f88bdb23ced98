//! Which instruction set the engines run on.

use std::fmt;

use crate::arch::portable::Portable;
use crate::arch::{Kernel, Simd};

/// An instruction set that this processor has.
///
/// Only detection makes a value of this type, so holding one is the proof that the kernels behind it may run. It is a
/// byte to copy around, and the engines match on it once a call.
///
/// | name | what it needs |
/// |---|---|
/// | `portable` | nothing: plain Rust, on every processor |
/// | `avx2` | x86-64 with AVX2, BMI1, BMI2, LZCNT and POPCNT |
/// | `avx2-no-pext` | the same, for processors on which `pext` and `pdep` are microcoded: AMD before Zen 3 |
/// | `avx512` | besides, AVX-512 F, BW, DQ, VL, VBMI, VBMI2, BITALG, VPOPCNTDQ and GFNI: Ice Lake, Zen 4 and later |
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Isa(Set);

/// The instruction sets, for the matches that pick a kernel.
///
/// Each comes with a token, a value of no size that only detection makes: a call into a kernel that enables the features
/// of `Avx2` or `Avx512` is sound wherever its token is at hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Set {
    Portable,
    #[cfg(all(feature = "simd", target_arch = "x86_64"))]
    Avx2(Avx2),
    #[cfg(all(feature = "simd", target_arch = "x86_64"))]
    Avx2NoPext(Avx2),
    #[cfg(all(feature = "simd", target_arch = "x86_64"))]
    Avx512(Avx512),
}

/// The processor has `avx2,bmi1,bmi2,lzcnt,popcnt`.
#[cfg(all(feature = "simd", target_arch = "x86_64"))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Avx2(());

/// The processor has what [`Avx2`] says, and
/// `avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512bitalg,avx512vpopcntdq,gfni`.
#[cfg(all(feature = "simd", target_arch = "x86_64"))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Avx512(());

/// Why an instruction set cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Hash, thiserror::Error)]
pub enum IsaError {
    /// No instruction set has this name.
    #[error("unknown instruction set {name:?}: expected portable, avx2, avx2-no-pext or avx512")]
    Unknown {
        /// The name asked for.
        name: String,
    },
    /// This build holds no code for it: it was made for another architecture, or without the `simd` feature.
    #[error("this build has no code for {name}")]
    NotBuilt {
        /// The name asked for.
        name: &'static str,
    },
    /// The processor lacks it.
    #[error("this processor cannot run {name}: it has no {missing}")]
    Missing {
        /// The name asked for.
        name: &'static str,
        /// The first of the features it needs that the processor has not.
        missing: &'static str,
    },
}

/// Every name, in the order of preference, the best last.
const NAMES: [&str; 4] = ["portable", "avx2-no-pext", "avx2", "avx512"];

impl Isa {
    /// The one that every processor has.
    pub const PORTABLE: Self = Self(Set::Portable);

    /// The best one for this processor.
    ///
    /// The answer is the same at every call, and costs a few loads once the processor has been asked.
    pub fn detect() -> Self {
        detect()
    }

    /// The one of this name: `portable`, `avx2`, `avx2-no-pext` or `avx512`.
    ///
    /// # Errors
    ///
    /// The name is none of these, or names one that this build or this processor cannot run.
    pub fn named(name: &str) -> Result<Self, IsaError> {
        let Some(name) = NAMES.into_iter().find(|&known| known == name) else {
            return Err(IsaError::Unknown {
                name: name.to_owned(),
            });
        };
        named(name)
    }

    /// All that this build and this processor can run, `portable` first.
    pub fn available() -> impl Iterator<Item = Self> {
        NAMES.into_iter().filter_map(|name| named(name).ok())
    }

    /// Its name, as [`Isa::named`] takes it.
    pub fn name(self) -> &'static str {
        match self.0 {
            Set::Portable => "portable",
            #[cfg(all(feature = "simd", target_arch = "x86_64"))]
            Set::Avx2(_) => "avx2",
            #[cfg(all(feature = "simd", target_arch = "x86_64"))]
            Set::Avx2NoPext(_) => "avx2-no-pext",
            #[cfg(all(feature = "simd", target_arch = "x86_64"))]
            Set::Avx512(_) => "avx512",
        }
    }

    /// What to match on to pick a kernel.
    pub(crate) fn set(self) -> Set {
        self.0
    }

    /// Runs a kernel that needs no vectors of its own, compiled for the instruction set.
    pub(crate) fn run<K: Kernel>(self, kernel: K) -> K::Output {
        match self.0 {
            Set::Portable => Portable.run(kernel),
            #[cfg(all(feature = "simd", target_arch = "x86_64"))]
            Set::Avx2(token) | Set::Avx2NoPext(token) => token.run(kernel),
            #[cfg(all(feature = "simd", target_arch = "x86_64"))]
            Set::Avx512(token) => token.run(kernel),
        }
    }
}

impl fmt::Display for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Debug for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Isa({self})")
    }
}

#[cfg(not(all(feature = "simd", target_arch = "x86_64")))]
fn detect() -> Isa {
    Isa::PORTABLE
}

#[cfg(not(all(feature = "simd", target_arch = "x86_64")))]
fn named(name: &'static str) -> Result<Isa, IsaError> {
    if name == "portable" {
        Ok(Isa::PORTABLE)
    } else {
        Err(IsaError::NotBuilt { name })
    }
}

#[cfg(all(feature = "simd", target_arch = "x86_64"))]
use x86::{detect, named};

#[cfg(all(feature = "simd", target_arch = "x86_64"))]
mod x86 {
    use std::arch::x86_64::{__cpuid, CpuidResult};

    use super::{Avx2, Avx512, Isa, IsaError, Set};

    /// The first of the named features that the processor lacks.
    macro_rules! first_missing {
        ($($feature:tt)*) => {
            [$(($feature, std::arch::is_x86_feature_detected!($feature))),*]
                .into_iter()
                .find_map(|(feature, present)| (!present).then_some(feature))
        };
    }

    /// What the token [`Avx2`] says and this processor lacks.
    fn missing_for_avx2() -> Option<&'static str> {
        first_missing!("avx2" "bmi1" "bmi2" "lzcnt" "popcnt")
    }

    /// What the token [`Avx512`] says and this processor lacks.
    fn missing_for_avx512() -> Option<&'static str> {
        missing_for_avx2().or_else(|| {
            first_missing!(
                "avx512f" "avx512bw" "avx512dq" "avx512vl" "avx512vbmi" "avx512vbmi2" "avx512bitalg" "avx512vpopcntdq"
                "gfni"
            )
        })
    }

    pub(super) fn detect() -> Isa {
        if missing_for_avx512().is_none() {
            return Isa(Set::Avx512(Avx512(())));
        }
        if missing_for_avx2().is_some() {
            return Isa::PORTABLE;
        }
        let token = Avx2(());
        Isa(if pext_is_slow() {
            Set::Avx2NoPext(token)
        } else {
            Set::Avx2(token)
        })
    }

    pub(super) fn named(name: &'static str) -> Result<Isa, IsaError> {
        let (set, missing) = match name {
            "avx512" => (Set::Avx512(Avx512(())), missing_for_avx512()),
            "avx2" => (Set::Avx2(Avx2(())), missing_for_avx2()),
            "avx2-no-pext" => (Set::Avx2NoPext(Avx2(())), missing_for_avx2()),
            _ => (Set::Portable, None),
        };
        match missing {
            None => Ok(Isa(set)),
            Some(missing) => Err(IsaError::Missing { name, missing }),
        }
    }

    fn pext_is_slow() -> bool {
        slow_pext(__cpuid(0), __cpuid(1))
    }

    /// Whether `pext` and `pdep` are microcoded, up to 300 cycles each: on AMD, and on Hygon's licensed Zen, before
    /// family 0x19, which is Zen 3. Takes leaves 0 (the maker) and 1 (the family).
    fn slow_pext(maker: CpuidResult, version: CpuidResult) -> bool {
        const AMD: [u8; 12] = *b"AuthenticAMD";
        const HYGON: [u8; 12] = *b"HygonGenuine";
        let words = [maker.ebx, maker.edx, maker.ecx].map(u32::to_le_bytes);
        let base = version.eax >> 8 & 0xf;
        let family = if base == 0xf {
            base + (version.eax >> 20 & 0xff)
        } else {
            base
        };
        [AMD, HYGON].iter().any(|name| words.as_flattened() == name) && family < 0x19
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        /// The leaves of a maker and of the signature that `lscpu` and the makers' manuals give a model.
        fn check(maker: &[u8; 12], signature: u32, expect: bool) {
            let word =
                |at: usize| u32::from_le_bytes([maker[at], maker[at + 1], maker[at + 2], maker[at + 3]]);
            let leaf = |eax, ebx, ecx, edx| CpuidResult { eax, ebx, ecx, edx };
            let slow = slow_pext(leaf(0, word(0), word(8), word(4)), leaf(signature, 0, 0, 0));
            assert_eq!(slow, expect, "{signature:x}");
        }

        #[test]
        fn pext_is_slow_on_amd_before_zen_3_only() {
            check(b"AuthenticAMD", 0x0066_0f01, true); // Excavator, family 15h
            check(b"AuthenticAMD", 0x0080_0f11, true); // Zen, family 17h
            check(b"AuthenticAMD", 0x0087_0f10, true); // Zen 2, family 17h
            check(b"HygonGenuine", 0x0090_0f01, true); // Dhyana, family 18h
            check(b"AuthenticAMD", 0x00a2_0f10, false); // Zen 3, family 19h
            check(b"AuthenticAMD", 0x00b4_0f40, false); // Zen 5, family 1Ah
            check(b"GenuineIntel", 0x0003_06c3, false); // Haswell
            check(b"GenuineIntel", 0x000c_06f2, false); // Emerald Rapids
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_detected_one_is_among_the_available() {
        assert!(Isa::available().any(|isa| isa == Isa::detect()));
    }

    #[test]
    fn portable_is_always_there() {
        assert_eq!(Isa::named("portable"), Ok(Isa::PORTABLE));
        assert_eq!(Isa::available().next(), Some(Isa::PORTABLE));
    }

    #[test]
    fn names_lead_back_to_their_value() {
        for isa in Isa::available() {
            assert_eq!(Isa::named(isa.name()), Ok(isa));
            assert_eq!(isa.to_string(), isa.name());
        }
    }

    #[test]
    fn what_cannot_run_is_refused_with_the_reason() {
        for name in NAMES {
            match Isa::named(name) {
                Ok(isa) => assert_eq!(isa.name(), name),
                Err(error) => assert!(error.to_string().contains(name), "{error}"),
            }
        }
        let error = Isa::named("AVX2").map_err(|error| error.to_string());
        let expected = "unknown instruction set \"AVX2\": expected portable, avx2, avx2-no-pext or avx512";
        assert_eq!(error, Err(expected.to_owned()));
    }
}
