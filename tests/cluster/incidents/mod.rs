//! Staged incidents: each is played on the real control plane from the plan to the first remedy.

pub mod add_ons;
mod admission;
mod apis;
mod causes;
mod collector;
mod conditions;
mod deadlocks;
mod finalizers;
mod play;
mod pods;
mod remedies;

use std::sync::LazyLock;

use crate::{
    doctor::kit::namespace,
    harness::{Alone, CLAIM_PROTECTION, COLLECTOR, Cluster, NAMESPACES, POD_GC, WORKLOADS, definition_of},
    plan::trial::Trial,
    side_by_side::side_by_side,
};

use play::{Foreseen, Incident};

/// The cluster of the incidents that concern one namespace, and of one incident with each add-on.
fn cluster() -> &'static Cluster {
    static CLUSTER: LazyLock<Alone> = LazyLock::new(with_add_ons);
    &CLUSTER
}

/// A cluster with the CRDs of widespread add-ons. A second controller of an add-on that is there already may be the one
/// that runs: what needs one has a cluster of its own.
fn with_add_ons() -> Alone {
    let cluster = Alone::with(&[]);
    for (group, plural, kind) in add_ons::KINDS {
        cluster.create(definition_of(group, kind, plural, &["v1"]));
    }
    cluster.start_controllers(&[&[COLLECTOR, NAMESPACES, CLAIM_PROTECTION, POD_GC], WORKLOADS].concat());
    cluster
}

/// An incident in the namespace of a trial.
fn incident<'c>(trial: &Trial<'c>, delete: &[&str], cause: &[&str]) -> Incident<'c> {
    let own = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    let mut delete: Vec<String> = own(delete);
    if !delete.is_empty() {
        delete.push(format!("--namespace={}", trial.namespace));
    }
    Incident {
        cluster: trial.cluster,
        collected: true,
        come_back: None,
        manager: None,
        delete,
        cause: own(cause),
        plan: Foreseen::Stuck,
        doctor: vec![format!("--namespace={}", trial.namespace)],
        aged: Vec::new(),
        gone: Vec::new(),
        operator: None,
    }
}

/// The incident of a Namespace that is deleted: the doctor is asked about it, and in the end it is gone.
fn of_namespace<'c>(trial: &Trial<'c>, name: &str, cause: &[&str]) -> Incident<'c> {
    let target = format!("namespaces/{name}");
    let incident = incident(trial, &[&target], cause);
    Incident { doctor: vec![target], gone: vec![namespace(name)], ..incident }
}

/// Each is foreseen by the plan, found by the doctor, and healed by its first remedy. `OPEN=1` plays those that are not
/// right yet, too.
#[test]
#[ignore = "long: each waits for controllers, and some have a cluster of their own"]
fn incidents_are_foreseen_found_and_healed() {
    let open = if std::env::var_os("OPEN").is_some() { OPEN } else { &[] };
    let open = open.iter().map(|(name, scenario, _)| (*name, *scenario));
    side_by_side(&RIGHT.iter().copied().chain(open).collect::<Vec<_>>());
    for (name, _, why) in OPEN {
        println!("not right yet: {name}: {why}");
    }
}

