use std::{
    collections::{BTreeMap, BTreeSet},
    sync::LazyLock,
    thread,
    time::Duration,
};

use serde_json::{Value, json};

use crate::{
    doctor::apis::definition,
    harness::{
        Alone, COLLECTOR, Cluster, CountingProxy, Fault, NAMESPACES, Ran, Request, Retry, old_discovery,
        owner_reference, poll,
    },
    plan::trial::{POLICIES, Trial, all_come_true, predict},
    requests::{once, paths},
};

/// Generous, because the machine may be busy.
const PATIENCE: Duration = Duration::from_mins(5);

/// What a proxy does with a request.
type Hook = fn(&Request) -> Option<Fault>;

/// Ways of a server or a gateway to speak less than today's servers do.
const WAYS: [(&str, Hook); 4] = [
    ("no aggregated discovery", old_discovery),
    ("JSON instead of protobuf", json_instead),
    ("406 to protobuf", refuses_protobuf),
    ("an aggregated API that knows no protobuf", |request| {
        request.path.starts_with("/apis/odd.test/").then(|| json_instead(request)).flatten()
    }),
];

/// Definitions of the test with many.
const DEFINITIONS: usize = 500;
/// How many are created in parallel.
const AT_A_TIME: usize = 8;

/// A cluster with the collector and kinds of `odd.test`: `Crate` in two versions; `Jar` only in the older one, which
/// the group doesn't prefer; `Widget` and `Service`, as in other groups.
fn world() -> &'static Cluster {
    static WORLD: LazyLock<Alone> = LazyLock::new(|| {
        let cluster = Alone::with(&[]);
        let kinds =
            [("crates", &["v1beta1", "v1"][..]), ("jars", &["v1beta1"]), ("widgets", &["v1"]), ("services", &["v1"])];
        for (plural, versions) in kinds {
            cluster.create(definition(plural, versions));
        }
        cluster.wait_until("the kinds to be served", PATIENCE, || {
            let served = cluster.listed();
            kinds.iter().all(|(plural, _)| {
                served.iter().any(|kind| {
                    kind.path.ends_with(&format!("/odd.test/v1/{plural}"))
                        || kind.path.ends_with(&format!("/odd.test/v1beta1/{plural}"))
                })
            })
        });
        cluster.age_kinds();
        cluster.start_controllers(&[COLLECTOR, NAMESPACES]);
        cluster
    });
    &WORLD
}

/// A server that only knows JSON chooses that of the formats that the client accepts.
fn json_instead(request: &Request) -> Option<Fault> {
    let accept = request.accept.as_str();
    let of = |kind: &str| accept.contains(&format!("as={kind};"));
    accept.contains("protobuf").then_some(Fault::Accept(match () {
        () if of("PartialObjectMetadataList") => "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
        () if of("PartialObjectMetadata") => "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
        () => "application/json",
    }))
}

fn refuses_protobuf(request: &Request) -> Option<Fault> {
    request.accept.contains("protobuf").then(|| Fault::status(406, "NotAcceptable"))
}

/// An object of `odd.test`.
fn odd(trial: &Trial<'_>, version: &str, kind: &str, name: &str, owners: &[&Value]) -> Value {
    let references: Vec<Value> = owners.iter().map(|owner| owner_reference(owner)).collect();
    trial.cluster.create(json!({
        "apiVersion": format!("odd.test/{version}"),
        "kind": kind,
        "metadata": {"name": name, "namespace": trial.namespace, "ownerReferences": references},
    }))
}

/// robustness server: no aggregated discovery, and no protobuf, of a server, a gateway or an aggregated API | {WAYS}
///   ways, under reading commands and a followed delete | the same answers and the same end
#[test]
#[ignore = "long: each command on odd servers, one after the other"]
fn less_than_todays_servers_gives_the_same() {
    let cluster = world();
    for (way, hook) in WAYS {
        let trial = Trial::on(cluster, "less", "Background");
        let crates = odd(&trial, "v1", "Crate", "owner", &[]);
        let jar = odd(&trial, "v1beta1", "Jar", "jar", &[&crates]);
        trial.config_map("in-the-jar").owned_by(&jar).create();
        let gone = trial.gone("gone");
        trial.config_map("lost").owned_by(&gone).finalizer("odd.test/hold").create();
        cluster.settled();
        let proxy = CountingProxy::start(cluster);
        let run = |args: &[&str]| cluster.gc_with(proxy.kubeconfig(), &[args, &["-n", &trial.namespace]].concat());
        // Other tests delete objects meanwhile: what goes between a list and a look at it is told as a gap.
        let read = |args: &[&str]| {
            let undisturbed = poll(PATIENCE, || {
                let ran = run(args);
                let disturbed = ran.stdout.contains("deleted since it was listed");
                if disturbed { Err(Retry::Later(format!("{ran:#?}"))) } else { Ok(ran) }
            });
            undisturbed.unwrap_or_else(|why| panic!("{why}"))
        };
        for args in [
            &["tree", "-o", "json"][..],
            &["plan", "-o", "json", "crate/owner"],
            &["explain", "-o", "json", "configmap/in-the-jar"],
            // A document tells for how long something has been so.
            &["doctor", "-o", "jsonpath={.findings[*].code}"],
            &["sweep", "--dry-run", "-o", "json"],
        ] {
            proxy.without();
            let usual = read(args);
            proxy.with(hook);
            proxy.forget();
            let less = read(args);
            assert!(!proxy.requests().is_empty());
            assert_eq!((usual.code, usual.told()), (less.code, less.told()), "{way}: {args:?}: {}", less.stderr);
        }
        // In a group version, each way to discover has its own order.
        let served = |ran: &Ran| ran.stdout.lines().map(str::to_owned).collect::<BTreeSet<_>>();
        let less = run(&["resources", "-o", "name"]);
        proxy.without();
        assert_eq!(served(&run(&["resources", "-o", "name"])), served(&less), "{way}");
        proxy.with(hook);
        let ran = run(&[
            "delete",
            "crate/owner",
            "--yes",
            "--archive",
            &format!("{}/{}.yaml", cluster.folder().display(), trial.namespace),
        ]);
        ran.expect(0);
        for path in [&crates, &jar].map(|object| cluster.path_of(object)) {
            assert!(cluster.get(&path).is_none(), "{way}: {path} is left: {}", ran.stdout);
        }
        assert!(cluster.get(&format!("/api/v1/namespaces/{}/configmaps/in-the-jar", trial.namespace)).is_none());
    }
}

