//! What the calls of a client have in common, and how a call of one message is made.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::time::Duration;

use sudoku_proto::wire::sudoku_service_client::SudokuServiceClient;
use tokio::sync::Semaphore;
use tokio::time::sleep;
use tonic::{Request, Response, Status};

use crate::deadline::Deadline;
use crate::endpoints::{EndpointId, Endpoints, Lease, Watch};
use crate::retry::{Attempts, Policy};
use crate::token::Token;
use crate::{Error, SolveOptions, Transport, telemetry, wire};

/// How a client makes its calls.
#[derive(Debug, Clone)]
pub(crate) struct Calls<T> {
    pub(crate) endpoints: Endpoints<T>,
    pub(crate) policy: Policy,
    /// After which time without an answer a second server is asked to solve the same puzzle.
    pub(crate) hedge: Option<Duration>,
    /// The places for calls of one message.
    pub(crate) places: Arc<Semaphore>,
    pub(crate) token: Option<Token>,
    /// The most bytes of a reply.
    pub(crate) longest_reply: usize,
}

impl<T: Transport> Calls<T> {
    pub(crate) fn set_options(&mut self, options: &SolveOptions) {
        self.longest_reply = wire::longest_reply(options);
    }

    /// The stub for a call over a connection.
    pub(crate) fn rpc(&self, lease: &Lease<T>) -> SudokuServiceClient<T> {
        SudokuServiceClient::new(lease.service()).max_decoding_message_size(self.longest_reply)
    }

    pub(crate) fn request<M>(&self, deadline: Deadline, message: M) -> Request<M> {
        let mut request = deadline.request(message);
        if let Some(token) = &self.token {
            token.add_to(request.metadata_mut());
        }
        telemetry::inject(request.metadata_mut());
        request
    }

    pub(crate) fn attempts(&self, deadline: Deadline) -> Attempts<T> {
        Attempts::new(self.endpoints.clone(), self.policy.clone(), deadline)
    }

    /// Makes a call of one message, as often as it takes.
    pub(crate) async fn unary<M, R, F>(
        &self,
        deadline: Deadline,
        message: M,
        call: impl Fn(SudokuServiceClient<T>, Request<M>) -> F,
    ) -> Result<R, Error>
    where
        M: Clone,
        F: Future<Output = Result<Response<R>, Status>>,
    {
        self.tries(deadline, &message, &call, None, &Place::default())
            .await
    }

    /// The same, with a second server asked as well if the answer is long in coming.
    pub(crate) async fn hedged<M, R, F>(
        &self,
        deadline: Deadline,
        message: M,
        call: impl Fn(SudokuServiceClient<T>, Request<M>) -> F,
    ) -> Result<R, Error>
    where
        M: Clone,
        F: Future<Output = Result<Response<R>, Status>>,
    {
        let Some(delay) = self.hedge else {
            return self.unary(deadline, message, call).await;
        };
        let place = Place::default();
        let mut first = pin!(self.tries(deadline, &message, &call, None, &place));
        tokio::select! {
            biased;
            answer = &mut first => return answer,
            () = sleep(delay) => {}
        }
        let taken = place.get();
        let members = self.endpoints.members();
        let is_other = |id: EndpointId| Some(id) != taken;
        let exists = members
            .iter()
            .any(|endpoint| endpoint.is_serving() && is_other(endpoint.id()));
        if !exists || !self.policy.allows_another() {
            return first.await;
        }
        let elsewhere = Place::default();
        let mut second = pin!(self.tries(deadline, &message, &call, taken, &elsewhere));
        // The first that succeeds; a failure waits for the other.
        tokio::select! {
            answer = &mut first => if answer.is_ok() { answer } else { second.await },
            answer = &mut second => if answer.is_ok() { answer } else { first.await },
        }
    }

    /// Tries until a call succeeds or it is time to give up, at any endpoint but `avoid`, and notes in `place` where.
    async fn tries<M, R, F>(
        &self,
        deadline: Deadline,
        message: &M,
        call: &impl Fn(SudokuServiceClient<T>, Request<M>) -> F,
        avoid: Option<EndpointId>,
        place: &Place,
    ) -> Result<R, Error>
    where
        M: Clone,
        F: Future<Output = Result<Response<R>, Status>>,
    {
        // Never closed, so that it always comes.
        let _place = deadline.limit(self.places.acquire()).await?;
        let mut attempts = self.attempts(deadline);
        loop {
            let mut lease = deadline
                .limit(attempts.lease(|endpoint| Some(endpoint) != avoid))
                .await??;
            place.set(lease.endpoint().id());
            lease.sent(1);
            let request = self.request(deadline, message.clone());
            let answer = deadline.bound(call(self.rpc(&lease), request));
            match self.watch(&lease, answer).await {
                Ok(answer) => {
                    lease.answered(1);
                    self.policy.succeeded();
                    return Ok(answer);
                }
                Err(error) => attempts.failed(Some(lease.endpoint()), error)?,
            }
        }
    }

    /// Waits for an answer as long as the server lives.
    async fn watch<R>(
        &self,
        lease: &Lease<T>,
        answer: impl Future<Output = Result<R, Error>>,
    ) -> Result<R, Error> {
        if !self.policy.looks_after() {
            return answer.await;
        }
        let mut answer = pin!(answer);
        let mut watch = Watch::new(lease);
        poll_fn(|cx| {
            if let Poll::Ready(answer) = answer.as_mut().poll(cx) {
                return Poll::Ready(answer);
            }
            watch.poll_gone(cx).map(Err)
        })
        .await
    }
}

/// Where a call is being tried.
#[derive(Debug, Default)]
struct Place(Mutex<Option<EndpointId>>);

impl Place {
    fn set(&self, endpoint: EndpointId) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(endpoint);
    }

    fn get(&self) -> Option<EndpointId> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
