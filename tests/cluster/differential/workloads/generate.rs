//! Random cases. The same seed always gives the same case.

use proptest::{prelude::RngExt as _, test_runner::TestRng};

use super::case::{Case, Piece};
use crate::{
    graphs::generate::{one_of, rng},
    plan::trial::POLICIES,
};

/// The case for a seed.
pub fn case(seed: u64) -> Case {
    let mut making = Making { rng: rng(seed), pieces: Vec::new(), targets: Vec::new(), nodes: Vec::new(), names: 0 };
    making.nodes();
    for _ in 0..making.rng.random_range(1..=4) {
        making.family();
    }
    if making.some(1) {
        making.admission();
    }
    let Making { mut rng, pieces, mut targets, nodes, .. } = making;
    targets.push("namespace/own".to_owned());
    targets.push("serviceaccount/default".to_owned());
    targets.push("configmap/kube-root-ca.crt".to_owned());
    targets.extend(nodes.iter().map(|node| format!("node/{node}")));
    // What has something below it tells more than a leaf.
    let is_leaf = |target: &str| {
        ["configmap/", "secret/", "poddisruptionbudget/", "resourcequota/", "ingress/", "horizontalpodautoscaler/"]
            .iter()
            .any(|sort| target.starts_with(sort))
    };
    let roots: Vec<&String> = targets.iter().filter(|target| !is_leaf(target)).collect();
    let number = one_of(&mut rng, &[1, 1, 1, 1, 2, 2, 3]);
    let mut wanted: Vec<String> = Vec::new();
    for _ in 0..number {
        let target = if rng.random_ratio(8, 10) {
            roots[rng.random_range(0..roots.len())].clone()
        } else {
            targets[rng.random_range(0..targets.len())].clone()
        };
        if !wanted.contains(&target) {
            wanted.push(target);
        }
    }
    Case { from: format!("seed {seed}"), pieces, targets: wanted, policy: one_of(&mut rng, &POLICIES) }
}

/// A case that is being made.
struct Making {
    rng: TestRng,
    pieces: Vec<Piece>,
    /// What may be deleted.
    targets: Vec<String>,
    nodes: Vec<String>,
    names: usize,
}

impl Making {
    fn some(&mut self, tenths: u32) -> bool {
        self.rng.random_ratio(tenths, 10)
    }

    fn name(&mut self, letter: &str) -> String {
        self.names += 1;
        format!("{letter}{}", self.names)
    }

    /// Adds a piece, which may be a target.
    fn add(&mut self, piece: Piece) {
        self.targets.push(piece.called());
        self.pieces.push(piece);
    }

    fn nodes(&mut self) {
        for number in 0..one_of(&mut self.rng, &[0, 1, 1, 2]) {
            let name = format!("n{number}");
            let silent = self.some(2).then_some("yes");
            self.pieces.push(Piece::new("node", &name).maybe("silent", silent));
            self.nodes.push(name);
        }
    }

    /// A node for the pods of a workload; or none, and they stay Pending.
    fn on(&mut self) -> Option<String> {
        if self.nodes.is_empty() || self.some(2) {
            return None;
        }
        Some(self.nodes[self.rng.random_range(0..self.nodes.len())].clone())
    }

    /// Some things that belong together.
    fn family(&mut self) {
        match self.rng.random_range(0..15) {
            0 | 1 => self.deployment(),
            2 => self.replica_set(),
            3 | 4 => self.stateful_set(),
            5 => self.daemon_set(),
            6 => self.job(),
            7 => self.cron_job(),
            8 => self.bare_pod(),
            9 => self.service_without_selector(),
            10 => self.account(),
            11 => self.kind(),
            12 => self.rivals(),
            13 => self.mirror(),
            _ => self.foreign_job(),
        }
    }

    fn deployment(&mut self) {
        let name = self.name("web");
        let (replicas, rollouts) = (self.rng.random_range(0..=2), one_of(&mut self.rng, &[0, 0, 1, 2]));
        let (on, paused) = (self.on(), self.some(2).then_some("yes"));
        let mut web =
            Piece::new("deployment", &name).with("replicas", replicas).maybe("on", on).maybe("paused", paused);
        if rollouts > 0 {
            web = web.with("rollouts", rollouts);
        }
        self.add(web);
        self.targets.push(format!("replicaset-of/{name}"));
        self.targets.push(format!("pod-of/{name}"));
        if self.some(3) {
            let piece = Piece::new("horizontalpodautoscaler", &format!("{name}-scale")).with("target", &name);
            self.add(piece);
        }
        self.about_pods(&name);
        self.dependents(&format!("deployment/{name}"));
    }

    fn replica_set(&mut self) {
        let name = self.name("set");
        let sort = one_of(&mut self.rng, &["replicaset", "replicaset", "replicationcontroller"]);
        let (replicas, on) = (self.rng.random_range(0..=3), self.on());
        self.add(Piece::new(sort, &name).with("replicas", replicas).maybe("on", on));
        self.targets.push(format!("pod-of/{name}"));
        self.about_pods(&name);
        self.dependents(&format!("{sort}/{name}"));
    }

