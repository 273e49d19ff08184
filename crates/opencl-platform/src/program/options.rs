//! The options of `clBuildProgram` in clang's words.

use crate::error::are_kernels_checked;
use std::path::PathBuf;

/// With it clang's text says from which line of the source an instruction comes.
pub(crate) const LINE_TABLES: &str = "-gline-tables-only";

/// Options of a build.
#[derive(Clone, Default, Debug)]
pub(crate) struct BuildOptions {
    pub(crate) for_clang: Vec<String>,
    /// Folders of headers, absolute: clang runs in a folder of its own.
    pub(crate) include_folders: Vec<PathBuf>,
    /// What the log says about options that have no effect.
    pub(crate) notes: String,
}

impl BuildOptions {
    fn push(&mut self, option: &str, value: &str) {
        if option != "-I" {
            return self.for_clang.push(format!("{option}{value}"));
        }
        let folder = std::env::current_dir().unwrap_or_default().join(value);
        self.for_clang.push(format!("-I{}", folder.display()));
        self.include_folders.push(folder);
    }
}

/// Splits and translates options.
///
/// # Errors
/// A sentence about the option that is not known.
pub(crate) fn parse_options(text: &str) -> Result<BuildOptions, String> {
    let words = split_words(text)?;
    let mut options = BuildOptions::default();
    let mut standard = "-cl-std=CL1.2".to_owned();
    let mut words = words.into_iter().peekable();
    while let Some(word) = words.next() {
        match word.as_str() {
            "-D" | "-I" | "-U" => {
                let value = words.next().ok_or_else(|| format!("{word}: its value is missing"))?;
                options.push(&word, &value);
            }
            "-w"
            | "-Werror"
            | "-g"
            | "-cl-opt-disable"
            | "-cl-single-precision-constant"
            | "-cl-mad-enable"
            | "-cl-no-signed-zeros"
            | "-cl-unsafe-math-optimizations"
            | "-cl-finite-math-only"
            | "-cl-fast-relaxed-math"
            | "-cl-strict-aliasing"
            | "-cl-fp32-correctly-rounded-divide-sqrt"
            | "-cl-uniform-work-group-size" => options.for_clang.push(word),
            // Clang leaves the option to the target, and that of NVPTX does not look at it.
            "-cl-denorms-are-zero" => {
                options.for_clang.extend(["-Xclang", "-fdenormal-fp-math-f32=preserve-sign"].map(str::to_owned));
            }
            "-cl-kernel-arg-info" | "-create-library" | "-enable-link-options" | "-cl-no-subgroup-ifp" => {}
            "-x" => {
                words.next();
            }
            _ if word.starts_with("-cl-std=") => standard = word,
            _ if word.starts_with("-I") => options.push("-I", &word[2..]),
            _ if ["-D", "-U", "-W", "-f", "-O"].iter().any(|head| word.starts_with(head)) => {
                options.for_clang.push(word);
            }
            _ if ["-cl-nv-", "-cl-intel-", "-cl-amd-"].iter().any(|head| word.starts_with(head)) => {
                // Some take a number as a word of its own.
                let number = words.next_if(|next| next.bytes().all(|byte| byte.is_ascii_digit()));
                let number = number.map(|number| format!(" {number}")).unwrap_or_default();
                options.notes += &format!("note: {word}{number} has no effect here\n");
            }
            _ => return Err(format!("{word}: this option is not known")),
        }
    }
    options.for_clang.push(standard);
    if are_kernels_checked() {
        options.for_clang.push(LINE_TABLES.to_owned());
    }
    Ok(options)
}

/// Words, as a shell splits them: blanks separate, quotes and backslashes keep.
fn split_words(text: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, quote) {
            (c, Some(open)) if c == open => quote = None,
            ('\\', None | Some('"')) => word.get_or_insert_default().extend(chars.next()),
            ('"' | '\'', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (c, None) if c.is_whitespace() => words.extend(word.take()),
            (c, _) => word.get_or_insert_default().push(c),
        }
    }
    if quote.is_some() {
        return Err(format!("{text}: a quote is not closed"));
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_like_a_shell() {
        assert_eq!(split_words(r#"-D A="b c" -I '/x y'"#).unwrap(), ["-D", "A=b c", "-I", "/x y"]);
        assert!(split_words("-D 'x").is_err());
    }

    #[test]
    fn knows_options_by_name() {
        let options = parse_options("-D N=3 -cl-nv-verbose -cl-std=CL2.0 -cl-fast-relaxed-math").unwrap();
        assert_eq!(options.for_clang, ["-DN=3", "-cl-fast-relaxed-math", "-cl-std=CL2.0"]);
        assert!(options.notes.contains("-cl-nv-verbose"));
        let options = parse_options("-cl-nv-maxrregcount 32 -cl-intel-greater-than-4GB-buffer-required -w").unwrap();
        assert_eq!((options.for_clang[0].as_str(), options.notes.lines().count()), ("-w", 2));
        let folder = std::env::current_dir().unwrap().join("headers");
        for text in ["-I headers", "-Iheaders"] {
            assert_eq!(parse_options(text).unwrap().include_folders, std::slice::from_ref(&folder));
        }
        assert!(parse_options("-cl-nonsense").unwrap_err().contains("-cl-nonsense"));
    }
}
