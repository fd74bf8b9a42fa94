//! `paydesk serve` as a process of its own, which a test may kill.

use std::{
    process::{Child, Command, Stdio},
    time::Duration,
};

use super::{TestApp, app::SECRET, eventually};

/// A running server process.
pub struct Process {
    pub base: String,
    child: Child,
}

/// A port that was free a moment ago.
pub fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

impl Process {
    /// Starts a server on the database and the broker names of `beside`, and waits until it is ready.
    pub async fn start(beside: &TestApp, settings: &[(&str, &str)]) -> Self {
        Self::start_with_log(beside, settings, Stdio::inherit()).await
    }

    /// The same, with its log somewhere else.
    pub async fn start_with_log(beside: &TestApp, settings: &[(&str, &str)], log: Stdio) -> Self {
        let listen = settings.iter().find(|(flag, _value)| *flag == "listen");
        let base =
            listen.map_or_else(|| format!("127.0.0.1:{}", free_port()), |(_flag, base)| (*base).to_owned());
        let mut command = Command::new(env!("CARGO_BIN_EXE_paydesk"));
        command.arg("serve").stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        let fixed = [
            ("listen", base.as_str()),
            ("database-url", beside.db.url.as_str()),
            ("amqp-url", &super::service_url("AMQP_URL")),
            ("amqp-prefix", beside.prefix.as_str()),
            ("amqp-reconnect-cap", "300ms"),
            ("amqp-queue-type", "classic"),
            ("consumer-retry-delay", "50ms"),
            ("jwt-hs256-secret", SECRET),
            ("jwt-issuer", "paydesk-tests"),
            ("jwt-audience", "paydesk"),
        ];
        let given = |flag: &str| settings.iter().any(|(known, _value)| *known == flag);
        for (flag, value) in fixed.iter().filter(|(flag, _value)| !given(flag)).chain(settings) {
            command.arg(format!("--{flag}={value}"));
        }
        let process = Self { child: command.spawn().unwrap(), base };
        process.ready().await;
        process
    }

    async fn ready(&self) {
        let client = paydesk::httpclient::HttpClient::new(Duration::from_secs(2), None).unwrap();
        let url = format!("http://{}/readyz", self.base);
        eventually("the process is ready, and the broker up", async || {
            let answer = client.get(&url, &[]).await.ok()?;
            String::from_utf8_lossy(&answer.body).contains("\"broker\":\"up\"").then_some(())
        })
        .await;
    }

    /// Waits until every queue that can be consumed is.
    pub async fn consuming(&self) {
        let client = paydesk::httpclient::HttpClient::new(Duration::from_secs(2), None).unwrap();
        let url = format!("http://{}/readyz", self.base);
        eventually("every queue is consumed", async || {
            let answer = client.get(&url, &[]).await.ok()?;
            (!String::from_utf8_lossy(&answer.body).contains("not consuming")).then_some(())
        })
        .await;
    }

    /// What stands in memory for it, in KiB.
    pub fn resident_kib(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    }

    /// SIGKILL: the process has no say in it.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// SIGTERM, and the exit code.
    pub async fn terminate(mut self) -> Option<i32> {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        eventually("the process ends", async || self.child.try_wait().unwrap()).await.code()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _already_ended = self.child.kill();
        let _status = self.child.wait();
    }
}
