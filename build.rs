//! Has the embedded migrations embedded anew when one of them changes.

fn main() {
    println!("cargo:rerun-if-changed=migrations");
}
