use proptest::prelude::*;

use crate::operations::targets::{FieldSelector, parse_labels};

fn matches(selector: &str, labels: &str) -> bool {
    let labels: Vec<(&str, &str)> = labels.split(' ').filter_map(|label| label.split_once('=')).collect();
    let selector = parse_labels(selector).unwrap_or_else(|error| panic!("{error}"));
    selector.matches(|key| labels.iter().find(|(known, _)| *known == key).map(|(_, value)| *value))
}

#[test]
fn labels_match_as_in_kubectl() {
    let labels = "app=web tier=front example.com/version=7 empty=";
    let yes = [
        "",
        "  ",
        "app",
        "app=web",
        "app==web",
        "app = web , tier = front",
        "app!=db",
        "none!=db",
        "!none",
        "app in (web)",
        "app in (db, web)",
        "app in(db,web),tier",
        "none notin (a)",
        "app notin (db)",
        "empty=",
        "empty",
        "empty in ()",
        "empty in (a,)",
        "empty in (,a)",
        "none!=",
        "example.com/version>6",
        "example.com/version < 8",
        "example.com/version=7,app=web,!none",
    ];
    let no = [
        "app=db",
        "app!=web",
        "none",
        "!app",
        "app in (db)",
        "none in (a)",
        "none in ()",
        "app notin (web,db)",
        "none=",
        "app=web,tier=back",
        "example.com/version>7",
        "example.com/version<7",
        "app>1",
        "none<1",
    ];
    for (selectors, expected) in [(&yes[..], true), (&no[..], false)] {
        for selector in selectors {
            assert_eq!(matches(selector, labels), expected, "{selector:?}");
        }
    }
    // Words of the grammar are valid keys and values.
    assert!(matches("in in (in,notin),notin=in", "in=in notin=in"));
}

