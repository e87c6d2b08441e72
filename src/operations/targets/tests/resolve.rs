use super::{NamespaceChoice, cluster, dump, one, resolve, show, snapshot, typed};

const SHOP: &str = "
    pods
    deploy
    ns
    nodes
    rc
    ds
    sts
    rs
    jobs
    cronjobs
    hpa
    secrets !forbidden
    ns shop
    ns prod
    nodes n1
    pods shop/web-2 app=web
    pods shop/web-1 app=web tier=front
    pods shop/db app=db
    pods prod/web-1 app=web
    deploy shop/web app=web
    deploy prod/api
";

#[test]
fn targets_are_found_in_their_namespace() {
    let snapshot = snapshot(cluster(), SHOP);
    let cases = [
        ("pod/db", "pods:shop/db"),
        ("pod web-1 db web-1", "pods:shop/web-1 pods:shop/db"),
        ("pod/web-1 deploy/web po/web-1", "pods:shop/web-1 deployments:shop/web"),
        ("node/n1", "nodes:/n1"),
        ("ns/prod pod/db", "namespaces:/prod pods:shop/db"),
        ("pods --all", "pods:shop/db pods:shop/web-1 pods:shop/web-2"),
        ("pods -l app=web", "pods:shop/web-1 pods:shop/web-2"),
        ("pods -l app=web,!tier", "pods:shop/web-2"),
        ("deploy,pods -l app_in_(web)", "deployments:shop/web pods:shop/web-1 pods:shop/web-2"),
        ("all -l app", "pods:shop/db pods:shop/web-1 pods:shop/web-2 deployments:shop/web"),
        ("pods --field-selector metadata.name!=db -l app", "pods:shop/web-1 pods:shop/web-2"),
        ("nodes,deploy --all", "nodes:/n1 deployments:shop/web"),
    ];
    for (line, expected) in cases {
        assert_eq!(resolve(&snapshot, &one("shop"), line), expected, "{line:?}");
    }
    let everywhere = resolve(&snapshot, &NamespaceChoice::All, "pods -l app=web");
    assert_eq!(everywhere, "pods:prod/web-1 pods:shop/web-1 pods:shop/web-2");
    assert_eq!(resolve(&snapshot, &NamespaceChoice::All, "node/n1"), "nodes:/n1");
}

