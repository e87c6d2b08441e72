//! A restore that is killed at any moment, and run again.

use std::{process::Stdio, thread, time::Duration};

use serde_json::{Value, json};

use super::{
    kit::{Archives, archived, live, outcomes, owned, quiet, restore, text, tree},
    many::stages,
};
use crate::harness::{ADMIN, uid};

const KILLS: usize = 50;

/// Custom resources with a status, a circle of owners, and one that owns itself.
fn objects(namespace: &str) -> Vec<Value> {
    let mut all: Vec<Value> = stages(namespace, 1).into_iter().take(24).collect();
    // The owners of those that were taken come with them.
    let more: Vec<Value> =
        stages(namespace, 1).into_iter().filter(|object| object["spec"]["level"] != 3 && !all.contains(object)).collect();
    all.extend(more.into_iter().filter(|object| object["kind"] == "Stage"));
    let config = |name: &str| archived("v1", "ConfigMap", namespace, name, &json!({"data": {"name": name}}));
    let (one, two) = (config("one"), config("two"));
    all.push(owned(one.clone(), &[&two]));
    all.push(owned(two, &[&one]));
    let own = config("own");
    all.push(owned(own.clone(), &[&own]));
    all
}

#[test]
fn whatever_moment_a_restore_is_killed_the_next_one_finishes_it() {
    let cluster = quiet();
    let archives = Archives::new();
    let kubeconfig = cluster.kubeconfig(ADMIN);
    // How long one takes that nobody kills, as far as is known: the machine has other work, too.
    let mut takes = Duration::from_secs(1);
    let mut half_way = 0;
    for kill in 0..KILLS {
        let namespace = cluster.unique("killed");
        let all = objects(&namespace);
        let archive = archives.write(&namespace, &all);
        let mut command = cluster.gc_command(&kubeconfig);
        command.arg("restore").arg(&archive).arg("--yes").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().expect("kubectl-gc runs");
        // The golden ratio spreads them evenly over all of it, in no order.
        let part = (f64::from(u32::try_from(kill).expect("small")) * 0.618_034).fract();
        thread::sleep(takes.mul_f64(part));
        child.kill().expect("it can be killed");
        child.wait().expect("it ends");
        let there: Vec<Value> = all.iter().filter_map(|object| cluster.get(&cluster.path_of(object))).collect();
        match there.len() {
            0 => takes = takes.mul_f64(1.1),
            some if some < all.len() => half_way += 1,
            _ => takes = takes.mul_f64(part.max(0.7)),
        }

        let ran = restore(cluster, &archive, &[]);
        ran.expect(0);
        let named = |object: &Value| format!("{}/{}", text(&object["kind"]), text(&object["metadata"]["name"]));
        let known: Vec<String> = there.iter().map(named).collect();
        for (name, outcome) in outcomes(&ran) {
            assert_eq!(outcome, if known.contains(&name) { "AlreadyBack" } else { "Created" }, "{name}, kill {kill}");
        }
        let back = live(cluster, &all);
        assert_eq!(tree(&back), tree(&all), "kill {kill}");
        for (archived, live) in all.iter().zip(&back) {
            assert!(archived["kind"] != "Stage" || archived["status"] == live["status"], "kill {kill}: {live}");
            // What was back is the same object still, and nothing was made twice.
            let before = there.iter().find(|it| named(it) == named(live));
            assert!(before.is_none_or(|before| uid(before) == uid(live)), "kill {kill}: {live}");
        }
    }
    assert!(half_way > KILLS / 5, "only {half_way} of {KILLS} were killed half-way: {takes:?}");
}
