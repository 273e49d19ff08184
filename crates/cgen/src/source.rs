//! Source text that records the origin of its lines.

use std::fmt;

/// Source text. If it was rendered from a template, it maps each of its lines to the template's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    text: String,
    /// The template's line of each line, from 1; 0 where it is unknown. Empty for plain text.
    origins: Vec<u32>,
    name: String,
    template: String,
}

impl Source {
    /// Plain text.
    pub fn new(text: impl fmt::Display) -> Self {
        Self { text: text.to_string(), origins: Vec::new(), name: String::new(), template: String::new() }
    }

    pub(crate) fn of_template(text: String, origins: Vec<u32>, name: String, template: String) -> Self {
        Self { text, origins, name, template }
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The template line from which a line (from 1) was rendered.
    pub fn origin_of(&self, line: usize) -> Option<usize> {
        self.origins.get(line.checked_sub(1)?).map(|&origin| origin as usize).filter(|&origin| origin > 0)
    }

    /// The name and text of the template, if there is one.
    pub fn template(&self) -> Option<(&str, &str)> {
        (!self.origins.is_empty()).then_some((&*self.name, &*self.template))
    }

    /// The text for the compiler: with a `#line` wherever template lines are not consecutive, so that messages refer to
    /// the template's lines. Continued lines stay together.
    pub fn text_with_line_directives(&self) -> String {
        if self.origins.is_empty() {
            return self.text.clone();
        }
        let mut out = String::with_capacity(self.text.len() * 2);
        let mut expected = 0;
        let mut is_continued = false;
        for (line, &origin) in self.text.split_inclusive('\n').zip(&self.origins) {
            if origin > 0 && origin != expected && !is_continued && !line.trim().is_empty() {
                out.push_str(&format!("#line {origin} \"{}\"\n", self.name.replace(['\\', '"'], "_")));
                expected = origin;
            }
            out.push_str(line);
            is_continued = line.trim_end().ends_with('\\');
            expected += 1;
        }
        out
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
