use super::{TargetQuery, args, error, typed};
use crate::operations::targets::Form;
use gc_core::model::well_known;

/// The targets as `TYPE/NAME`, or the types with their selectors.
fn parsed(line: &str) -> String {
    match TargetQuery::parse(&args(line)).unwrap_or_else(|error| panic!("{line:?}: {error}")).map(|query| query.form) {
        None => "none".to_owned(),
        Some(Form::Named(names)) => {
            names.iter().map(|name| format!("{}/{}", name.type_name, name.name)).collect::<Vec<_>>().join(" ")
        }
        Some(Form::Selected { types, selection }) => {
            format!("{} {}", types.join(","), selection.flags()).trim_end().to_owned()
        }
        Some(Form::Manifests(entries)) => format!("{} manifests", entries.len()),
    }
}

#[test]
fn targets_are_read_as_kubectl_reads_them() {
    let cases = [
        ("", "none"),
        ("--all", "none"),
        ("-l ''", "none"),
        ("pod/a", "pod/a"),
        ("pod/a deploy/b pod/a", "pod/a deploy/b pod/a"),
        ("pod a", "pod/a"),
        ("pod a b", "pod/a pod/b"),
        ("pod,deploy,pod a b", "pod/a pod/b deploy/a deploy/b"),
        ("pod a,b", "pod/a,b"),
        ("pods.v1. a.b", "pods.v1./a.b"),
        ("pods --all", "pods"),
        ("pods,svc,pods --all", "pods,svc"),
        ("all -l app=web", "all -l app=web"),
        ("pods -l app_in_(a,b)", "pods -l 'app in (a,b)'"),
        ("pods --field-selector metadata.name==a", "pods --field-selector metadata.name=a"),
        ("pods -l a --field-selector status.phase!=Running", "pods -l a --field-selector 'status.phase!=Running'"),
    ];
    for (line, expected) in cases {
        assert_eq!(parsed(line), expected, "{line:?}");
    }
}

#[test]
fn what_cannot_be_understood_is_explained() {
    let cases = [
        (
            "pods",
            r#""pods" is not enough: write TYPE/NAME, as in deploy/web, or a TYPE with a NAME, -l SELECTOR or --all"#,
        ),
        (
            "pods -l ''",
            r#""pods" is not enough: write TYPE/NAME, as in deploy/web, or a TYPE with a NAME, -l SELECTOR or --all"#,
        ),
        ("pod/", r#""pod/" lacks a name: write TYPE/NAME or TYPE NAME"#),
        ("/a", r#""/a" lacks a type: write TYPE/NAME, TYPE NAME or TYPE,TYPE"#),
        ("/", r#""/" lacks a type: write TYPE/NAME, TYPE NAME or TYPE,TYPE"#),
        ("pods, a", r#""pods," lacks a type: write TYPE/NAME, TYPE NAME or TYPE,TYPE"#),
        ("'' a", r#""" lacks a type: write TYPE/NAME, TYPE NAME or TYPE,TYPE"#),
        ("pod ''", r#""pod \"\"" lacks a name: write TYPE/NAME or TYPE NAME"#),
        ("a/b/c", r#""a/b/c" has more than one slash: write TYPE/NAME, the namespace with -n"#),
        ("pod,svc/a", r#""pod,svc/a" has several types before the slash: write TYPE,TYPE NAME"#),
        ("pod a svc/b", r#""svc/b" and "pod" cannot be mixed: write TYPE/NAME everywhere, or TYPE NAME NAME"#),
        ("pod a -l b", r#"-l selects among all objects of a type, "a" is one object: use one or the other"#),
        ("pod/a --all", r#"--all selects among all objects of a type, "a" is one object: use one or the other"#),
        ("pods --all -l a", "-l and --all contradict each other: leave one out"),
        ("-l a", "-l needs a TYPE, as in: deployments -l …"),
        ("-f x -l a", "-l cannot be used with -f, which names its objects: leave one out"),
        ("-f x --all", "--all cannot be used with -f, which names its objects: leave one out"),
        ("-f x pod/a", r#""pod/a" cannot be used with -f, which names its objects: leave one out"#),
        ("-f https://", "-f https://: unable to read the URL: not a URL"),
        ("pods -l a=b=c", r#"-l "a=b=c": expected a comma or the end, found "=", at character 4"#),
        ("podz a", r#"the server has no resource type "podz"; did you mean pods?"#),
        (
            "all a",
            "\"all\" is a category of 10 types: write TYPE/NAME, or choose objects of all types with -l SELECTOR or \
                --all",
        ),
        (
            "all/a",
            "\"all\" is a category of 10 types: write TYPE/NAME, or choose objects of all types with -l SELECTOR or \
                --all",
        ),
    ];
    for (line, expected) in cases {
        assert_eq!(error(line), expected, "{line:?}");
    }
}

#[test]
fn scopes_are_known_before_anything_is_read() {
    let resources = well_known::served();
    let cases = [("pod/a", false), ("ns/a", true), ("pod/a ns/a", true), ("pods,nodes --all", true), ("pv -l a", true)];
    for (line, cluster_scoped) in cases {
        let query = typed(line).unwrap();
        assert_eq!(query.any_cluster_scoped(&resources), cluster_scoped, "{line}");
        assert_eq!(query.own_namespaces().count(), 0);
        assert!(query.check_namespace("x").is_ok());
    }
}

#[test]
fn types_of_categories_may_be_passed_over() {
    let types = typed("all,pods,pod --all").unwrap().types;
    let explicit = types.iter().filter(|selected| !selected.of_category).count();
    assert_eq!((types.len(), explicit), (10, 1));
}

#[test]
fn what_a_server_must_select_is_told() {
    assert!(typed("pods -l a").unwrap().server_selections().is_empty());
    assert!(
        typed("pods --field-selector metadata.name!=a,metadata.namespace=b").unwrap().server_selections().is_empty()
    );
    let selections =
        typed("pods,svc -l a==b --field-selector metadata.name=a,spec.nodeName=n").unwrap().server_selections();
    let [pods, services] = &selections[..] else { panic!("{selections:?}") };
    assert_eq!(pods.resource, well_known::served().find_type("pods").unwrap());
    assert_eq!(services.resource, well_known::served().find_type("services").unwrap());
    assert_eq!(pods.labels.as_deref(), Some("a=b"));
    assert_eq!(pods.fields, "metadata.name=a,spec.nodeName=n");
}
