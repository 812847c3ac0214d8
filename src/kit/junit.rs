//! A report as JUnit XML, as CI systems read it: a suite per contract, a test case per check.

use std::io;

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};

use super::report::{Check, Report, ToolReport, Verdict};

/// The report as one XML document, under the name of the command that made it.
///
/// # Errors
/// The XML cannot be written, which memory does not do.
pub fn junit(report: &Report, of: &str) -> io::Result<Vec<u8>> {
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let all: usize = report.tools.iter().map(|tool| tool.checks.len()).sum();
    let skipped = report.count(Verdict::Unproven) + report.count(Verdict::NotAsked);
    writer
        .create_element("testsuites")
        .with_attributes([("name", of)])
        .with_attributes(counts(all, report.count(Verdict::Failed), skipped).iter().map(borrowed))
        .write_inner_content(|writer| report.tools.iter().try_for_each(|tool| suite(writer, tool)))?;
    let mut bytes = writer.into_inner();
    bytes.push(b'\n');
    Ok(bytes)
}

fn counts(tests: usize, failures: usize, skipped: usize) -> [(&'static str, String); 4] {
    [
        ("tests", tests.to_string()),
        ("failures", failures.to_string()),
        ("errors", "0".to_owned()),
        ("skipped", skipped.to_string()),
    ]
}

fn borrowed<'a>(pair: &'a (&'static str, String)) -> (&'a str, &'a str) {
    (pair.0, &pair.1)
}

fn suite(writer: &mut Writer<Vec<u8>>, tool: &ToolReport) -> io::Result<()> {
    let skipped = tool.count(Verdict::Unproven) + tool.count(Verdict::NotAsked);
    let numbers = counts(tool.checks.len(), tool.count(Verdict::Failed), skipped);
    let name = format!("{} {}", tool.tool, tool.version);
    writer
        .create_element("testsuite")
        .with_attributes([("name", clean(&name).as_str())])
        .with_attributes(numbers.iter().map(borrowed))
        .write_inner_content(|writer| tool.checks.iter().try_for_each(|check| case(writer, tool, check)))?;
    Ok(())
}

fn case(writer: &mut Writer<Vec<u8>>, tool: &ToolReport, check: &Check) -> io::Result<()> {
    let (class, name) = (format!("{}.{}", tool.tool, check.part.title()), clean(&check.name));
    let element = writer
        .create_element("testcase")
        .with_attributes([("classname", clean(&class).as_str()), ("name", name.as_str())]);
    let detail = clean(&check.detail);
    match check.verdict {
        Verdict::Passed => element.write_empty()?,
        Verdict::Failed => element.write_inner_content(|writer| {
            let text = clean(&check.remedy);
            let failure = writer.create_element("failure").with_attributes([("message", detail.as_str())]);
            failure.write_text_content(BytesText::new(&text)).map(drop)
        })?,
        Verdict::Unproven | Verdict::NotAsked => element.write_inner_content(|writer| {
            let why = if check.verdict == Verdict::Unproven { "not proven: " } else { "not asked: " };
            let message = format!("{why}{detail}");
            writer
                .create_element("skipped")
                .with_attributes([("message", message.as_str())])
                .write_empty()
                .map(drop)
        })?,
    };
    Ok(())
}

/// Without the characters that XML 1.0 cannot carry, not even escaped.
fn clean(text: &str) -> String {
    let allowed = |c: char| matches!(c, '\t' | '\n' | '\r' | '\u{20}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..='\u{10ffff}');
    text.chars().map(|c| if allowed(c) { c } else { '\u{fffd}' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kit::report::Part;

    #[test]
    fn whatever_stands_in_a_check_the_document_is_well_formed_and_says_it() {
        let nasty = "<a href=\"x\">&amp; ]]> \u{1}\u{202e}'\u{0}";
        let checks = vec![
            Check::passed(Part::Input, "fine", ""),
            Check::failed(Part::Case, nasty, nasty, nasty),
            Check::unproven(Part::Service, "unproven", nasty, ""),
            Check::not_asked(Part::Service, "not asked", ""),
        ];
        let tool = ToolReport {
            tool: "t.v1".into(),
            version: "1.0".into(),
            fingerprint: String::new(),
            boundaries: 0,
            origin: None,
            checks,
        };
        let text =
            String::from_utf8(junit(&Report { tools: vec![tool] }, "writd contracts test").unwrap()).unwrap();
        assert!(!text.contains(['\u{1}', '\u{0}']), "{text:?}");
        let mut reader = quick_xml::Reader::from_str(&text);
        let (mut seen, mut message) = (Vec::new(), String::new());
        loop {
            match reader.read_event().unwrap() {
                Event::Start(tag) | Event::Empty(tag) => {
                    let name = tag.name().as_ref().to_owned();
                    if name == "failure" {
                        let attribute = tag.try_get_attribute("message").unwrap().unwrap();
                        message = attribute
                            .normalized_value(quick_xml::XmlVersion::Implicit1_0)
                            .unwrap()
                            .into_owned();
                    }
                    seen.push(name);
                }
                Event::Eof => break,
                _ => {}
            }
        }
        let wanted = "testsuites testsuite testcase testcase failure testcase skipped testcase skipped";
        assert_eq!(seen.join(" "), wanted);
        assert_eq!(message, clean(nasty));
        assert!(text.contains("tests=\"4\" failures=\"1\" errors=\"0\" skipped=\"2\""), "{text}");
    }
}