/// robustness server: a group whose preferred version lacks a resource, as owner and as dependent | with each policy |
///   the end that was foretold
#[test]
#[ignore = "long: a cluster of its own"]
fn a_preferred_version_without_the_resource_is_no_obstacle() {
    let cases = POLICIES.map(|policy| {
        let trial = Trial::on(world(), "preferred", policy);
        let jar = odd(&trial, "v1beta1", "Jar", "jar", &[]);
        let held = odd(&trial, "v1beta1", "Crate", "by-its-older-version", &[&jar]);
        odd(&trial, "v1", "Crate", "of-the-crate", &[&held]);
        // Not served in the preferred version, so the collector can't map the reference (R3.13).
        let mut newer = owner_reference(&jar);
        newer["apiVersion"] = json!("odd.test/v1");
        trial.config_map("by-the-preferred-version").reference(newer).create();
        trial.deleting(vec!["jar/jar".to_owned()])
    });
    all_come_true(&predict(cases.into()));
}

/// robustness server: kinds of the same name in several groups, with objects of the same name | with each policy | the
///   end that was foretold, and no other object
#[test]
#[ignore = "long: another cluster, with more kinds"]
fn kinds_of_one_name_in_several_groups_are_told_apart() {
    let cluster = world();
    let cases = POLICIES.map(|policy| {
        let trial = Trial::on(cluster, "names", policy);
        let ours = trial.widget("a").create();
        let theirs = odd(&trial, "v1", "Widget", "a", &[]);
        trial.config_map("of-ours").owned_by(&ours).create();
        trial.config_map("of-theirs").owned_by(&theirs).create();
        // The uid of one, by the group of the other: for the collector, its owner is gone once it looks.
        let service = odd(&trial, "v1", "Service", "a", &[]);
        trial.config_map("of-the-odd-service").owned_by(&service).create();
        trial.deleting(["widgets.odd.test/a", "services.odd.test/a"].map(str::to_owned).into())
    });
    let predicted = predict(cases.into());
    for one in &predicted {
        let named: Vec<&Value> = one.plan["targets"].as_array().expect("targets").iter().collect();
        assert!(named.iter().all(|target| target["apiVersion"] == "odd.test/v1"), "{named:#?}");
        assert_eq!(one.outcome("ConfigMap", "of-ours"), None, "{:#}", one.plan);
    }
    all_come_true(&predicted);
    // Without a group, kubectl's choice.
    let namespace = cluster.namespace("bare");
    let ran = cluster.gc(&["plan", "-o", "json", "-n", &namespace, "service/none"]);
    assert!(ran.stderr.contains("services \"none\" not found"), "{}", ran.stderr);
}

/// robustness server: a server with many kinds | {DEFINITIONS} definitions | each list is read once, and nothing else
#[test]
#[ignore = "long: makes hundreds of kinds"]
fn many_definitions_cost_a_list_each() {
    let cluster = Alone::with(&[]);
    thread::scope(|scope| {
        for part in 0..AT_A_TIME {
            let cluster = &cluster;
            scope.spawn(move || {
                for number in (part..DEFINITIONS).step_by(AT_A_TIME) {
                    cluster.create(definition(&format!("crate{number}s"), &["v1"]));
                }
            });
        }
    });
    cluster.wait_until("all kinds to be served", PATIENCE, || {
        cluster.listed().iter().filter(|kind| kind.path.contains("/odd.test/")).count() == DEFINITIONS
    });
    let trial = Trial::on(&cluster, "many", "Background");
    let owner = odd(&trial, "v1", "Crate7", "owner", &[]);
    odd(&trial, "v1", "Crate400", "dependent", &[&owner]);
    let proxy = CountingProxy::start(&cluster);
    let run = |args: &[&str]| {
        proxy.forget();
        let ran = cluster.gc_with(proxy.kubeconfig(), &[args, &["-o", "name", "-n", &trial.namespace]].concat());
        ran.expect(0).to_owned()
    };
    let lists: Vec<String> = cluster.listed().iter().map(|kind| kind.path_in(&trial.namespace)).collect();
    // Only the list of the definitions themselves has more than one page.
    let expected = |lists: &[String]| {
        let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions".to_owned();
        once(lists).into_iter().chain([(definitions, 2)]).collect::<BTreeMap<_, _>>()
    };
    assert_eq!(run(&["tree"]).lines().count(), 2);
    assert!(paths(&proxy, &lists, false) == expected(&lists), "{:?}", proxy.requests());
    assert_eq!(run(&["plan", "crate7/owner"]).lines().count(), 2);
    let lists: Vec<String> = cluster.listed().into_iter().map(|kind| kind.path).collect();
    // Whether the definitions of what is deleted were changed since.
    let definition = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let mut expected = expected(&lists);
    expected.extend([7, 400].map(|number| (format!("{definition}/crate{number}s.odd.test"), 1)));
    assert!(paths(&proxy, &lists, true) == expected, "{:?}", proxy.requests());
}