    fn stateful_set(&mut self) {
        let name = self.name("db");
        let replicas = self.rng.random_range(1..=2);
        let claims = self.some(8);
        if claims {
            for number in 0..replicas {
                self.volume(&format!("data-{name}-{number}"));
            }
        }
        let retention = one_of(&mut self.rng, &["", "Delete/Delete", "Delete/Retain", "Retain/Delete"]);
        let on = self.on();
        // Scaled down once: the claims of the pods that went may still be there.
        let before = self.some(2).then_some(replicas + 1);
        let db = Piece::new("statefulset", &name)
            .with("replicas", replicas)
            .maybe("before", before)
            .maybe("claims", claims.then_some("yes"))
            .maybe("retention", (!retention.is_empty()).then_some(retention))
            .maybe("on", on);
        self.add(db);
        self.targets.push(format!("pod-of/{name}"));
        self.targets.push(format!("revision-of/{name}"));
        if claims {
            self.targets.push(format!("persistentvolumeclaim/data-{name}-0"));
        }
        self.about_pods(&name);
        self.dependents(&format!("statefulset/{name}"));
    }

    /// A volume for a claim, or none: the claim stays Pending.
    fn volume(&mut self, claim: &str) {
        if self.some(7) {
            let reclaim = one_of(&mut self.rng, &["Delete", "Retain"]);
            let name = format!("v-{claim}");
            self.add(Piece::new("volume", &name).with("claim", claim).with("reclaim", reclaim));
        }
    }

    fn daemon_set(&mut self) {
        let name = self.name("agent");
        self.add(Piece::new("daemonset", &name));
        if !self.nodes.is_empty() {
            self.targets.push(format!("pod-of/{name}"));
        }
        self.targets.push(format!("revision-of/{name}"));
        self.dependents(&format!("daemonset/{name}"));
    }

    fn job_piece(&mut self, sort: &str, name: &str) -> Piece {
        let on = self.on();
        let end = one_of(&mut self.rng, &["run", "run", "succeed", "fail"]);
        // One that has finished already goes while the test looks.
        let ttl = self.some(3).then_some(if (sort, end) == ("job", "run") { 5 } else { 3600 });
        let suspended = (sort == "cronjob" || self.some(1)).then_some("yes");
        let pods = self.rng.random_range(1..=2);
        Piece::new(sort, name)
            .with("pods", pods)
            .with("end", end)
            .maybe("on", on)
            .maybe("ttl", ttl)
            .maybe("suspended", suspended)
    }

    fn job(&mut self) {
        let name = self.name("batch");
        let job = self.job_piece("job", &name);
        self.add(job);
        self.targets.push(format!("pod-of/{name}"));
        self.dependents(&format!("job/{name}"));
    }

    fn cron_job(&mut self) {
        let name = self.name("nightly");
        let cron_job = self.job_piece("cronjob", &name);
        self.add(cron_job);
        if self.some(8) {
            let job = self.name("run");
            let piece = self.job_piece("job", &job).with("owners", format!("cronjob/{name}!*"));
            self.add(piece);
            self.targets.push(format!("pod-of/{job}"));
        }
    }

    fn bare_pod(&mut self) {
        let name = self.name("pod");
        let on = self.on();
        let mut pod = Piece::new("pod", &name).maybe("on", on);
        if self.some(4) {
            let claim = self.name("claim");
            self.claim(&claim);
            pod = pod.with("claim", claim);
        }
        if self.some(4) {
            self.volume(&format!("{name}-scratch"));
            pod = pod.with("ephemeral", "yes");
        }
        if self.some(2) {
            let devices = self.name("devices");
            self.add(Piece::new("resourceclaimtemplate", &devices));
            pod = pod.with("devices", devices);
        }
        self.add(pod);
        self.dependents(&format!("pod/{name}"));
    }

    /// The mirror of a static pod: its kubelet owns it, and makes it again.
    fn mirror(&mut self) {
        let Some(node) = self.on() else { return };
        let name = self.name("static");
        self.add(Piece::new("pod", &name).with("mirror", &node).with("owners", format!("node/{node}*")));
        self.dependents(&format!("pod/{name}"));
    }

    fn claim(&mut self, name: &str) {
        let volume = self.pieces.len();
        self.volume(name);
        let volume = (self.pieces.len() > volume).then(|| format!("v-{name}"));
        self.add(Piece::new("persistentvolumeclaim", name).maybe("volume", volume));
    }

    fn service_without_selector(&mut self) {
        let name = self.name("ext");
        let sort = one_of(&mut self.rng, &[None, Some("Headless"), Some("ExternalName")]);
        self.add(Piece::new("service", &name).maybe("type", sort));
        if self.some(7) {
            self.add(Piece::new("endpoints", &name));
            self.targets.push(format!("slice-of/{name}"));
            self.dependents(&format!("endpoints/{name}"));
        }
        if self.some(3) {
            let piece = Piece::new("endpointslice", &format!("{name}-own")).with("service", &name);
            self.add(piece);
        }
        self.dependents(&format!("service/{name}"));
    }

