//! A server that passes bytes on to another, counts its connections, and can let them die without a word.

use std::{
    io::{Read as _, Write as _},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use crate::{credentials::admin, harness::Cluster};

#[derive(Default)]
struct Counters {
    /// The connections so far.
    opened: AtomicUsize,
    /// Those that both ends have closed.
    closed: AtomicUsize,
    /// Of these first connections, nothing arrives any more.
    dead: AtomicUsize,
}

pub(super) struct Pipe {
    address: SocketAddr,
    counters: Arc<Counters>,
}

impl Pipe {
    /// Listens until the test process ends.
    pub(super) fn to(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let counters = Arc::<Counters>::default();
        let shared = counters.clone();
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(server) = TcpStream::connect(server) else { continue };
                let number = shared.opened.fetch_add(1, Ordering::SeqCst);
                for stream in [&client, &server] {
                    let _ = stream.set_nodelay(true);
                }
                let (Ok(client_too), Ok(server_too)) = (client.try_clone(), server.try_clone()) else { continue };
                let counters = shared.clone();
                thread::spawn(move || {
                    let there = {
                        let counters = counters.clone();
                        thread::spawn(move || pass_on(client_too, server_too, number, &counters))
                    };
                    pass_on(server, client, number, &counters);
                    let _ = there.join();
                    counters.closed.fetch_add(1, Ordering::SeqCst);
                });
            }
        });
        Pipe { address, counters }
    }

    /// A kubeconfig of the admin that leads through the pipe to the API server.
    pub(super) fn to_api_server(cluster: &Cluster, folder: &Path) -> (Self, PathBuf) {
        let (mut kubeconfig, _) = admin(cluster);
        let server = &mut kubeconfig["clusters"][0]["cluster"]["server"];
        let address = server.as_str().and_then(|url| url.strip_prefix("https://")).expect("an https server");
        let pipe = Self::to(address.parse().expect("an address"));
        *server = format!("https://{}", pipe.address).into();
        let path = folder.join("through-pipe");
        std::fs::write(&path, kubeconfig.to_string()).expect("a kubeconfig");
        (pipe, path)
    }

    /// How many connections were opened so far.
    pub(super) fn opened(&self) -> usize {
        self.counters.opened.load(Ordering::SeqCst)
    }

    /// How many of them are open.
    pub(super) fn open(&self) -> usize {
        self.opened() - self.counters.closed.load(Ordering::SeqCst)
    }

    /// From now on, nothing arrives through the connections that there are. Neither end is told.
    pub(super) fn let_all_die(&self) {
        self.counters.dead.store(self.opened(), Ordering::SeqCst);
    }
}

fn pass_on(mut from: TcpStream, mut to: TcpStream, number: usize, counters: &Counters) {
    let mut buffer = vec![0; 64 << 10];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        if number >= counters.dead.load(Ordering::SeqCst) && to.write_all(&buffer[..count]).is_err() {
            break;
        }
    }
    let is_dead = number < counters.dead.load(Ordering::SeqCst);
    let _ = from.shutdown(Shutdown::Read);
    if !is_dead {
        let _ = to.shutdown(Shutdown::Write);
    }
}
