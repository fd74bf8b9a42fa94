//! The process's metrics, for Prometheus.

use std::sync::OnceLock;

use metrics::{Unit, describe_counter, describe_gauge, describe_histogram, set_global_recorder};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};

use super::names::{ALL, Kind};

/// A recorder belongs to the process: several apps in one process, as in tests, share it.
static HANDLE: OnceLock<PrometheusHandle> = OnceLock::new();

/// What was recorded so far.
#[derive(Debug, Clone)]
pub struct Metrics(PrometheusHandle);

/// The process's metrics. The first call starts recording; what is recorded before it is lost.
pub fn metrics() -> Metrics {
    Metrics(HANDLE.get_or_init(install).clone())
}

impl Metrics {
    /// Everything in Prometheus' text format.
    pub fn render(&self) -> String {
        self.0.run_upkeep();
        self.0.render()
    }

    /// Moves recorded durations into their buckets. Until then each takes memory, so a worker calls this every few
    /// seconds: nobody may be scraping.
    pub fn run_upkeep(&self) {
        self.0.run_upkeep();
    }
}

fn install() -> PrometheusHandle {
    let recorder = ALL.iter().fold(PrometheusBuilder::new(), with_buckets).build_recorder();
    let handle = recorder.handle();
    if set_global_recorder(recorder).is_err() {
        tracing::error!("another metrics recorder is installed: /metrics will be empty");
    }
    for (name, kind, description) in ALL {
        match kind {
            Kind::Counter => describe_counter!(name, description),
            Kind::Gauge => describe_gauge!(name, description),
            Kind::Seconds(_) => describe_histogram!(name, Unit::Seconds, description),
        }
    }
    handle
}

fn with_buckets(builder: PrometheusBuilder, (name, kind, _): &(&str, Kind, &str)) -> PrometheusBuilder {
    match kind {
        // Only an empty list of buckets is refused, and `ALL` has none.
        Kind::Seconds(bounds) => {
            builder.set_buckets_for_metric(Matcher::Full((*name).to_owned()), bounds).unwrap_or_default()
        }
        Kind::Counter | Kind::Gauge => builder,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::telemetry::record;

    const SECOND: Duration = Duration::from_secs(1);

    /// Records one of everything.
    fn record_all() {
        record::outbox_rows("PENDING", 3);
        record::outbox_oldest_pending(Some(SECOND));
        record::outbox_published(SECOND);
        record::outbox_attempt("published");
        record::broker(true, false);
        record::pool(2, 1, 16);
        record::pool_checkout(SECOND);
        record::graphql_request("query", "payments", "ok", SECOND);
        record::graphql_error("FORBIDDEN");
        drop((record::websocket(), record::subscription()));
        record::failure("OUTBOX_FAILED");
        record::consumer_message("payment.meeting.deleted", "done");
        record::charge("PG", "COMPLETE");
        record::charge_job_attempt("DONE");
        record::charge_jobs("PENDING", 1);
        record::charge_jobs_stranded(0);
        record::worker_run("outbox-pending", SECOND, true);
        record::provider_call("toss", "key-in", "ok", SECOND);
    }

    /// The value of the series that starts with `series`.
    fn value(text: &str, series: &str) -> Option<f64> {
        text.lines().find_map(|line| line.strip_prefix(series)?.trim().parse().ok())
    }

    #[test]
    fn every_metric_is_recorded_described_and_rendered_in_its_kind() {
        let metrics = metrics();
        record_all();
        let text = metrics.render();
        for (name, kind, description) in ALL {
            let kind = match kind {
                Kind::Counter => "counter",
                Kind::Gauge => "gauge",
                Kind::Seconds(_) => "histogram",
            };
            assert!(text.contains(&format!("# TYPE {name} {kind}\n")), "{name}");
            assert!(text.contains(&format!("# HELP {name} {description}\n")), "{name}");
        }
        assert!(text.contains("paydesk_outbox_publish_seconds_bucket{le=\"3600\"}"));
        assert!(text.contains("{operation=\"query\",field=\"payments\",outcome=\"ok\",le=\"1\"}"));
    }

    #[test]
    fn a_second_call_gives_the_same_metrics() {
        let (first, second) = (metrics(), metrics());
        record::failure("PAYMENT_FAILED");
        let series = "paydesk_failures_total{kind=\"PAYMENT_FAILED\"}";
        assert_eq!(value(&first.render(), series), Some(1.0));
        assert_eq!(value(&second.render(), series), Some(1.0));
    }

    #[test]
    fn values_are_the_ones_recorded() {
        let metrics = metrics();
        record::outbox_rows("FAILED", i64::MAX);
        record::outbox_rows("PUBLISHED", -1);
        record::worker_run("outbox-cleanup", SECOND, true);
        let failures = "paydesk_worker_failures_total{worker=\"outbox-cleanup\"}";
        assert_eq!(value(&metrics.render(), failures), Some(0.0));
        record::worker_run("outbox-cleanup", SECOND, false);
        let text = metrics.render();
        assert_eq!(value(&text, failures), Some(1.0));
        assert_eq!(value(&text, "paydesk_worker_runs_total{worker=\"outbox-cleanup\"}"), Some(2.0));
        assert_eq!(value(&text, "paydesk_outbox_rows{status=\"FAILED\"}"), Some(f64::from(u32::MAX)));
        assert_eq!(value(&text, "paydesk_outbox_rows{status=\"PUBLISHED\"}"), Some(0.0));
    }

    #[test]
    fn what_is_open_counts_down_when_it_goes() {
        // A recorder of its own: other tests open and close things in the process's.
        let recorder = PrometheusBuilder::new().build_recorder();
        let handle = recorder.handle();
        metrics::with_local_recorder(&recorder, || {
            let first = record::subscription();
            let second = record::subscription();
            assert_eq!(value(&handle.render(), "paydesk_subscriptions"), Some(2.0));
            drop((first, second));
            assert_eq!(value(&handle.render(), "paydesk_subscriptions"), Some(0.0));
        });
    }
}