#[test]
fn what_is_not_found_is_explained() {
    let snapshot = snapshot(cluster(), SHOP);
    let cases = [
        ("shop", "deploy/api", r#"deployments.apps "api" not found in namespace "shop"; one exists in namespace prod"#),
        ("shop", "pod/web", r#"pods "web" not found in namespace "shop"; did you mean web-2, web-1?"#),
        ("shop", "deploy/qqq", r#"deployments.apps "qqq" not found in namespace "shop""#),
        ("sho", "deploy/qqq", r#"deployments.apps "qqq" not found in namespace "sho"; there is no such namespace"#),
        (
            "other",
            "pod/web-1",
            r#"pods "web-1" not found in namespace "other"; some exist in namespaces prod and shop"#,
        ),
        ("shop", "node/n2", r#"nodes "n2" not found; did you mean n1?"#),
        (
            "shop",
            "pod/x deploy/y",
            "pods \"x\" not found in namespace \"shop\"\ndeployments.apps \"y\" not found in namespace \"shop\"",
        ),
        (
            "shop",
            "secret/x",
            r#"secrets in namespace "shop" could not be read (forbidden), so it is not known whether "x" exists"#,
        ),
        (
            "shop",
            "svc/x",
            "services in namespace \"shop\" could not be read (it was not read), so it is not known whether \"x\" \
                exists",
        ),
        ("shop", "pods -l app=x", r#"no pods in namespace "shop" match -l app=x"#),
        ("prod", "pods -l app=db", r#"no pods in namespace "prod" match -l app=db; one exists in namespace shop"#),
        ("none", "pods --all", r#"no pods in namespace "none" found; some exist in namespaces prod and shop"#),
        ("none", "jobs --all", r#"no jobs.batch in namespace "none" found; there is no such namespace"#),
        (
            "shop",
            "svc --all",
            r#"services in namespace "shop" could not be read (they were not read), so they cannot be selected"#,
        ),
        ("shop", "nodes -l !x,y", "no nodes match -l '!x,y'"),
        ("shop", "pods,nodes -l x", r#"no pods or nodes in namespace "shop" match -l x"#),
        (
            "shop",
            "secrets --all",
            r#"secrets in namespace "shop" could not be read (forbidden), so they cannot be selected"#,
        ),
        (
            "shop",
            "all -l x",
            "no pods, replicationcontrollers, services, daemonsets.apps or 6 more in namespace \"shop\" match -l x; \
             services could not be read (they were not read)",
        ),
        (
            "shop",
            "pods --field-selector status.phase=Failed",
            "--field-selector status.phase=Failed needs a server: with a dump only metadata.name and \
             metadata.namespace work; or use -l",
        ),
    ];
    for (namespace, line, expected) in cases {
        assert_eq!(resolve(&snapshot, &one(namespace), line), expected, "{line:?}");
    }
    assert_eq!(
        resolve(&snapshot, &NamespaceChoice::All, "pod/db"),
        r#"pods "db" cannot be found by name across all namespaces: give its namespace with -n instead of -A"#
    );
}

#[test]
fn members_of_a_category_that_cannot_be_read_are_passed_over() {
    let others = "rc\n ds\n deploy\n rs\n sts\n jobs\n cronjobs\n hpa";
    let some = snapshot(cluster(), &format!("pods\n{others}\n svc !forbidden\n pods shop/web app=web"));
    assert_eq!(resolve(&some, &one("shop"), "all -l app=web"), "pods:shop/web");
    assert_eq!(
        resolve(&some, &one("shop"), "all,svc -l app=web"),
        r#"services in namespace "shop" could not be read (forbidden), so they cannot be selected"#
    );
    assert!(resolve(&some, &one("shop"), "all -l app=db").ends_with("; services could not be read (forbidden)"));
}

#[test]
fn a_unique_name_in_a_dump_needs_no_namespace() {
    let dumped = snapshot(dump(), "pods shop/web-1 app=web\n pods prod/web-1\n pods shop/db app=db\n nodes n1");
    let wherever = NamespaceChoice::WhereverUnique;
    let cases = [
        ("pod/db", "pods:shop/db"),
        ("node/n1", "nodes:/n1"),
        ("pods --all", "pods:prod/web-1 pods:shop/db pods:shop/web-1"),
        ("pod/web-1", r#"pods "web-1" exists in namespaces prod and shop: choose one with -n"#),
        ("pod/web", r#"pods "web" not found; did you mean web-1?"#),
        ("deploy/web", r#"deployments.apps "web" is not in the dump, which contains no deployments.apps"#),
        ("deploy --all", "no deployments.apps found"),
    ];
    for (line, expected) in cases {
        assert_eq!(resolve(&dumped, &wherever, line), expected, "{line:?}");
    }
    assert_eq!(resolve(&dumped, &one("prod"), "pod/web-1"), "pods:prod/web-1");
    assert_eq!(
        resolve(&dumped, &one("test"), "pod/db"),
        r#"pods "db" is not in the dump, which contains no pods in namespace "test"; one exists in namespace shop"#
    );
}

#[test]
fn what_a_server_selected_is_narrowed_to_the_scope() {
    let snapshot = snapshot(cluster(), SHOP);
    let query = typed("pods --field-selector status.phase=Failed").unwrap();
    let pods = query.server_selections()[0].resource;
    let uids =
        ["uid-pods-shop-web-2", "uid-pods-prod-web-1", "uid-deploy-shop-web", "unheard-of"].map(str::to_owned).to_vec();
    let resolve = |choice: &NamespaceChoice, answers: &[_]| query.resolve(&snapshot, choice, answers);
    let answers = [(pods, uids)];
    assert_eq!(show(&snapshot, &resolve(&one("shop"), &answers).unwrap()), "pods:shop/web-2");
    assert_eq!(show(&snapshot, &resolve(&NamespaceChoice::All, &answers).unwrap()), "pods:prod/web-1 pods:shop/web-2");
    let error = resolve(&one("shop"), &[(pods, Vec::new())]).unwrap_err().to_string();
    assert_eq!(error, r#"no pods in namespace "shop" match --field-selector status.phase=Failed"#);
}

#[test]
fn the_second_object_at_a_coordinate_is_not_there() {
    let mut twice = snapshot(dump(), "pods shop/db app=db");
    let (_, object) = twice.objects().next().unwrap();
    let resource = object.resource;
    let raw = gc_core::model::RawObject {
        namespace: "shop".into(),
        name: "db".into(),
        uid: "other".into(),
        labels: vec![("app".into(), "db".into())],
        ..Default::default()
    };
    twice.add(resource, &raw);
    assert_eq!(resolve(&twice, &NamespaceChoice::WhereverUnique, "pod/db"), "pods:shop/db");
    assert_eq!(resolve(&twice, &NamespaceChoice::WhereverUnique, "pods -l app=db"), "pods:shop/db");
}

#[test]
fn what_no_list_has_is_asked_for_by_name() {
    let mut forbidden = snapshot(cluster(), "secrets !forbidden\npods\npods shop/web");
    let query = typed("secret/key pod/web pod/gone").unwrap();
    let unlisted = query.unlisted(&mut forbidden, &one("shop"));
    let names: Vec<&str> = unlisted.iter().map(|coordinate| forbidden.text(coordinate.name)).collect();
    assert_eq!(names, ["key", "gone"]);
    assert!(resolve(&forbidden, &one("shop"), "secret/key").contains("forbidden"));
    // The next resolution uses the look-up's results: objects found, and absences proved.
    forbidden.confirm_absent(unlisted[0]);
    assert!(resolve(&forbidden, &one("shop"), "secret/key").contains("not found"));
    assert_eq!(query.unlisted(&mut forbidden, &one("shop")), unlisted[1..]);
    assert_eq!(typed("secrets -l a=b").unwrap().unlisted(&mut forbidden, &one("shop")), []);
}

/// Targets that don't exist can be left out; targets of which that is unknown can't.
#[test]
fn what_is_not_there_can_be_left_out() {
    let snapshot = snapshot(cluster(), SHOP);
    let present = |line: &str| match typed(line).and_then(|query| query.resolve_present(&snapshot, &one("shop"), &[])) {
        Ok(found) => super::show(&snapshot, &found),
        Err(error) => error.to_string(),
    };
    assert_eq!(present("pod/x pod/db deploy/y pod/db"), "pods:shop/db");
    assert_eq!(present("pod/x"), "");
    assert_eq!(present("pods -l app=nobody"), "");
    assert_eq!(present("pods -l app=web"), "pods:shop/web-1 pods:shop/web-2");
    let unread = r#"secrets in namespace "shop" could not be read (forbidden), so it is not known whether "x" exists"#;
    assert_eq!(present("pod/db secret/x"), unread);
    assert!(present("secrets -l app=web").contains("forbidden"), "{}", present("secrets -l app=web"));
}
