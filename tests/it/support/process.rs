//! `paydesk serve` as a process of its own, which a test may kill.

use std::{
    collections::BTreeMap,
    process::{Child, Command, Stdio},
    time::Duration,
};

use super::{TestApp, app::SECRET, eventually, wait::within};

/// Longest wait for a process to do its work, also on a machine that has much else to do.
const STARTING: Duration = Duration::from_secs(60);

/// A running server process.
pub struct Process {
    pub base: String,
    child: Child,
}

/// A port that was free a moment ago.
pub fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// The library that gives a process another clock, where it is installed.
pub fn faketime() -> Option<String> {
    let folders = std::fs::read_dir("/usr/lib").ok()?.filter_map(Result::ok);
    let mut libraries = folders.map(|folder| folder.path().join("faketime/libfaketimeMT.so.1"));
    libraries.find(|library| library.exists()).map(|library| library.display().to_string())
}

impl Process {
    /// Starts a server on the database and the broker names of `beside`, and waits until it is ready.
    pub async fn start(beside: &TestApp, settings: &[(&str, &str)]) -> Self {
        Self::start_with_log(beside, settings, Stdio::inherit()).await
    }

    /// The same, with its log somewhere else.
    pub async fn start_with_log(beside: &TestApp, settings: &[(&str, &str)], log: Stdio) -> Self {
        let amqp_url = super::service_url("AMQP_URL");
        let fixed = [
            ("database-url", beside.db.url.as_str()),
            ("amqp-url", &amqp_url),
            ("amqp-prefix", beside.prefix.as_str()),
        ];
        let process = Self::spawn(&[&fixed, settings].concat(), &[], log);
        process.ready().await;
        process
    }

    /// Starts a server with these settings, of which the last of a name counts, and further variables.
    pub fn spawn(settings: &[(&str, &str)], variables: &[(&str, &str)], log: Stdio) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_paydesk"));
        command.arg("serve").stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        command.envs(variables.iter().copied());
        let own_base = format!("127.0.0.1:{}", free_port());
        let fixed = [
            ("listen", own_base.as_str()),
            ("amqp-reconnect-cap", "300ms"),
            ("amqp-queue-type", "classic"),
            ("consumer-retry-delay", "50ms"),
            ("jwt-hs256-secret", SECRET),
            ("jwt-issuer", "paydesk-tests"),
            ("jwt-audience", "paydesk"),
        ];
        let settings: BTreeMap<&str, &str> = fixed.iter().chain(settings).copied().collect();
        command.args(settings.iter().map(|(flag, value)| format!("--{flag}={value}")));
        Self { child: command.spawn().unwrap(), base: settings["listen"].to_owned() }
    }

    /// Waits until it serves and has a connection to the broker.
    pub async fn ready(&self) {
        let client = paydesk::httpclient::HttpClient::new(Duration::from_secs(2), None).unwrap();
        let url = format!("http://{}/readyz", self.base);
        within(STARTING, "the process is ready, and the broker up", async || {
            let answer = client.get(&url, &[]).await.ok()?;
            String::from_utf8_lossy(&answer.body).contains("\"broker\":\"up\"").then_some(())
        })
        .await;
    }

    /// Waits until every queue that can be consumed is.
    pub async fn consuming(&self) {
        let client = paydesk::httpclient::HttpClient::new(Duration::from_secs(2), None).unwrap();
        let url = format!("http://{}/readyz", self.base);
        within(STARTING, "every queue is consumed", async || {
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

    /// How it ended, if it has.
    pub fn ended(&mut self) -> Option<std::process::ExitStatus> {
        self.child.try_wait().unwrap()
    }

    /// SIGSTOP or SIGCONT: it stands still, or goes on as if nothing had been.
    pub fn signal(&self, signal: &str) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
    }

    /// SIGTERM, and the exit code.
    pub async fn terminate(mut self) -> Option<i32> {
        self.signal("-TERM");
        eventually("the process ends", async || self.ended()).await.code()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _already_ended = self.child.kill();
        let _status = self.child.wait();
    }
}
