//! A TCP proxy that a test puts before a service to break its connections without breaking the service.

use std::{
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::watch,
    time::Instant,
};

/// What the proxy does with connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Passes everything on.
    Pass,
    /// Keeps connections open and passes nothing on.
    Freeze,
    /// Passes everything on, so much later.
    Delay(Duration),
    /// Keeps connections open and loses what is sent on them, which end with it.
    Lose,
    /// Closes connections, old and new.
    Refuse,
}

pub struct Proxy {
    pub addr: SocketAddr,
    mode: watch::Sender<Mode>,
    late: Late,
    /// How often all connections were abandoned: older ones are silent for ever.
    abandoned: Arc<AtomicU64>,
}

/// What is answered late, once.
#[derive(Clone, Default)]
struct Late(Arc<Mutex<Option<LateAnswer>>>);

struct LateAnswer {
    /// What the client sends.
    marker: Vec<u8>,
    by: Duration,
}

impl Late {
    /// How long the answer to what was sent has to wait.
    fn wait(&self, sent: &[u8]) -> Option<Duration> {
        let mut late = self.0.lock().unwrap();
        let answer = late.as_ref()?;
        if !sent.windows(answer.marker.len()).any(|part| part == answer.marker) {
            return None;
        }
        late.take().map(|answer| answer.by)
    }
}

impl Proxy {
    /// Starts a proxy before `upstream` (`host:port`).
    pub async fn start(upstream: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        let mode = watch::Sender::new(Mode::Pass);
        let late = Late::default();
        let abandoned = Arc::new(AtomicU64::new(0));
        let (modes, answers, abandonments) = (mode.clone(), late.clone(), Arc::clone(&abandoned));
        tokio::spawn(async move {
            while let Ok((client, _peer)) = listener.accept().await {
                let (upstream, modes, late) = (upstream.clone(), modes.subscribe(), answers.clone());
                let (abandonments, born) = (Arc::clone(&abandonments), abandonments.load(Ordering::SeqCst));
                let is_abandoned = move || abandonments.load(Ordering::SeqCst) > born;
                tokio::spawn(async move { serve(client, upstream, modes, late, is_abandoned).await });
            }
        });
        Self { addr, mode, late, abandoned }
    }

    /// Starts a proxy before a service's URL (`scheme://user:password@host:port/path`); and the URL through it.
    pub async fn before(url: &str) -> (Self, String) {
        let (credentials, host_and_path) = url.rsplit_once('@').unwrap();
        let (host, path) = host_and_path.split_once('/').unwrap();
        let proxy = Self::start(host.to_owned()).await;
        let through = format!("{credentials}@{}/{path}", proxy.addr);
        (proxy, through)
    }

    pub fn pass(&self) {
        self.mode.send_replace(Mode::Pass);
    }

    pub fn freeze(&self) {
        self.mode.send_replace(Mode::Freeze);
    }

    /// Passes on what comes on new connections; those that are open stay open and pass nothing on for ever.
    pub fn abandon(&self) {
        self.abandoned.fetch_add(1, Ordering::SeqCst);
        self.pass();
    }

    pub fn delay(&self, by: Duration) {
        self.mode.send_replace(Mode::Delay(by));
    }

    pub fn lose(&self) {
        self.mode.send_replace(Mode::Lose);
    }

    pub fn refuse(&self) {
        self.mode.send_replace(Mode::Refuse);
    }

    /// Whatever is said on a connection after the client has sent `marker` on it, the next time, comes so much later.
    pub fn answer_late(&self, marker: &[u8], by: Duration) {
        *self.late.0.lock().unwrap() = Some(LateAnswer { marker: marker.to_vec(), by });
    }
}

async fn serve(
    client: TcpStream,
    upstream: String,
    mut modes: watch::Receiver<Mode>,
    late: Late,
    is_abandoned: impl Fn() -> bool,
) {
    if *modes.borrow() == Mode::Refuse {
        return;
    }
    let Ok(server) = TcpStream::connect(upstream).await else { return };
    let (client_read, client_write) = client.into_split();
    let (server_read, server_write) = server.into_split();
    let (up, down) = (modes.clone(), modes.clone());
    let answers_at = Mutex::new(Instant::now());
    let sent = |bytes: &[u8]| {
        if let Some(by) = late.wait(bytes) {
            *answers_at.lock().unwrap() = Instant::now() + by;
        }
        Instant::now()
    };
    let answered = |_bytes: &[u8]| *answers_at.lock().unwrap();
    tokio::select! {
        () = pump(client_read, server_write, up, sent, &is_abandoned) => {}
        () = pump(server_read, client_write, down, answered, &is_abandoned) => {}
        _ = modes.wait_for(|mode| *mode == Mode::Refuse) => {}
    }
}

async fn pump(
    mut from: tokio::net::tcp::OwnedReadHalf,
    mut to: tokio::net::tcp::OwnedWriteHalf,
    mut modes: watch::Receiver<Mode>,
    until: impl Fn(&[u8]) -> Instant,
    is_abandoned: impl Fn() -> bool,
) {
    let mut buffer = vec![0_u8; 16 * 1024];
    loop {
        let Ok(read) = from.read(&mut buffer).await else { return };
        let Ok(mode) = modes.wait_for(|mode| *mode != Mode::Freeze).await.map(|mode| *mode) else { return };
        if is_abandoned() {
            std::future::pending::<()>().await;
        }
        match mode {
            Mode::Delay(by) => tokio::time::sleep(by).await,
            Mode::Lose => {
                // What follows would make no sense without what was lost.
                let _over = modes.wait_for(|mode| *mode != Mode::Lose).await;
                return;
            }
            Mode::Pass | Mode::Freeze | Mode::Refuse => {}
        }
        tokio::time::sleep_until(until(&buffer[..read])).await;
        if read == 0 || to.write_all(&buffer[..read]).await.is_err() {
            return;
        }
    }
}
