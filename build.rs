//! Has the embedded migrations and the embedded console embedded anew when one of them changes.

fn main() {
    println!("cargo:rerun-if-changed=migrations");
    println!("cargo:rerun-if-changed=web/dist");
}
