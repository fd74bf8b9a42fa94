//! PostgreSQL and RabbitMQ of a test's own, which it may stop, freeze and starve.

use std::process::Command;

/// Private services, ended with the test.
pub struct OwnServices {
    instance: &'static str,
    pub amqp_url: String,
    pub database_url: String,
}

fn services(arguments: &[&str]) -> String {
    let script = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("dev/services");
    let output = Command::new(script).args(arguments).output().unwrap();
    assert!(
        output.status.success(),
        "dev/services {arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

impl OwnServices {
    pub fn start(instance: &'static str) -> Self {
        services(&["up", "--private", instance]);
        let exports = services(&["env", instance]);
        let url = |variable: &str| {
            let url = exports.split_whitespace().find_map(|word| word.strip_prefix(variable)).unwrap();
            url.trim_matches('\'').to_owned()
        };
        Self { instance, amqp_url: url("AMQP_URL="), database_url: url("DATABASE_URL=") }
    }

    /// `stop`, `start`, `restart`, `freeze` or `thaw`, and which of the two.
    pub fn tell(&self, what: &str, service: &str) {
        services(&[what, self.instance, service]);
    }

    /// Has the broker's own tool do something.
    pub fn ctl(&self, arguments: &[&str]) {
        services(&[&["rabbitmqctl", self.instance], arguments].concat());
    }
}

impl Drop for OwnServices {
    fn drop(&mut self) {
        services(&["down", self.instance]);
    }
}
