//! Figures, as a table and as JSON.

use serde_json::{Value, json};

/// One measurement, a value for each round.
pub struct Figure {
    pub name: String,
    pub unit: &'static str,
    pub product: Vec<f64>,
    /// What the machine can do; empty where there is nothing to compare with.
    pub limit: Vec<f64>,
    pub target: &'static str,
}

/// Median, lowest, highest.
fn spread(values: &[f64]) -> Option<(f64, f64, f64)> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    Some((*sorted.get(sorted.len() / 2)?, *sorted.first()?, *sorted.last()?))
}

/// The value below which `percent` of the values are.
pub fn percentile(values: &mut [f64], percent: usize) -> f64 {
    values.sort_by(f64::total_cmp);
    values[(values.len() * percent / 100).min(values.len() - 1)]
}

impl Figure {
    fn ratios(&self) -> Vec<f64> {
        self.product.iter().zip(&self.limit).map(|(product, limit)| product / limit).collect()
    }

    fn json(&self) -> Value {
        json!({ "name": self.name, "unit": self.unit, "product": self.product, "limit": self.limit,
                "ratio": spread(&self.ratios()).map(|(median, ..)| median), "target": self.target })
    }
}

fn cell(values: &[f64]) -> String {
    let Some((median, low, high)) = spread(values) else { return "–".to_owned() };
    let decimals = if median < 100.0 { 2 } else { 0 };
    format!("{median:.decimals$} ({low:.decimals$}–{high:.decimals$})")
}

/// Prints the table, and writes `target/bench.json`.
pub fn print(figures: &[Figure]) {
    println!("\n{:<42} {:<7} {:>24} {:>24} {:>20}  target", "", "unit", "Paydesk", "limit", "ratio");
    for figure in figures {
        println!(
            "{:<42} {:<7} {:>24} {:>24} {:>20}  {}",
            figure.name,
            figure.unit,
            cell(&figure.product),
            cell(&figure.limit),
            cell(&figure.ratios()),
            figure.target
        );
    }
    let json = Value::Array(figures.iter().map(Figure::json).collect());
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("bench.json");
    std::fs::write(&path, format!("{json:#}\n")).unwrap();
    println!("\nmedian (lowest–highest) of the rounds; also in {}", path.display());
}
