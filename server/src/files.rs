//! How many files the process may have open: a connection is one.

/// What else is open: listeners, logs, secrets, and connections that are about to be turned away.
#[cfg(target_os = "linux")]
const OTHERS: u64 = 64;

/// Lets the process have as many files as its connections need, as far as the system allows that, and warns where it does
/// not: then connections would wait to be accepted, where they are to be turned away.
#[cfg(target_os = "linux")]
pub fn make_room(connections: usize) {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    let needed = u64::try_from(connections)
        .unwrap_or(u64::MAX)
        .saturating_add(OTHERS);
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current.is_none_or(|current| current >= needed) {
        return;
    }
    let raised = maximum.map_or(needed, |maximum| maximum.min(needed));
    let limit = Rlimit {
        current: Some(raised),
        maximum,
    };
    match setrlimit(Resource::Nofile, limit) {
        Ok(()) if raised == needed => {}
        Ok(()) => tracing::warn!(
            files = raised,
            needed,
            "the system allows fewer open files than max-connections needs (ulimit -n)"
        ),
        Err(error) => tracing::warn!(%error, needed, "cannot raise the number of open files that is allowed"),
    }
}

#[cfg(not(target_os = "linux"))]
pub fn make_room(_: usize) {}
