//! The licence file matches the licence in Cargo.toml.

use std::fs;

#[test]
fn the_licence_is_whole() {
    let folder = env!("CARGO_MANIFEST_DIR");
    let licence = fs::read_to_string(format!("{folder}/LICENSE")).unwrap();
    assert_eq!(env!("CARGO_PKG_LICENSE"), "Apache-2.0");
    assert!(licence.trim_start().starts_with("Apache License\n                           Version 2.0, January 2004"));
    for section in
        ["9. Accepting Warranty or Additional Liability.", "END OF TERMS AND CONDITIONS", "APPENDIX: How to apply"]
    {
        assert!(licence.contains(section), "{section}");
    }
}
