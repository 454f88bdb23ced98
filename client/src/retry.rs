//! Which failures are worth another try, where, and when.
//!
//! An endpoint that failed a call is left alone by that call for a while, longer each time. The call goes on at once on
//! another one, waits where there is none, and fails when it has given up on all of them.

use std::sync::Arc;
use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};
use tokio::time::{Instant, sleep, sleep_until};
use tower::retry::budget::{Budget as _, TpsBudget};

use crate::deadline::Deadline;
use crate::endpoints::{Endpoint, EndpointId, Endpoints, Lease, less_loaded};
use crate::fault::Fault;
use crate::{Error, Transport, status, telemetry};

/// How many times a call goes back to an endpoint that failed it, unless the client is built otherwise.
pub(crate) const RETRIES: usize = 4;

/// How long it leaves that endpoint alone: doubled each time, with a random part of up to as much on top.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// What retries may add to the load of an outage: a fifth of the calls that succeeded in the last seconds, and a few
/// that a client with few calls may always make.
const BUDGET_TIME: Duration = Duration::from_secs(10);
const BUDGET_SHARE: f32 = 0.2;
const BUDGET_A_SECOND: u32 = 10;

/// How a client retries.
#[derive(Debug, Clone)]
pub(crate) struct Policy {
    retries: usize,
    /// Whether the endpoints are ours to look after.
    looks_after: bool,
    budget: Arc<TpsBudget>,
}

impl Policy {
    /// That many retries over endpoints that are looked after.
    pub(crate) fn new(retries: usize) -> Self {
        Self {
            looks_after: true,
            ..Self::hands_off(retries)
        }
    }

    /// The same over a service that somebody else looks after.
    pub(crate) fn hands_off(retries: usize) -> Self {
        Self {
            retries,
            looks_after: false,
            budget: Arc::new(TpsBudget::new(BUDGET_TIME, BUDGET_A_SECOND, BUDGET_SHARE)),
        }
    }

    pub(crate) fn set_retries(&mut self, retries: usize) {
        self.retries = retries;
    }

    /// Whether anything is retried at all.
    pub(crate) fn is_on(&self) -> bool {
        self.retries > 0
    }

    /// Whether endpoints are taken out, and asked whether they live.
    pub(crate) fn looks_after(&self) -> bool {
        self.looks_after
    }

    /// Whether the budget has room for a call more than was asked for.
    pub(crate) fn allows_another(&self) -> bool {
        self.budget.withdraw()
    }

    pub(crate) fn succeeded(&self) {
        self.budget.deposit();
    }

    fn pauses(&self) -> ExponentialBackoff {
        ExponentialBuilder::new()
            .with_min_delay(FIRST_PAUSE)
            .with_max_delay(LONGEST_PAUSE)
            .with_max_times(self.retries)
            .with_jitter()
            .build()
    }
}

/// What to do about a failure that is worth another try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Retry {
    /// Whether the endpoint is out of order, and not only busy.
    eject: bool,
    /// The shortest time after which that endpoint may be tried again. `None` where that would end in the same way.
    after: Option<Duration>,
}

/// `None` for a failure that another try would not change.
fn worth_retrying(error: &Error) -> Option<Retry> {
    let broken = Retry {
        eject: true,
        after: Some(Duration::ZERO),
    };
    match error {
        Error::Transport(error) if error.fault().is_some_and(Fault::is_final) => Some(Retry {
            after: None,
            ..broken
        }),
        Error::Transport(_) => Some(broken),
        Error::Service(error) if status::is_unavailable(error) => Some(Retry {
            after: Some(error.retry_delay.unwrap_or_default()),
            ..broken
        }),
        Error::Service(error) if status::is_exhausted(error) => Some(Retry {
            eject: false,
            after: Some(error.retry_delay?),
        }),
        _ => None,
    }
}

/// An endpoint that failed the call.
#[derive(Debug)]
struct Trouble {
    endpoint: EndpointId,
    pauses: ExponentialBackoff,
    /// When it may be tried again. `None` once the call has given up on it.
    until: Option<Instant>,
}

/// The next step of a call.
#[derive(Debug)]
pub(crate) enum Next<T> {
    /// A try there.
    Try(Lease<T>),
    /// Waiting until then.
    Wait(Instant),
    /// Failing with this, the last error.
    GiveUp(Error),
}

/// The tries of one call.
#[derive(Debug)]
pub(crate) struct Attempts<T> {
    endpoints: Endpoints<T>,
    policy: Policy,
    deadline: Deadline,
    troubles: Vec<Trouble>,
    /// The same for the look-up of names, where that has found no endpoint.
    looking_up: ExponentialBackoff,
    unknown: Option<Instant>,
    last: Option<Error>,
}

impl<T: Transport> Attempts<T> {
    pub(crate) fn new(endpoints: Endpoints<T>, policy: Policy, deadline: Deadline) -> Self {
        Self {
            endpoints,
            looking_up: policy.pauses(),
            unknown: None,
            policy,
            deadline,
            troubles: Vec::new(),
            last: None,
        }
    }

