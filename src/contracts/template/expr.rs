//! One CEL expression, hidden behind types of our own: the library is pinned, and no other module names it. Plain
//! paths (`args.customer_id`) never reach it: they are looked up directly, because they are nearly all that contracts
//! use and stand on the path of every write.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use cel::common::ast::{EntryExpr, Expr as Ast, IdedExpr, LiteralValue, operators};
use cel::objects::{Key, Map as CelMap};
use cel::{Context, ExecutionError, Program, Value as Cel};
use serde_json::{Map, Number, Value};

use super::{Scope, TemplateError, TemplateReason};
use crate::contracts::finding::{FindingCode, Findings, nearest};

/// Longest expression: more is a program, and programs belong into a service.
const MAX_EXPRESSION: usize = 512;
/// Whole numbers beyond this are not exact in RFC 8785.
const MAX_EXACT: u64 = 1 << 53;
/// Loops inside loops cost their product; two levels are enough for a table.
const MAX_LOOPS: usize = 2;

/// One parsed expression.
pub(crate) struct Expr {
    place: String,
    kind: Kind,
    /// Every dotted path that it reads; a name whose members are known stands for all of them.
    paths: Vec<Vec<String>>,
}

enum Kind {
    Path(Vec<String>),
    Cel(Program),
}

impl std::fmt::Debug for Expr {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Expr").field("place", &self.place).field("paths", &self.paths).finish_non_exhaustive()
    }
}

fn plain_path(source: &str) -> Option<Vec<String>> {
    let is_word = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && word.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_')
            && !matches!(word, "true" | "false" | "null" | "in")
    };
    let words: Vec<&str> = source.split('.').collect();
    words.iter().all(|word| is_word(word)).then(|| words.into_iter().map(str::to_owned).collect())
}

impl Expr {
    /// Parses an expression whose names must be among `names` (dotted where only one member exists).
    pub(crate) fn parse(source: &str, at: &str, names: &[&str], findings: &mut Findings) -> Option<Expr> {
        if source.is_empty() || source.len() > MAX_EXPRESSION {
            let message =
                format!("an expression has 1 to {MAX_EXPRESSION} bytes; this one has {}", source.len());
            findings.add(FindingCode::BadTemplate, at, message, "write one short CEL expression");
            return None;
        }
        let (kind, paths) = if let Some(path) = plain_path(source) {
            (Kind::Path(path.clone()), vec![path])
        } else {
            let Ok(program) = Program::compile(source) else {
                let message = format!("`{source}` is not a CEL expression");
                findings.add(FindingCode::BadTemplate, at, message, "mend its syntax: https://cel.dev");
                return None;
            };
            let mut reads = Reads::default();
            reads.walk(program.expression(), 0);
            if reads.loops > MAX_LOOPS {
                let message = format!("`{source}` nests more than {MAX_LOOPS} loops");
                findings.add(FindingCode::BadTemplate, at, message, "compute it in the service");
                return None;
            }
            (Kind::Cel(program), reads.paths)
        };
        let unknown = paths.iter().find(|path| !is_known(path, names));
        if let Some(path) = unknown {
            let name = path.join(".");
            let near = nearest(&name, names.iter().copied());
            let remedy = match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("known here: {}", names.join(", ")),
            };
            findings.add(
                FindingCode::UnknownName,
                at,
                format!("`{name}` does not exist at this place"),
                remedy,
            );
            return None;
        }
        let paths = paths.into_iter().flat_map(|path| whole(path, names)).collect();
        Some(Expr { place: at.to_owned(), kind, paths })
    }

    /// Every dotted path that it reads.
    pub(crate) fn paths(&self) -> &[Vec<String>] {
        &self.paths
    }

    /// The pointer of its place in the contract.
    pub(crate) fn place(&self) -> &str {
        &self.place
    }

    fn fail(&self, reason: TemplateReason) -> TemplateError {
        TemplateError { place: self.place.clone(), reason }
    }

    /// The value, with its type.
    pub(crate) fn evaluate<'a>(&self, scope: &Scope<'a>) -> Result<Cow<'a, Value>, TemplateError> {
        match &self.kind {
            Kind::Path(path) => scope.lookup(path).ok_or_else(|| self.fail(TemplateReason::NoSuchMember)),
            Kind::Cel(program) => {
                let mut context = Context::default();
                for name in program.references().variables() {
                    if let Some(binding) = scope.get(name) {
                        context.add_variable_from_value(name, to_cel(&binding.to_value()));
                    }
                }
                let result = program.execute(&context).map_err(|error| self.fail(reason_of(&error)))?;
                let value = to_json(&result).ok_or_else(|| self.fail(TemplateReason::NotJson))?;
                Ok(Cow::Owned(value))
            }
        }
    }

    /// The value as a part of a text.
    pub(crate) fn text<'a>(&self, scope: &Scope<'a>) -> Result<Cow<'a, str>, TemplateError> {
        match self.evaluate(scope)? {
            Cow::Borrowed(Value::String(text)) => Ok(Cow::Borrowed(text)),
            Cow::Owned(Value::String(text)) => Ok(Cow::Owned(text)),
            other => match other.as_ref() {
                Value::Bool(flag) => Ok(Cow::Owned(flag.to_string())),
                Value::Number(number) if number.is_i64() || number.is_u64() => {
                    Ok(Cow::Owned(number.to_string()))
                }
                Value::Number(_) | Value::Null | Value::String(_) | Value::Array(_) | Value::Object(_) => {
                    Err(self.fail(TemplateReason::NotText))
                }
            },
        }
    }
}

