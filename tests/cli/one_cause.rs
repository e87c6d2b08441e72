//! One cause is one finding, with all objects that it affects and all commands that mend it.

use serde_json::{Value, json};

use super::{
    agree::{DELETED, LOCKER, dead_webhook, document, object, on, owners, says, says_not},
    field::at_ten,
};

/// A configuration with a webhook for each of these resources, whose Service is this one.
fn hooks(name: &str, resources: &[(&str, &str)], service: &str) -> Value {
    let mut configuration = dead_webhook("", "");
    configuration["metadata"]["name"] = json!(name);
    configuration["metadata"]["uid"] = json!(name);
    let template = configuration["webhooks"][0].clone();
    let hook = |(resource, operation): &(&str, &str)| {
        let mut hook = template.clone();
        let group = if *resource == "lockers" { "bank.dev" } else { "" };
        hook["name"] = json!(format!("{resource}.{name}.dev"));
        hook["clientConfig"]["service"]["name"] = json!(service);
        hook["rules"][0] = json!({"apiGroups": [group], "apiVersions": ["*"], "operations": [operation],
            "resources": [resource]});
        hook
    };
    configuration["webhooks"] = resources.iter().map(hook).collect();
    configuration
}

/// The findings of a code: the names of their objects.
fn objects_of<'d>(document: &'d Value, code: &str) -> Vec<Vec<&'d str>> {
    let findings = document["findings"].as_array().unwrap().iter().filter(|finding| finding["code"] == code);
    let names = |finding: &'d Value| {
        let objects = finding["objects"].as_array().unwrap().iter();
        objects.map(|object| object["name"].as_str().unwrap()).collect()
    };
    findings.map(names).collect()
}

fn commands(document: &Value, finding: usize, remedy: usize) -> Vec<String> {
    let commands = document["findings"][finding]["remedies"][remedy]["commands"].as_array().unwrap().iter();
    commands.map(|command| command.as_str().unwrap().to_owned()).collect()
}

#[test]
fn webhooks_of_one_service_are_one_finding() {
    let both = [("configmaps", "DELETE"), ("pods", "CREATE")];
    let names = ["wh2", "wh0", "wh3", "wh1"];
    let mut all: Vec<Value> = names.iter().map(|name| hooks(name, &both, "gone")).collect();
    all.push(object(("v1", "ConfigMap"), "rates", json!({})));
    let doctor = document(&all, "doctor");
    assert_eq!(objects_of(&doctor, "webhook-unreachable"), [["wh0", "wh1", "wh2", "wh3"]], "{doctor:#}");
    let patches = commands(&doctor, 0, 0);
    assert_eq!(patches.len(), 4, "{patches:?}");
    let opens = |patch: &String| patch.contains("/webhooks/0/failure") && patch.contains("/webhooks/1/failure");
    assert!(patches.iter().all(opens) && patches[1].contains("/wh1 "), "{patches:?}");
    assert_eq!(commands(&doctor, 0, 1).len(), 4, "{doctor:#}");
    let ran = on(&all, "doctor");
    says(
        &ran,
        &[
            "1 error: webhook-unreachable",
            "The API server must call the webhooks configmaps.wh0.dev, configmaps.wh1.dev, configmaps.wh2.dev and 1 \
             more before it deletes configmaps, and the webhooks pods.wh0.dev",
            "before it creates pods; Service/gone -n vault does not exist.",
            "no pod is made in place of one that is gone",
            "No client can delete configmaps, including the collector",
            "while the webhooks are unreachable",
        ],
    );
    // Another Service is another cause, also for one configuration.
    let mut two = hooks("wh4", &both, "gone");
    two["webhooks"][1]["clientConfig"]["service"]["name"] = json!("away");
    all.push(two);
    let doctor = document(&all, "doctor");
    let found = objects_of(&doctor, "webhook-unreachable");
    assert_eq!(found, [vec!["wh0", "wh1", "wh2", "wh3", "wh4"], vec!["wh4"]], "{doctor:#}");
    says_not(&on(&all[4..5], "doctor"), &["webhook-unreachable"]);
}