    /// Where to try next: a connection that `is_free`, of an endpoint that serves and has not failed the call. Where none
    /// is left, one whose pause is over; where none serves, one that was taken out. `None` while those that might be
    /// tried have no connection that is free.
    pub(crate) fn next(&mut self, is_free: impl Fn(EndpointId, usize) -> bool) -> Option<Next<T>> {
        let members = self.endpoints.members();
        let candidates = self.candidates(&members);
        let now = Instant::now();
        let (untroubled, troubled): (Vec<_>, Vec<_>) = candidates
            .into_iter()
            .partition(|endpoint| self.trouble(endpoint).is_none());
        let (rested, resting): (Vec<_>, Vec<_>) = troubled
            .into_iter()
            .partition(|endpoint| self.pause(endpoint).is_some_and(|until| until <= now));
        for usable in [&untroubled, &rested] {
            let has_free = |endpoint: &&&Arc<Endpoint<T>>| {
                (0..endpoint.lines()).any(|line| is_free(endpoint.id(), line))
            };
            let free: Vec<_> = usable.iter().filter(has_free).copied().collect();
            if let Some(endpoint) = less_loaded(&free) {
                let lease = Lease::new(Arc::clone(endpoint), |line| is_free(endpoint.id(), line));
                return Some(Next::Try(lease));
            }
        }
        if !untroubled.is_empty() || !rested.is_empty() {
            return None;
        }
        let due = resting.iter().filter_map(|endpoint| self.pause(endpoint)).min();
        Some(self.wait(due.or(self.unknown), now))
    }

    /// The endpoints that serve; where the call has given up on all of them, those that were taken out.
    fn candidates<'a>(&self, members: &'a [Arc<Endpoint<T>>]) -> Vec<&'a Arc<Endpoint<T>>> {
        let (serving, ejected): (Vec<_>, Vec<_>) = members.iter().partition(|endpoint| endpoint.is_serving());
        let has_given_up = |endpoint: &&Arc<Endpoint<T>>| {
            self.trouble(endpoint)
                .is_some_and(|trouble| trouble.until.is_none())
        };
        if !serving.iter().all(has_given_up) {
            return serving;
        }
        self.endpoints.look_again();
        ejected
    }

    fn wait(&mut self, due: Option<Instant>, now: Instant) -> Next<T> {
        match (due, self.last.take()) {
            (Some(due), last) if !self.deadline.is_before(due) => {
                self.last = last;
                Next::Wait(due)
            }
            (_, Some(error)) => Next::GiveUp(error),
            // Nothing has failed yet, so there was nothing to try.
            (_, None) => Next::Wait(now + FIRST_PAUSE),
        }
    }

    /// Notes that a try failed.
    ///
    /// # Errors
    ///
    /// The failure, if it is not worth another try.
    pub(crate) fn failed(&mut self, endpoint: Option<&Arc<Endpoint<T>>>, error: Error) -> Result<(), Error> {
        let error = match endpoint {
            Some(endpoint) => endpoint.explain(error),
            None => error,
        };
        let Some(retry) = worth_retrying(&error) else {
            return Err(error);
        };
        if let Some(endpoint) = endpoint.filter(|_| retry.eject && self.policy.looks_after) {
            endpoint.eject();
        }
        if !self.policy.is_on() || !self.policy.allows_another() {
            return Err(error);
        }
        let pause = match endpoint {
            Some(endpoint) => &mut self.trouble_of(endpoint.id()).pauses,
            None => &mut self.looking_up,
        };
        let until = pause
            .next()
            .zip(retry.after)
            .and_then(|(pause, after)| Instant::now().checked_add(pause + after));
        match endpoint {
            Some(endpoint) => self.trouble_of(endpoint.id()).until = until,
            None => self.unknown = until,
        }
        self.last = Some(error);
        telemetry::retried();
        Ok(())
    }

    fn trouble_of(&mut self, endpoint: EndpointId) -> &mut Trouble {
        let known = self
            .troubles
            .iter()
            .position(|trouble| trouble.endpoint == endpoint);
        let index = known.unwrap_or_else(|| {
            self.troubles.push(Trouble {
                endpoint,
                pauses: self.policy.pauses(),
                until: None,
            });
            self.troubles.len() - 1
        });
        &mut self.troubles[index]
    }

    /// Notes that an endpoint has answered something, so that what was before does not count any more.
    pub(crate) fn answered(&mut self, endpoint: EndpointId) {
        self.troubles.retain(|trouble| trouble.endpoint != endpoint);
    }

    /// The connection for the next try of a call of one message, as soon as there is one at an endpoint that `may_be`.
    ///
    /// # Errors
    ///
    /// The last failure, when it is time to give up.
    pub(crate) async fn lease(&mut self, may_be: impl Fn(EndpointId) -> bool) -> Result<Lease<T>, Error> {
        loop {
            if let Err(error) = self.endpoints.known().await {
                self.failed(None, error)?;
            }
            match self.next(|endpoint, _| may_be(endpoint)) {
                Some(Next::Try(lease)) => return Ok(lease),
                Some(Next::Wait(due)) => sleep_until(due).await,
                Some(Next::GiveUp(error)) => return Err(error),
                None => sleep(FIRST_PAUSE).await,
            }
        }
    }

    fn trouble(&self, endpoint: &Endpoint<T>) -> Option<&Trouble> {
        self.troubles
            .iter()
            .find(|trouble| trouble.endpoint == endpoint.id())
    }

    /// Until when an endpoint is left alone. `None` for one that the call has given up on.
    fn pause(&self, endpoint: &Endpoint<T>) -> Option<Instant> {
        self.trouble(endpoint).and_then(|trouble| trouble.until)
    }
}
