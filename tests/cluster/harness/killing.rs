//! Kills the built program at its n-th request, never at a time: so every moment can be tried, and tried again.
//!
//! From one request to the next, a run changes nothing that outlives it but its files. So what it leaves behind at any
//! time is what it leaves just before a request reaches the server, or just after the server has done it.

use std::{
    process::{Child, ExitStatus, Stdio},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use super::{
    cluster::Cluster,
    proxy::{CountingProxy, Fault, Gate, Request},
    run::Ran,
    wait::{Retry, poll},
};

/// Generous, because the machine may be busy.
const PATIENCE: Duration = Duration::from_mins(2);

/// A moment of a run. Requests are numbered from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// The server has not got this request.
    Before(usize),
    /// The server has answered this request, and the program doesn't know.
    After(usize),
}

impl Moment {
    /// All moments, one after the other.
    pub fn all() -> impl Iterator<Item = Self> {
        (1..).flat_map(|number| [Self::Before(number), Self::After(number)])
    }

    /// Of the moments of a run with so many requests, the first, both of the last request, and others between them: at
    /// most this many.
    pub fn some(requests: usize, most: usize) -> Vec<Self> {
        let last = 2 * requests - 1;
        let step = |index: usize| index * (most - 2).min(last) / last;
        let is_one = |index: usize| index == 0 || index >= last - 1 || step(index) > step(index - 1);
        Self::all().take(last + 1).enumerate().filter(|(index, _)| is_one(*index)).map(|(_, moment)| moment).collect()
    }
}

/// Whether a request writes. What may be written is only asked for with a POST.
pub fn is_write(request: &Request) -> bool {
    request.method != "GET" && !request.path.starts_with("/apis/authorization.k8s.io/")
}

/// Holds a run at a moment: the request of that moment, and those that follow.
pub struct Halt {
    moment: Moment,
    counts: Box<dyn Fn(&Request) -> bool + Send + Sync>,
    counted: AtomicUsize,
    gate: Arc<Gate>,
}

impl Halt {
    /// Of all requests, only those that count have a number.
    pub fn at(moment: Moment, counts: impl Fn(&Request) -> bool + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self { moment, counts: Box::new(counts), counted: AtomicUsize::new(0), gate: Arc::default() })
    }

    /// What becomes of a request.
    pub fn strike(&self, request: &Request) -> Option<Fault> {
        if !(self.counts)(request) {
            return None;
        }
        let number = self.counted.fetch_add(1, Ordering::Relaxed) + 1;
        let gate = Arc::clone(&self.gate);
        match self.moment {
            Moment::Before(halted) | Moment::After(halted) if number > halted => Some(Fault::Hang),
            Moment::Before(halted) if number == halted => Some(Fault::Before(gate)),
            Moment::After(halted) if number == halted => Some(Fault::After(gate)),
            Moment::Before(_) | Moment::After(_) => None,
        }
    }

    /// Whether the run is at the moment, and the server has answered every other write: it does nothing any more.
    pub fn is_reached(&self, proxy: &CountingProxy) -> bool {
        let is_open = |request: &Request| is_write(request) && !request.held && request.status.is_none();
        self.gate.is_reached() && !proxy.requests().iter().any(is_open)
    }
}

/// Runs commands, and stops them at a moment.
pub struct Killer<'c> {
    cluster: &'c Cluster,
    proxy: CountingProxy,
    counts: fn(&Request) -> bool,
}

impl<'c> Killer<'c> {
    /// Of all requests, only those that count have a number.
    pub fn of(cluster: &'c Cluster, counts: fn(&Request) -> bool) -> Self {
        Self { cluster, proxy: CountingProxy::start(cluster), counts }
    }

    /// Lets a run come to its end.
    #[track_caller]
    pub fn run(&self, args: &[&str]) -> Ran {
        self.proxy.without();
        self.proxy.forget();
        self.cluster.gc_with(self.proxy.kubeconfig(), args)
    }

    /// Lets a run come to its end with success, and tells how many requests that count every such run makes. One that
    /// was refused is made again, and doesn't happen each time.
    #[track_caller]
    pub fn requests(&self, args: &[&str]) -> usize {
        self.run(args).expect(0);
        let is_done = |request: &&Request| (self.counts)(request) && request.status.is_some_and(|status| status < 300);
        self.proxy.requests().iter().filter(is_done).count()
    }

    /// Kills a run at this moment. Returns whether it came so far: otherwise it has ended with success.
    #[track_caller]
    pub fn kill(&self, moment: Moment, args: &[&str]) -> bool {
        let kill = |child: &mut Child, _: &Gate| child.kill().expect("it can be killed");
        self.stop(moment, args, kill).is_some()
    }

    /// Stops a run at this moment, does something to it, and waits for its end; `None` if it didn't come so far.
    #[track_caller]
    pub fn stop(&self, moment: Moment, args: &[&str], act: impl FnOnce(&mut Child, &Gate)) -> Option<ExitStatus> {
        let halt = Halt::at(moment, self.counts);
        self.proxy.forget();
        self.proxy.with({
            let halt = Arc::clone(&halt);
            move |request| halt.strike(request)
        });
        let mut command = self.cluster.gc_command(self.proxy.kubeconfig());
        command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().expect("kubectl-gc runs");
        let ended = poll(PATIENCE, || match child.try_wait() {
            _ if halt.is_reached(&self.proxy) => Ok(None),
            Ok(None) => Err(Retry::Later(format!("{:#?}", self.proxy.requests()))),
            ended => ended.map_err(|error| Retry::Never(error.to_string())),
        });
        match ended {
            Ok(None) => {
                act(&mut child, &halt.gate);
                Some(child.wait().expect("it ends"))
            }
            Ok(Some(status)) => {
                assert!(status.success(), "{args:?} doesn't come to {moment:?}: {status}");
                None
            }
            Err(last) => {
                let _ = child.kill();
                panic!("{args:?} neither comes to {moment:?} nor ends: {last}")
            }
        }
    }
}