#[test]
fn broken_label_selectors_say_where() {
    let cases = [
        (",", r#"expected a label's key or !, found ",", at character 1"#),
        ("a,", "expected a label's key or !, found the end, at character 3"),
        ("a,,b", r#"expected a label's key or !, found ",", at character 3"#),
        ("!", "expected a label's key, found the end, at character 2"),
        ("!!a", r#"expected a label's key, found "!", at character 2"#),
        ("!a=b", r#"expected a comma or the end, found "=", at character 3"#),
        ("a b", r#"expected =, ==, !=, in, notin, <, > or a comma, found "b", at character 3"#),
        ("a=b c", r#"expected a comma or the end, found "c", at character 5"#),
        ("a=(", r#"expected a value, found "(", at character 3"#),
        ("a in b", r#"expected (, found "b", at character 6"#),
        ("a in (b", "expected a comma or ), found the end, at character 8"),
        ("a in (b c)", r#"expected a comma or ), found "c", at character 9"#),
        ("a>b", r#"expected a whole number, found "b", at character 3"#),
        ("a>", "expected a whole number, found the end, at character 3"),
        ("a>=1", r#"expected a value, found "=", at character 3"#),
        ("ä=b", r#""ä" cannot be a label's key, at character 1"#),
        ("a=b,c=ä", r#""ä" cannot be a label's value, at character 7"#),
        ("a/b/c", r#""a/b/c" cannot be a label's key, at character 1"#),
        ("/a", r#""/a" cannot be a label's key, at character 1"#),
        ("A.b/c", r#""A.b/c" cannot be a label's key, at character 1"#),
        ("-a", r#""-a" cannot be a label's key, at character 1"#),
    ];
    for (selector, expected) in cases {
        let error = parse_labels(selector).unwrap_err().to_string();
        assert_eq!(error, format!("-l {selector:?}: {expected}"));
    }
    let long = "a".repeat(64);
    assert!(parse_labels(&long).is_err());
    assert!(parse_labels(&format!("a={long}")).is_err());
}

#[test]
fn fields_match_as_in_kubectl() {
    let cases = [
        ("metadata.name=web", true),
        ("metadata.name==web", true),
        ("metadata.name!=web", false),
        ("metadata.name=web,metadata.namespace!=prod", true),
        ("metadata.name=web, metadata.namespace=shop", true),
        (",metadata.name=web,", true),
        ("metadata.namespace=", false),
        (r"metadata.name!=a\,b\=c\\", true),
    ];
    for (selector, expected) in cases {
        let fields = FieldSelector::parse(selector).unwrap();
        assert!(fields.local());
        assert_eq!(fields.matches("shop", "web"), expected, "{selector:?}");
    }
    assert!(!FieldSelector::parse("metadata.name=a,status.phase=Running").unwrap().local());
    let round = r"a=x\,y\=z\\";
    assert_eq!(FieldSelector::parse(round).unwrap().to_string(), round);
}

#[test]
fn broken_field_selectors_say_where() {
    let cases = [
        ("status.phase", r#""status.phase" has none of =, ==, !=, at character 1"#),
        ("a=b,c", r#""c" has none of =, ==, !=, at character 5"#),
        ("=b", "expected a field before =, at character 1"),
        ("a=b=c", r"= in a value is written \=, at character 4"),
        (r"a=b\c", r"a backslash escapes only \ , and =, at character 4"),
        (r"a=b\", r"a backslash escapes only \ , and =, at character 4"),
    ];
    for (selector, expected) in cases {
        let error = FieldSelector::parse(selector).unwrap_err().to_string();
        assert_eq!(error, format!("--field-selector {selector:?}: {expected}"));
    }
}

fn requirement() -> impl Strategy<Value = String> {
    let key = "([a-z]([a-z0-9-]{0,5}[a-z0-9])?/)?[A-Za-z0-9]([A-Za-z0-9_.-]{0,6}[A-Za-z0-9])?";
    let value = "([A-Za-z0-9]([A-Za-z0-9_.-]{0,6}[A-Za-z0-9])?)?";
    let values = prop::collection::vec(value, 1..4);
    (key, value, values, -9i64.., 0..9usize).prop_map(|(key, value, values, number, form)| match form {
        0 => key,
        1 => format!("!{key}"),
        2 => format!("{key}={value}"),
        3 => format!(" {key} == {value} "),
        4 => format!("{key} != {value}"),
        5 => format!("{key} in ({})", values.join(" , ")),
        6 => format!("{key} notin ({})", values.join(",")),
        7 => format!("{key}>{}", number.max(0)),
        _ => format!("{key} < {}", number.max(0)),
    })
}

proptest! {
    #[test]
    fn label_selectors_survive_being_written(requirements in prop::collection::vec(requirement(), 0..5)) {
        let selector = parse_labels(&requirements.join(",")).unwrap();
        prop_assert_eq!(&parse_labels(&selector.to_string()).unwrap(), &selector);
    }

    #[test]
    fn field_selectors_survive_being_written(terms in prop::collection::vec(("[a-z.]{1,9}", any::<bool>(),
        r"[ -~ä]{0,9}"), 0..4)) {
        let escape = |value: &str| value.replace('\\', r"\\").replace(',', r"\,").replace('=', r"\=");
        let terms: Vec<String> = terms
            .iter()
            .map(|(field, equal, value)| format!("{field}{}{}", if *equal { "==" } else { "!=" }, escape(value)))
            .collect();
        let selector = FieldSelector::parse(&terms.join(",")).unwrap();
        prop_assert_eq!(&FieldSelector::parse(&selector.to_string()).unwrap(), &selector);
    }

    #[test]
    fn no_text_is_too_strange(text in any::<String>(), grammar in r"[a!=()<>,\\ iön]{0,20}") {
        for text in [text, grammar] {
            for error in [parse_labels(&text).err(), FieldSelector::parse(&text).err()].into_iter().flatten() {
                prop_assert!(error.position <= text.chars().count() + 1);
            }
        }
    }
}