    fn account(&mut self) {
        let name = self.name("robot");
        let tokens = self.rng.random_range(0..=2);
        self.add(Piece::new("serviceaccount", &name).with("tokens", tokens));
        if tokens > 0 {
            self.targets.push(format!("secret/{name}-token-0"));
        }
        if self.some(4) {
            let (pod, on) = (self.name("pod"), self.on());
            self.add(Piece::new("pod", &pod).maybe("on", on).with("account", &name));
        }
        self.dependents(&format!("serviceaccount/{name}"));
    }

    fn kind(&mut self) {
        let name = self.name("gadget");
        self.add(Piece::new("kind", &name));
        for _ in 0..self.rng.random_range(1..=2) {
            let instance = self.name("i");
            let held = self.some(1).then_some("yes");
            self.add(Piece::new("instance", &instance).with("of", &name).maybe("held", held));
            self.dependents(&format!("instance/{instance}"));
        }
    }

    /// Workloads of one selector: pods that lose their controller find another one.
    fn rivals(&mut self) {
        let (name, on) = (self.name("set"), self.on());
        let first = one_of(&mut self.rng, &["replicaset", "replicaset", "deployment"]);
        let replicas = self.rng.random_range(1..=3);
        self.add(Piece::new(first, &name).with("replicas", replicas).maybe("on", on.clone()));
        self.targets.push(format!("pod-of/{name}"));
        let second = self.name("set");
        let sort = one_of(&mut self.rng, &["replicaset", "statefulset", "replicationcontroller"]);
        let replicas = self.rng.random_range(0..=2);
        self.add(Piece::new(sort, &second).with("app", &name).with("replicas", replicas).maybe("on", on));
        self.about_pods(&name);
    }

    /// A Job of another controller, with a pod that it tracks.
    fn foreign_job(&mut self) {
        let (name, pod, on) = (self.name("batch"), self.name("pod"), self.on());
        self.add(Piece::new("job", &name).with("managed-by", "acme.io/queue"));
        let tracked = Piece::new("pod", &pod)
            .maybe("on", on)
            .with("finalizer", "batch.kubernetes.io/job-tracking")
            .with("owners", format!("job/{name}!*"));
        self.add(tracked);
    }

    /// Somebody who refuses requests in this namespace.
    fn admission(&mut self) {
        let verb = one_of(&mut self.rng, &["DELETE", "DELETE", "UPDATE"]);
        let resource = one_of(&mut self.rng, &["configmaps", "secrets", "pods", "replicasets", "services"]);
        let sort = one_of(&mut self.rng, &["policy", "webhook"]);
        let name = self.name("gate");
        self.pieces.push(Piece::new(sort, &name).with("verb", verb).with("resource", resource));
    }

    /// What selects the pods of a workload.
    fn about_pods(&mut self, app: &str) {
        if self.some(5) {
            let sort = one_of(&mut self.rng, &[None, None, Some("Headless"), Some("NodePort"), Some("LoadBalancer")]);
            self.add(Piece::new("service", app).with("selects", app).maybe("type", sort));
            self.targets.push(format!("slice-of/{app}"));
            self.targets.push(format!("endpoints/{app}"));
            if self.some(2) {
                self.add(Piece::new("ingress", &format!("{app}-door")).with("service", app));
            }
        }
        if self.some(2) {
            self.add(Piece::new("poddisruptionbudget", &format!("{app}-budget")).with("app", app));
        }
        if self.some(1) {
            let name = self.name("quota");
            self.add(Piece::new("resourcequota", &name));
        }
    }

    /// Objects that people or tools hang below a workload.
    fn dependents(&mut self, owner: &str) {
        for _ in 0..one_of(&mut self.rng, &[0, 0, 1, 1, 2]) {
            let sort = one_of(&mut self.rng, &["configmap", "secret"]);
            let (name, blocks) = (self.name("c"), self.some(5));
            let held = self.some(1).then_some("yes");
            // Deleted before, and still there.
            let dying = held.filter(|_| self.some(5)).map(|_| one_of(&mut self.rng, &POLICIES));
            let mut owners = format!("{owner}{}", if blocks { "!" } else { "" });
            if self.some(2)
                && let Some(other) = self.other_owner(owner)
            {
                owners = format!("{owners},{other}");
            }
            self.add(Piece::new(sort, &name).with("owners", owners).maybe("held", held).maybe("dying", dying));
        }
    }

    fn other_owner(&mut self, owner: &str) -> Option<String> {
        // Cluster-scoped things are called otherwise than they are named.
        let may_own =
            |piece: &&Piece| !matches!(piece.sort.as_str(), "node" | "volume" | "kind") && piece.get("dying").is_none();
        let others: Vec<String> =
            self.pieces.iter().filter(may_own).map(Piece::called).filter(|other| other != owner).collect();
        (!others.is_empty()).then(|| others[self.rng.random_range(0..others.len())].clone())
    }
}
