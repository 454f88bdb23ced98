//! What the standard health service says, which is what the server does.

use sudoku_proto::v1::sudoku_service_server::SERVICE_NAME;
use tonic_health::ServingStatus;
use tonic_health::pb::health_server::HealthServer;
use tonic_health::server::{HealthReporter, HealthService};

/// The names that clients ask about: the server as a whole, and the service.
const NAMES: [&str; 2] = ["", SERVICE_NAME];

/// The state behind the health service.
#[derive(Debug)]
pub(crate) struct Health(HealthReporter);

impl Health {
    /// Says that the server takes calls.
    pub async fn serving() -> Self {
        let health = Self(HealthReporter::new());
        health.say(ServingStatus::Serving).await;
        health
    }

    /// The service that answers `Check` and `Watch`.
    pub fn service(&self) -> HealthServer<HealthService> {
        HealthServer::new(HealthService::from_health_reporter(self.0.clone()))
    }

    /// Says that the server takes no more calls.
    pub async fn not_serving(&self) {
        self.say(ServingStatus::NotServing).await;
    }

    /// Ends the `Watch` calls, which would otherwise hold their connections open.
    pub async fn end(mut self) {
        for name in NAMES {
            self.0.clear_service_status(name).await;
        }
    }

    async fn say(&self, status: ServingStatus) {
        for name in NAMES {
            self.0.set_service_status(name, status).await;
        }
    }
}