const RIGHT: &[(&str, fn())] = &[
    ("a_finalizer_of_an_unknown_controller", finalizers::of_an_unknown_controller),
    ("a_namespace_with_such_an_object", finalizers::in_a_namespace),
    ("a_namespace_with_a_finalizer_in_its_spec", finalizers::in_the_spec_of_a_namespace),
    ("a_definition_with_such_an_instance", finalizers::of_an_instance),
    ("a_dependent_with_such_a_finalizer", finalizers::of_a_dependent),
    ("an_add_on_that_is_scaled_to_zero", add_ons::scaled_to_zero),
    ("an_add_on_that_was_removed", add_ons::removed),
    ("an_add_on_that_goes_with_its_definition", add_ons::under_its_definition),
    ("an_object_that_waits_for_itself", deadlocks::an_object_that_waits_for_itself),
    ("a_dependent_that_may_not_be_deleted", deadlocks::a_protected_dependent),
    ("a_webhook_without_a_service", admission::without_a_service),
    ("a_webhook_without_a_ready_endpoint", admission::without_a_ready_endpoint),
    ("a_webhook_for_updates", admission::for_updates),
    ("a_pod_on_a_node_that_is_not_ready", pods::on_a_node_that_is_not_ready),
    ("a_namespace_with_a_pod_on_a_dead_node", pods::in_a_namespace),
    ("a_claim_that_a_pod_uses", pods::a_claim_in_use),
    ("a_pod_on_a_node_that_does_not_exist", pods::on_a_node_that_does_not_exist),
    ("a_namespace_that_nobody_empties", collector::a_namespace),
    ("an_add_on_that_goes_in_the_same_namespace", add_ons::in_the_same_namespace),
    ("an_add_on_without_a_ready_pod", add_ons::without_a_ready_pod),
    ("two_objects_that_wait_for_each_other", deadlocks::two_objects_that_wait_for_each_other),
    ("a_reference_to_a_kind_that_is_not_served", deadlocks::a_kind_that_is_not_served),
    ("a_cluster_scoped_dependent_of_a_namespaced_owner", deadlocks::a_cluster_scoped_dependent),
    ("a_webhook_that_refuses_the_target", admission::of_the_target),
    ("a_policy_that_refuses_deletes", admission::a_policy),
    ("a_collector_that_died", collector::died),
    ("orphaning_without_a_collector", collector::orphaning),
    ("an_api_without_a_service", apis::without_a_service),
    ("an_api_that_goes_with_a_namespace", apis::that_goes_with_its_namespace),
    ("a_definition_that_cannot_be_converted", apis::a_definition_that_cannot_be_converted),
    ("a_namespace_with_objects_that_cannot_be_converted", apis::a_namespace_of_it),
    ("a_stateful_set_that_is_scaled_to_zero", causes::a_stateful_set_that_is_scaled_to_zero),
    ("an_operator_that_nobody_knows", causes::an_operator_that_nobody_knows),
    ("a_namespace_with_an_add_on_that_is_scaled_to_zero", causes::its_namespace),
    ("a_namespace_with_an_object_of_such_an_operator", causes::the_namespace_of_an_unknown_operator),
    ("a_dependent_of_such_an_operator", causes::a_dependent_of_such_an_operator),
    ("a_definition_with_its_operator_at_zero", causes::a_definition_with_its_operator_at_zero),
    ("a_claim_of_a_pod_that_has_ended", causes::a_claim_of_a_pod_that_has_ended),
    ("a_namespace_with_a_claim_in_use", causes::a_namespace_with_a_claim_in_use),
    ("a_namespace_with_two_finalizers", causes::a_namespace_with_two_finalizers),
    ("a_namespace_with_a_lost_pod_and_a_finalizer", causes::a_namespace_with_a_lost_pod_and_a_finalizer),
    (
        "a_namespace_with_a_finalizer_in_its_spec_and_inside",
        causes::a_namespace_with_a_finalizer_in_its_spec_and_inside,
    ),
    ("a_namespace_whose_content_a_policy_keeps", causes::a_namespace_whose_content_a_policy_keeps),
    ("a_namespace_whose_content_a_dead_webhook_keeps", causes::a_namespace_whose_content_a_dead_webhook_keeps),
    ("a_remedy_that_a_policy_refuses", causes::a_remedy_that_a_policy_refuses),
    ("a_remedy_that_a_dead_webhook_refuses", causes::a_remedy_that_a_dead_webhook_refuses),
    ("a_definition_with_a_finalizer_of_its_own", conditions::a_definition_with_a_finalizer_of_its_own),
    ("a_namespace_with_two_apis_away", conditions::a_namespace_with_two_apis_away),
    ("a_namespace_with_an_api_away_and_a_finalizer", conditions::a_namespace_with_an_api_away_and_a_finalizer),
    ("a_namespace_with_a_dead_webhook_and_a_finalizer", conditions::a_namespace_with_a_dead_webhook_and_a_finalizer),
    ("a_namespace_with_its_operator_inside", conditions::a_namespace_with_its_operator_inside),
    ("a_definition_that_lost_a_stored_version", conditions::a_definition_that_lost_a_stored_version),
    ("a_namespace_with_an_object_of_a_lost_version", conditions::a_namespace_with_an_object_of_a_lost_version),
    (
        "a_namespace_beside_a_lost_version_and_with_a_finalizer",
        conditions::a_namespace_beside_a_lost_version_and_with_a_finalizer,
    ),
    ("an_object_with_two_finalizers", remedies::an_object_with_two_finalizers),
    ("a_finalizer_that_somebody_added", remedies::a_finalizer_that_somebody_added),
    ("a_deployment_with_a_pod_on_a_dead_node", remedies::a_deployment_with_a_pod_on_a_dead_node),
    ("a_deployment_whose_pod_has_a_finalizer", remedies::a_deployment_whose_pod_has_a_finalizer),
    ("a_claim_whose_ended_pod_may_not_be_deleted", remedies::a_claim_whose_ended_pod_may_not_be_deleted),
    ("a_leftover_of_a_kind_that_is_not_served", remedies::a_leftover_of_a_kind_that_is_not_served),
    ("a_pod_of_a_job_that_nobody_runs", remedies::a_pod_of_a_job_that_nobody_runs),
];

/// Incidents that are not right yet, and what is wrong.
const OPEN: &[(&str, fn(), &str)] = &[];
