//! Numbers as decimals. RFC 8785 writes every number as the shortest decimal that leads back to its double; a number
//! with another decimal value would be hashed as one thing and read as a second, so it has no place here.

use serde_json::Number;

/// A decimal number without its writing: `0.digits × 10^exponent`, no zeros at either end of the digits.
#[derive(PartialEq, Eq, Debug)]
struct Decimal {
    negative: bool,
    digits: Vec<u8>,
    exponent: i64,
}

impl Decimal {
    /// Reads `-?digits(.digits)?([eE][+-]?digits)?`; anything else is none.
    fn read(text: &str) -> Option<Decimal> {
        let (negative, rest) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let (mantissa, exponent) = rest.split_once(['e', 'E']).map_or((rest, None), |(m, e)| (m, Some(e)));
        let (whole, fraction) = mantissa.split_once('.').map_or((mantissa, None), |(w, f)| (w, Some(f)));
        let all_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if !all_digits(whole) || !fraction.is_none_or(all_digits) {
            return None;
        }
        let written = match exponent {
            None => 0,
            Some(text) if all_digits(text.strip_prefix(['+', '-']).unwrap_or(text)) => {
                // An exponent beyond i64 is as good as the nearest one: neither is a double, unless all digits are 0.
                let limit = if text.starts_with('-') { i64::MIN / 4 } else { i64::MAX / 4 };
                text.parse::<i64>().map_or(limit, |value| value.clamp(i64::MIN / 4, i64::MAX / 4))
            }
            Some(_) => return None,
        };
        let mut digits: Vec<u8> = whole.bytes().chain(fraction.unwrap_or("").bytes()).collect();
        let leading = digits.iter().take_while(|digit| **digit == b'0').count();
        digits.drain(..leading);
        while digits.last() == Some(&b'0') {
            digits.pop();
        }
        if digits.is_empty() {
            return Some(Decimal { negative: false, digits, exponent: 0 });
        }
        let before_point = i64::try_from(whole.len()).ok()? - i64::try_from(leading).ok()?;
        Some(Decimal { negative, digits, exponent: written + before_point })
    }
}

/// Whether a double carries this decimal: its shortest round-trip decimal has the same value. None when the text is
/// not a number at all.
pub(super) fn is_exact(text: &str) -> Option<bool> {
    /// Every whole number of at most this many digits is a double. Most numbers are such, and need no decimals.
    const CERTAIN_DIGITS: usize = 15;
    let digits = text.strip_prefix('-').unwrap_or(text).as_bytes();
    if (1..=CERTAIN_DIGITS).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit) {
        return Some(true);
    }
    let wanted = Decimal::read(text)?;
    let double: f64 = text.parse().ok()?;
    Some(shortest(double).is_some_and(|shortest| Decimal::read(&shortest) == Some(wanted)))
}

/// The shortest decimal that leads back to a double, as RFC 8785 writes it; none for infinities and NaN. It must come
/// from the writer of the canonical form: where two decimals are equally short and equally near (640891554693267.25
/// lies between ….2 and ….3), ECMAScript takes the even one and the standard library the upper one.
fn shortest(double: f64) -> Option<String> {
    serde_json_canonicalizer::to_string(&double).ok().filter(|_| double.is_finite())
}

/// One number, one value: what has a whole decimal value that fits in 64 bits becomes that integer, so `1`, `1.0` and
/// `1e0` are equal after parsing, as their digests are. None for infinities and NaN.
///
/// The shortest decimal decides, not the bits: 2^63 is written `9223372036854776000` by RFC 8785, and it is that
/// decimal which must lead back to the same digest.
pub(super) fn normal(double: f64) -> Option<Number> {
    /// 2^64, the first whole number that no 64-bit integer can hold.
    const BEYOND: f64 = 18_446_744_073_709_551_616.0;
    if double.fract() == 0.0 && double.abs() < BEYOND {
        let text = shortest(double)?;
        if let Ok(whole) = text.parse::<i64>() {
            return Some(whole.into());
        }
        if let Ok(whole) = text.parse::<u64>() {
            return Some(whole.into());
        }
    }
    Number::from_f64(double)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactness_is_a_matter_of_decimals() {
        for exact in [
            "0",
            "-0",
            "0.0",
            "0e999999999999999999999",
            "1",
            "1.0",
            "1e0",
            "10e-1",
            "0.1",
            "100.5",
            "1.50",
            "-2.25e-3",
            "9007199254740992",
            "9007199254740994",
            "1e21",
            "1E+2",
            "640891554693267.2",
            "-28907271343012.562",
            "5e-324",
            "1.7976931348623157e308",
            "0.00001e5",
        ] {
            assert_eq!(is_exact(exact), Some(true), "{exact}");
        }
        for inexact in [
            "9007199254740993",
            "7301954460218370001",
            "640891554693267.3",
            "640891554693267.25",
            "1.000000000000000005",
            "1e400",
            "-1e400",
            "1e-400",
            "9223372036854775808",
            "0.1000000000000000055511151231257827",
            "1e99999999999999999999",
            "4e-324",
            "1e-99999999999999999999",
        ] {
            assert_eq!(is_exact(inexact), Some(false), "{inexact}");
        }
        for none in ["", "-", "1.", ".5", "1e", "1e+", "+1", "1.2.3", "--1", "1e5e5", "NaN", "inf"] {
            assert_eq!(is_exact(none), None, "{none}");
        }
    }

    #[test]
    fn whole_doubles_become_integers_by_their_shortest_decimal() {
        for (double, text) in [
            (1.0, "1"),
            (-0.0, "0"),
            (1e15, "1000000000000000"),
            (9_223_372_036_854_775_808.0, "9223372036854776000"),
            (-9_223_372_036_854_774_784.0, "-9223372036854775000"),
            (1e19, "10000000000000000000"),
        ] {
            let number = normal(double).unwrap();
            assert!(number.is_i64() || number.is_u64());
            assert_eq!(number.to_string(), text);
        }
        assert!(normal(1e20).unwrap().is_f64());
        assert!(normal(0.5).unwrap().is_f64());
        assert_eq!(normal(f64::NAN), None);
        assert_eq!(normal(f64::INFINITY), None);
    }
}