/// What is in the way of a remedy is mended first, and nothing else of the same cause.
#[test]
fn only_the_webhook_that_refuses_a_remedy_is_opened_before_it() {
    let held = json!({"deletionTimestamp": DELETED, "finalizers": ["bank.dev/keys"]});
    let all = [
        hooks("guard", &[("lockers", "UPDATE")], "gone"),
        hooks("other", &[("configmaps", "UPDATE")], "gone"),
        object(LOCKER, "safe", held),
    ];
    let doctor = document(&all, "doctor");
    assert_eq!(objects_of(&doctor, "webhook-unreachable"), [["guard", "other"]], "{doctor:#}");
    let place = |finding: &Value| finding["code"] == "stuck-finalizer";
    let place = doctor["findings"].as_array().unwrap().iter().position(place).unwrap();
    let first = commands(&doctor, place, 0);
    assert!(first.len() == 1 && first[0].contains("/guard ") && first[0].contains("Ignore"), "{first:?}");
    let finding = &doctor["findings"][place];
    let then = finding["consequence"].as_str().unwrap();
    assert!(then.contains("First mend webhook-unreachable (ValidatingWebhookConfiguration/guard)."), "{then}");
}

#[test]
fn apis_of_one_service_are_one_finding() {
    let api = |group: &str, service: &str| {
        let kind = ("apiregistration.k8s.io/v1", "APIService");
        let mut api = object(kind, &format!("v1.{group}"), json!({"namespace": null}));
        api["spec"] = json!({"group": group, "version": "v1", "service": {"namespace": "vault", "name": service}});
        api["status"] = json!({"conditions": [{"type": "Available", "status": "False", "reason": "ServiceNotFound",
            "message": format!("service/{service} in \"vault\" is not present"),
            "lastTransitionTime": "2026-02-01T10:00:00Z"}]});
        api
    };
    let all = [api("b.dev", "gone"), api("a.dev", "gone"), api("c.dev", "away"), api("d.dev", "gone"), at_ten()];
    let doctor = document(&all, "doctor");
    let found = objects_of(&doctor, "api-unavailable");
    assert_eq!(found, [vec!["v1.a.dev", "v1.b.dev", "v1.d.dev"], vec!["v1.c.dev"]], "{doctor:#}");
    assert_eq!(commands(&doctor, 0, 0).len(), 3, "{doctor:#}");
    says(
        &on(&all, "doctor"),
        &[
            "a.dev/v1, b.dev/v1 and d.dev/v1 are served by Service/gone -n vault, which does not answer: \
             service/gone in \"vault\" is not present.",
            "unregister the APIs, and keep a copy of their APIServices",
        ],
    );
}

/// A mistake that deletes twenty owners is one cause.
#[test]
fn absent_owners_of_a_kind_are_one_finding() {
    let job = ("batch/v1", "Job");
    let lost = |name: &str, owner: (&str, &str)| {
        let above = json!({"ownerReferences": owners(owner, &[&format!("of-{name}")])});
        object(("v1", "ConfigMap"), name, above)
    };
    let mut all: Vec<Value> = ["b", "a", "d", "c"].iter().map(|name| lost(name, job)).collect();
    all.push(lost("e", ("apps/v1", "Deployment")));
    let doctor = document(&all, "doctor");
    let found = objects_of(&doctor, "owner-absent");
    assert_eq!(found.len(), 2, "{doctor:#}");
    assert_eq!((found[0].len(), &found[1][..]), (4, &["e"][..]), "{doctor:#}");
    assert_eq!(commands(&doctor, 0, 0).len(), 4, "{doctor:#}");
    says(
        &on(&all, "doctor"),
        &[
            "4 owners are missing in namespace vault: batch/v1 Job/of-b, batch/v1 Job/of-a, batch/v1 Job/of-d and 1 \
             more.",
            "The owner apps/v1 Deployment/of-e is missing",
            "The collector will delete them all.",
        ],
    );
    // In several namespaces, each is told with its own.
    all[0]["metadata"]["namespace"] = json!("other");
    says(&on(&all, "doctor -A"), &["4 owners are missing: batch/v1 Job/of-b in namespace other, batch/v1 Job/of-a in"]);
    // One owner of several is one, and is told as one.
    all.truncate(2);
    all[0] = lost("a", job);
    all[0]["metadata"]["name"] = json!("x");
    all[0]["metadata"]["uid"] = json!("x");
    says(&on(&all, "doctor"), &["The owner batch/v1 Job/of-a is missing in namespace vault."]);
}
