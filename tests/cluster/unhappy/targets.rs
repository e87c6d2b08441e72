//! Targets that are mistyped or don't exist.

use super::{ends_with, family, refused};

#[test]
fn what_is_mistyped_is_answered_with_what_there_is() {
    let (trial, _) = family("mistyped");
    let namespace = format!("in namespace {:?}", trial.namespace);
    let cases: [(&[&str], &[&str]); 5] = [
        (&["deploiments/web"], &["no resource type \"deploiments\"", "did you mean deployments?"]),
        (&["widget/owners"], &["widgets.gc.test \"owners\" not found", &namespace, "did you mean owner?"]),
        (&["configmap/nothing-like-it"], &["configmaps \"nothing-like-it\" not found", &namespace]),
        (&["widget"], &["\"widget\" is not enough: write TYPE", "--all"]),
        (&["widget/owner/more"], &["more than one slash"]),
    ];
    for command in ["tree", "plan"] {
        // Like kubectl get, a tree shows what there is of a type.
        let refuses = |targets: &[&str]| command == "plan" || targets[0] != "widget";
        for (targets, words) in cases.into_iter().filter(|(targets, _)| refuses(targets)) {
            let ran = trial.cluster.gc(&[&[command, "-n", &trial.namespace], targets].concat());
            refused(&ran, words);
        }
    }
    // As with kubectl delete, a selector may match nothing.
    let ran = trial.cluster.gc(&["plan", "-n", &trial.namespace, "widget", "-l", "app=web"]);
    assert_eq!(ran.expect(0), "Nothing would be deleted: no such object exists.\n");
}

#[test]
fn a_namespace_that_is_not_there_is_named() {
    let (trial, _) = family("elsewhere");
    let ran = trial.cluster.gc(&["plan", "-n", "no-such-namespace", "widget/nowhere"]);
    refused(&ran, &["not found", "no-such-namespace", "there is no such namespace"]);
}

/// R1.25, R1.27.
#[test]
fn what_the_server_never_deletes_is_refused() {
    let (trial, _) = family("immortal");
    for target in ["ns/kube-system", "ns/default", "priorityclass/system-node-critical"] {
        let name = target.rsplit('/').next().unwrap_or_default();
        ends_with(2, &trial.cluster.gc(&["plan", target]), &["refuses to delete", name]);
    }
}
