//! A token that someone writes while its controller removes it.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::task::block_in_place;

use super::{
    bench::{ACCOUNT_TOKEN, fill_token, now, track_for_long},
    expect::text,
    make::time,
    sorts::PERIOD_HOURS,
};
use crate::harness::{Alone, CountingProxy, Options, uid};

const CLEANER: &str = "legacy-serviceaccount-token-cleaner-controller";
const QUIET: &str = "/api/v1/namespaces/default/secrets/quiet";
const WRITTEN: &str = "/api/v1/namespaces/default/secrets/written";
/// For the controller's start. Generous, so that no test fails because the machine is busy.
const START: std::time::Duration = std::time::Duration::from_mins(2);

/// R12.15: the DELETE names the version that the controller has seen. If someone has written the token since, it stays
/// until the next look, a day later, and the log looks as if it were gone.
#[test]
#[ignore = "long: waits for the cleaner of tokens"]
fn a_token_that_is_written_at_that_moment_stays_until_the_next_look() {
    let period = format!("{PERIOD_HOURS}h");
    let flag = "--legacy-service-account-token-clean-up-period";
    let options = Options { controller_manager: vec![format!("{flag}={period}")], ..Options::default() };
    let cluster = Arc::new(Alone::start(&options));
    track_for_long(&cluster);
    let robot = cluster.create(object!("v1 ServiceAccount", {"name": "robot", "namespace": "default",
        "secrets": [{"name": "quiet"}, {"name": "written"}]}));
    let old = time(now() - 9 * 86_400);
    for name in ["quiet", "written"] {
        let mut token = object!("v1 Secret", {"name": name, "namespace": "default", "creationTimestamp": old,
            "labels": {"kubernetes.io/legacy-token-invalid-since": &text(&old)[..10]},
            "annotations": {"kubernetes.io/service-account.name": "robot",
                "kubernetes.io/service-account.uid": uid(&robot)}, "type": ACCOUNT_TOKEN, "data": {"token": "dA=="}});
        fill_token(&cluster, &mut token);
        cluster.store(&token);
    }
    let document = cluster.gc(&["reclaim", "-A", "-o", "json", flag, &period]).ended(0);
    let document = document.json();
    let removals = document["removals"].as_array().into_iter().flatten();
    let told: Vec<&str> = removals.map(|removal| text(&removal["object"]["name"])).collect();
    assert_eq!(told, ["quiet", "written"], "{document}");

    let proxy = CountingProxy::start(&cluster);
    let writer = Arc::clone(&cluster);
    proxy.with(move |request| {
        if request.method == "DELETE" && request.path == WRITTEN {
            let note = json!({"metadata": {"annotations": {"example.com/seen": "yes"}}});
            block_in_place(|| writer.patch(WRITTEN, &note));
        }
        None
    });
    cluster.start_controllers_with(proxy.kubeconfig(), &[CLEANER]);
    let answer = |path: &str| -> Option<u16> {
        let requests = proxy.requests();
        requests.iter().find(|request| request.method == "DELETE" && request.path == path)?.status
    };
    cluster.wait_until("both answers", START, || answer(QUIET).is_some() && answer(WRITTEN).is_some());
    assert_eq!((answer(QUIET), answer(WRITTEN)), (Some(200), Some(409)));
    let left = |path: &str| cluster.get(path).map(|token: Value| token["metadata"]["name"].clone());
    assert_eq!((left(QUIET), left(WRITTEN)), (None, Some(json!("written"))));
    let logged = cluster.log_of_controllers("default/written");
    assert!(matches!(&*logged, [line] if line.contains("Delete auto-generated service account token")), "{logged:?}");
    proxy.without();
}
