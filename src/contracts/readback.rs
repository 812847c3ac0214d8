//! The independent read after a success: with which arguments, and what it must see. Pure.

use serde_json::Value;

use super::contract::Contract;
use super::finding::child;
use super::render::RenderError;
use super::template::{Binding, Scope};
use super::units::ToolRef;

/// More differences than this are not told one by one.
const MAX_DIFFERENCES: usize = 20;

fn scope<'a>(args: &'a Value, result: &'a Value) -> Scope<'a> {
    Scope::of([("args", Binding::Value(args)), ("result", Binding::Value(result))])
}

impl Contract {
    /// Which read looks at the result, and with which arguments; none where the contract wants none.
    ///
    /// # Errors
    /// Not a write, or a template without a value.
    pub fn readback_read(
        &self,
        args: &Value,
        result: &Value,
    ) -> Result<Option<(ToolRef, Value)>, RenderError> {
        let parts = self.as_write()?;
        let Some(readback) = &parts.readback else { return Ok(None) };
        let scope = scope(args, result);
        let with = readback.with.as_ref().unwrap_or(&parts.preview.with).render(&scope)?.into_owned();
        Ok(Some((readback.read.clone(), with)))
    }

    /// The places where what was seen is not what was expected. Members that are not named are not looked at.
    ///
    /// # Errors
    /// Not a write, or a template without a value.
    pub fn readback_differences(
        &self,
        args: &Value,
        result: &Value,
        seen: &Value,
    ) -> Result<Vec<String>, RenderError> {
        let Some(readback) = &self.as_write()?.readback else { return Ok(Vec::new()) };
        let scope = scope(args, result);
        let expected = readback.expect.render(&scope)?;
        let mut differences = Vec::new();
        compare(&expected, Some(seen), "", &mut differences);
        differences.truncate(MAX_DIFFERENCES);
        Ok(differences)
    }
}

fn compare(expected: &Value, seen: Option<&Value>, at: &str, differences: &mut Vec<String>) {
    match (expected, seen) {
        (Value::Object(members), Some(Value::Object(seen))) => {
            for (name, member) in members {
                compare(member, seen.get(name), &child(at, name), differences);
            }
        }
        (expected, Some(seen)) if expected == seen => {}
        (Value::Number(expected), Some(Value::Number(seen))) if expected.as_f64() == seen.as_f64() => {}
        _ => differences.push(at.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_is_named_is_compared() {
        let told = |expected: Value, seen: Value| {
            let mut differences = Vec::new();
            compare(&expected, Some(&seen), "", &mut differences);
            differences
        };
        assert_eq!(told(json!({"a": 1}), json!({"a": 1, "b": 2})), Vec::<String>::new());
        assert_eq!(told(json!({"a": {"b/c": 1}, "d": 2}), json!({"a": {"b/c": 2}})), ["/a/b~1c", "/d"]);
        assert_eq!(told(json!({"a": 1}), json!({"a": 1.0})), Vec::<String>::new());
        assert_eq!(told(json!({"a": [1]}), json!({"a": [1, 2]})), ["/a"]);
        assert_eq!(told(json!({"a": null}), json!({})), ["/a"], "null and absent are two things");
    }
}