/// A boolean over an answer. An error while evaluating it (a member that is not there) is "no".
#[derive(Debug)]
pub(crate) struct Condition(Expr);

impl Condition {
    /// Parses a condition: plain CEL, without `${…}`.
    pub(crate) fn parse(
        source: &str,
        at: &str,
        names: &[&str],
        findings: &mut Findings,
    ) -> Option<Condition> {
        Expr::parse(source, at, names, findings).map(Condition)
    }

    /// Whether it holds.
    pub(crate) fn holds(&self, scope: &Scope<'_>) -> bool {
        self.0.evaluate(scope).is_ok_and(|value| value.as_bool() == Some(true))
    }
}

fn is_known(path: &[String], names: &[&str]) -> bool {
    names.iter().any(|name| {
        let mut words = name.split('.');
        let mut members = path.iter();
        loop {
            match (words.next(), members.next()) {
                (Some(word), Some(member)) if word == member => {}
                // `preview` alone stands for the whole of it.
                (Some(_) | None, None) | (None, Some(_)) => return true,
                (Some(_), Some(_)) => return false,
            }
        }
    })
}

/// A path that ends above known names reads all of them, whatever becomes of it: `preview` is `preview.before` too.
fn whole(path: Vec<String>, names: &[&str]) -> Vec<Vec<String>> {
    let below = format!("{}.", path.join("."));
    let members = names.iter().filter(|name| name.starts_with(&below));
    let members: Vec<Vec<String>> =
        members.map(|name| name.split('.').map(str::to_owned).collect()).collect();
    if members.is_empty() { vec![path] } else { members }
}

fn reason_of(error: &ExecutionError) -> TemplateReason {
    match error {
        ExecutionError::NoSuchKey(_) | ExecutionError::UndeclaredReference(_) => TemplateReason::NoSuchMember,
        // The library's enum is open, and all other causes say the same to a caller.
        _ => TemplateReason::Evaluation,
    }
}

/// Collects the paths that an expression reads, and how deep its loops go.
#[derive(Default)]
struct Reads {
    paths: Vec<Vec<String>>,
    bound: Vec<String>,
    loops: usize,
}

