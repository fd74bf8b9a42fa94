//! A server that was just started: how soon it is ready, and how much memory it holds.

use std::{
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use paydesk::httpclient::HttpClient;

use crate::{
    ROUNDS,
    report::Figure,
    setup::{AUDIENCE, Bench, ISSUER, SECRET},
};

/// A server process, ended with its owner.
pub struct Server {
    process: Child,
    addr: String,
}

impl Server {
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// Where it listens.
    pub fn addr(&self) -> &str {
        &self.addr
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _already_ended = self.process.kill();
        let _status = self.process.wait();
    }
}

pub async fn measure() -> [Figure; 2] {
    let (mut ready, mut memory) = (Vec::new(), Vec::new());
    for _round in 0..ROUNDS {
        let bench = Bench::new().await;
        let started = Instant::now();
        let server = serve(&bench, &bench.amqp_url, &[]).await;
        ready.push(started.elapsed().as_secs_f64());
        tokio::time::sleep(Duration::from_secs(3)).await;
        memory.push(resident_mib(server.id()));
        drop(server);
        bench.remove().await;
    }
    let ready = Figure {
        name: "start to ready, migrated database".to_owned(),
        unit: "s",
        product: ready,
        limit: Vec::new(),
        target: "≤ 1",
    };
    let memory = Figure {
        name: "memory of an idle process".to_owned(),
        unit: "MiB",
        product: memory,
        limit: Vec::new(),
        target: "≤ 60",
    };
    [ready, memory]
}

/// Starts a server with further settings, and waits until it is ready.
pub async fn serve(bench: &Bench, amqp_url: &str, settings: &[&str]) -> Server {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut command = Command::new(env!("CARGO_BIN_EXE_paydesk"));
    command.arg("serve").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.env("DATABASE_URL", &bench.database_url).env("AMQP_URL", amqp_url);
    command.arg(format!("--listen=127.0.0.1:{port}")).arg(format!("--amqp-prefix={}", bench.prefix));
    command.arg(format!("--jwt-issuer={ISSUER}")).arg(format!("--jwt-audience={AUDIENCE}")).args(settings);
    let process = command.env("PAYDESK_JWT_HS256_SECRET", SECRET).spawn().unwrap();
    let server = Server { process, addr: format!("127.0.0.1:{port}") };
    let client = HttpClient::new(Duration::from_secs(2), None).unwrap();
    let url = format!("http://127.0.0.1:{port}/readyz");
    while client.get(&url, &[]).await.map_or(0, |answer| answer.status) != 200 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    server
}

/// What stands in memory for this process alone and shared.
pub fn resident_mib(process: u32) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    f64::from(line.trim().trim_end_matches(" kB").parse::<u32>().unwrap()) / 1024.0
}
