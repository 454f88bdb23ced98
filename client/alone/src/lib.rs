//! Nothing but a package that depends on the SDK alone. Cargo gives a dependency the features that anything in a build asks
//! for; the tests of all other packages have the server beside the SDK, and would hide what it lacks by itself.
//! `just sdk` runs the tests of this one, and checks that no feature for servers is among those that they are built with.

#![forbid(unsafe_code)]