impl Reads {
    fn walk(&mut self, node: &IdedExpr, loops: usize) {
        self.loops = self.loops.max(loops);
        if let Some(path) = dotted(&node.expr) {
            if !self.bound.contains(&path[0]) {
                self.paths.push(path);
            }
            return;
        }
        match &node.expr {
            Ast::Unspecified | Ast::Ident(_) | Ast::Literal(_) => {}
            Ast::Call(call) => {
                call.target.iter().for_each(|target| self.walk(target, loops));
                call.args.iter().for_each(|arg| self.walk(arg, loops));
            }
            Ast::Select(select) => self.walk(&select.operand, loops),
            Ast::List(list) => list.elements.iter().for_each(|item| self.walk(item, loops)),
            Ast::Map(map) => map.entries.iter().for_each(|entry| self.entry(&entry.expr, loops)),
            Ast::Struct(of) => of.entries.iter().for_each(|entry| self.entry(&entry.expr, loops)),
            Ast::Comprehension(over) => {
                self.walk(&over.iter_range, loops + 1);
                let known = self.bound.len();
                self.bound.extend([over.iter_var.clone(), over.accu_var.clone()]);
                self.bound.extend(over.iter_var2.clone());
                for part in [&over.accu_init, &over.loop_cond, &over.loop_step, &over.result] {
                    self.walk(part, loops + 1);
                }
                self.bound.truncate(known);
            }
        }
    }

    fn entry(&mut self, entry: &EntryExpr, loops: usize) {
        match entry {
            EntryExpr::StructField(field) => self.walk(&field.value, loops),
            EntryExpr::MapEntry(entry) => {
                self.walk(&entry.key, loops);
                self.walk(&entry.value, loops);
            }
        }
    }
}

fn dotted(node: &Ast) -> Option<Vec<String>> {
    match node {
        Ast::Ident(name) => Some(vec![name.clone()]),
        Ast::Select(select) => {
            let mut path = dotted(&select.operand.expr)?;
            path.push(select.field.clone());
            Some(path)
        }
        // `preview["before"]` is `preview.before`.
        Ast::Call(call) if call.func_name == operators::INDEX && call.target.is_none() => {
            let [of, Ast::Literal(LiteralValue::String(name))] =
                [&call.args.first()?.expr, &call.args.get(1)?.expr]
            else {
                return None;
            };
            let mut path = dotted(of)?;
            path.push(name.inner().to_owned());
            Some(path)
        }
        _ => None,
    }
}

/// JSON as CEL sees it: whole numbers are `int` (so that `args.n + 1` works), others `double`. Values have passed the
/// depth limit of the edge, so recursion is bounded.
fn to_cel(value: &Value) -> Cel {
    match value {
        Value::Null => Cel::Null,
        Value::Bool(flag) => Cel::Bool(*flag),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => Cel::Int(number),
            (None, Some(number)) => Cel::UInt(number),
            (None, None) => Cel::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Value::String(text) => Cel::String(Arc::new(text.clone())),
        Value::Array(items) => Cel::List(Arc::new(items.iter().map(to_cel).collect())),
        Value::Object(members) => {
            let members =
                members.iter().map(|(key, value)| (Key::String(Arc::new(key.clone())), to_cel(value)));
            Cel::Map(CelMap { map: Arc::new(members.collect::<HashMap<_, _>>()) })
        }
    }
}

/// CEL as JSON, or nothing where JSON would not say the same.
fn to_json(value: &Cel) -> Option<Value> {
    match value {
        Cel::Null => Some(Value::Null),
        Cel::Bool(flag) => Some(Value::Bool(*flag)),
        Cel::Int(number) => (number.unsigned_abs() <= MAX_EXACT).then(|| Value::from(*number)),
        Cel::UInt(number) => (*number <= MAX_EXACT).then(|| Value::from(*number)),
        Cel::Float(number) => Number::from_f64(*number).map(Value::Number),
        Cel::String(text) => Some(Value::String(text.as_ref().clone())),
        Cel::List(items) => items.iter().map(to_json).collect::<Option<Vec<_>>>().map(Value::Array),
        Cel::Map(members) => {
            let members = members.map.iter().map(|(key, value)| match key {
                Key::String(key) => to_json(value).map(|value| (key.as_ref().clone(), value)),
                Key::Int(_) | Key::Uint(_) | Key::Bool(_) => None,
            });
            members.collect::<Option<Map<_, _>>>().map(Value::Object)
        }
        Cel::Bytes(_) | Cel::Function(..) | Cel::Opaque(_) | Cel::Struct(_) => None,
    }
}
