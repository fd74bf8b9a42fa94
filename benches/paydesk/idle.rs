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
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _already_ended = self.0.kill();
        let _status = self.0.wait();
    }
}

pub async fn measure() -> [Figure; 2] {
    let (mut ready, mut memory) = (Vec::new(), Vec::new());
    for _round in 0..ROUNDS {
        let bench = Bench::new().await;
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let started = Instant::now();
        let server = serve(&bench, port);
        let client = HttpClient::new(Duration::from_secs(2), None).unwrap();
        let url = format!("http://127.0.0.1:{port}/readyz");
        while client.get(&url, &[]).await.map_or(0, |answer| answer.status) != 200 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        ready.push(started.elapsed().as_secs_f64());
        tokio::time::sleep(Duration::from_secs(3)).await;
        memory.push(resident_mib(server.0.id()));
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

fn serve(bench: &Bench, port: u16) -> Server {
    let mut command = Command::new(env!("CARGO_BIN_EXE_paydesk"));
    command.arg("serve").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.env("DATABASE_URL", &bench.database_url).env("AMQP_URL", &bench.amqp_url);
    command.arg(format!("--listen=127.0.0.1:{port}")).arg(format!("--amqp-prefix={}", bench.prefix));
    command.arg(format!("--jwt-issuer={ISSUER}")).arg(format!("--jwt-audience={AUDIENCE}"));
    Server(command.env("PAYDESK_JWT_HS256_SECRET", SECRET).spawn().unwrap())
}

/// What stands in memory for this process alone and shared.
fn resident_mib(process: u32) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    f64::from(line.trim().trim_end_matches(" kB").parse::<u32>().unwrap()) / 1024.0
}
