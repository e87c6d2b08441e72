//! Reads clusters as the engine does.

use std::path::Path;

use gc_cluster::cluster::{Connection, ConnectionOptions, EarlyLists, Wanted};
use gc_core::model::{ObjectId, Snapshot};
use tokio::runtime::Runtime;

use crate::harness::{ADMIN, Cluster};

/// Connects as one of the users.
#[track_caller]
pub fn connect(cluster: &Cluster, user: &str, runtime: &Runtime) -> Connection {
    connect_with(&cluster.kubeconfig(user), runtime)
}

/// Connects with any kubeconfig file, for instance for a proxy.
#[track_caller]
pub fn connect_with(kubeconfig: &Path, runtime: &Runtime) -> Connection {
    let options = ConnectionOptions { kubeconfig: Some(kubeconfig.to_owned()), ..ConnectionOptions::default() };
    runtime.block_on(Connection::open(&options)).expect("a connection")
}

/// Reads the whole cluster, with the facts of every object.
#[track_caller]
pub fn read_all(cluster: &Cluster, runtime: &Runtime) -> Snapshot {
    let connection = connect(cluster, ADMIN, runtime);
    runtime.block_on(async {
        let (resources, gaps) = connection.discover().await.expect("discovery");
        assert!(gaps.is_empty(), "{gaps:?}");
        let mut snapshot =
            connection.read(resources, &Wanted::default(), &EarlyLists::default()).await.expect("a snapshot").0;
        let everything: Vec<ObjectId> = snapshot.objects().map(|(id, _)| id).collect();
        connection.fetch_facts(&mut snapshot, &everything).await;
        assert!(snapshot.complete(), "{:?}", snapshot.gaps);
        snapshot
    })
}
