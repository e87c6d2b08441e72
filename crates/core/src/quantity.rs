//! Kubernetes' quantities (apimachinery `pkg/api/resource/quantity.go: ParseQuantity`).

/// The largest quantity, before it is multiplied: 2^63 - 1.
const MOST: i128 = i64::MAX as i128;
const NANO: i128 = 1_000_000_000;
/// More digits than the largest quantity has don't change it.
const DIGITS: usize = 60;

/// A text as a number of billionths, rounded away from zero; `None` if it is no quantity.
pub(crate) fn quantity(text: &str) -> Option<i128> {
    let (negative, rest) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let whole_end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (whole, rest) = rest.split_at(whole_end);
    let (fraction, suffix) = match rest.strip_prefix('.') {
        Some(rest) => rest.split_at(rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())),
        None => ("", rest),
    };
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let (factor, exponent) = scale(suffix)?;
    // Digits and a power of ten: the value is `digits * 10^exponent * factor`.
    let digits = format!("{whole}{fraction}");
    let digits = digits.trim_start_matches('0');
    let exponent = exponent - i64::try_from(fraction.len()).ok()?;
    let value = if digits.is_empty() { 0 } else { billionths(digits, factor, exponent) };
    Some(if negative { -value } else { value })
}

fn billionths(digits: &str, factor: i128, exponent: i64) -> i128 {
    let exponent = exponent + 9;
    let magnitude = i64::try_from(digits.len()).unwrap_or(i64::MAX).saturating_add(exponent);
    if magnitude > DIGITS as i64 {
        return MOST * NANO;
    }
    if magnitude < -(DIGITS as i64) {
        return 1;
    }
    let zeros = usize::try_from(exponent).unwrap_or(0);
    let dropped = usize::try_from(-exponent).unwrap_or(0);
    // The digits that count, and whether any other isn't zero.
    let kept = digits.len().saturating_sub(dropped);
    let number = format!("{}{}", &digits[..kept], "0".repeat(zeros));
    // Of what is dropped, a binary factor makes something countable again: keep twenty digits of it.
    let behind: String = "0".repeat(dropped.saturating_sub(digits.len())) + &digits[kept..];
    let behind = format!("{behind:0<20}");
    let lost = behind[20..].bytes().any(|digit| digit != b'0');
    let number: i128 = if number.is_empty() { Some(0) } else { number.parse().ok() }.unwrap_or(i128::MAX);
    let part: i128 = behind[..20].parse::<i128>().unwrap_or(0) + i128::from(lost);
    // At most 10^20 * 2^60, which fits.
    let scale = 10_i128.pow(20);
    let product = part * factor;
    let carried = product / scale + i128::from(product % scale != 0);
    number.checked_mul(factor).and_then(|value| value.checked_add(carried)).unwrap_or(i128::MAX).min(MOST * NANO)
}

/// A factor and a power of ten.
fn scale(suffix: &str) -> Option<(i128, i64)> {
    const BINARY: [&str; 6] = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
    const DECIMAL: [(&str, i64); 10] =
        [("n", -9), ("u", -6), ("m", -3), ("", 0), ("k", 3), ("M", 6), ("G", 9), ("T", 12), ("P", 15), ("E", 18)];
    if let Some(at) = BINARY.iter().position(|known| *known == suffix) {
        return Some((1 << (10 * (at + 1)), 0));
    }
    if let Some((_, exponent)) = DECIMAL.iter().find(|(known, _)| *known == suffix) {
        return Some((1, *exponent));
    }
    let exponent: i32 = suffix.strip_prefix(['e', 'E'])?.parse().ok()?;
    Some((1, i64::from(exponent)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities() {
        for (text, billionths) in [
            ("0", 0),
            ("10", 10 * NANO),
            ("-1", -NANO),
            ("+2.", 2 * NANO),
            (".5", NANO / 2),
            ("100m", NANO / 10),
            ("1n", 1),
            ("0.1n", 1),
            ("1Ki", 1024 * NANO),
            ("1.5Ki", 1536 * NANO),
            ("0.00000000001Ki", 11),
            ("1e3", 1000 * NANO),
            ("1E-3", NANO / 1000),
            ("2E", 2 * NANO * 10_i128.pow(18)),
            ("8Ei", MOST * NANO),
            ("99999999999999999999999999999999999999999999", MOST * NANO),
            ("1e2000000000", MOST * NANO),
            ("1e-2000000000", 1),
            ("0e2000000000", 0),
        ] {
            assert_eq!(quantity(text), Some(billionths), "{text}");
        }
    }

    #[test]
    fn no_quantities() {
        for text in ["", "-", ".", "a", "1a", "1 ", "1Kii", "e3", "1e", "1ee3", "1.2.3", "2026-11-23T00:00:00Z", "١"] {
            assert_eq!(quantity(text), None, "{text}");
        }
    }
}
