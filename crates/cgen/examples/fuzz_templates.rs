//! Fuzzes templates, on stable Rust:
//! `cargo run --release -p rtcg-cgen --example fuzz_templates -- SECONDS SEED [FOLDER_FOR_FINDS]`.
//!
//! Every text must be rendered or refused without panic and without the end of a stack of 1 MiB, within a second; all
//! lines of what is rendered must know a line of the template.

#[path = "../../../tests/support/mutate_text.rs"]
mod mutate_text;

use mutate_text::{Outcome, fuzz_in_small_stack};
use rtcg_cgen::template::{Template, context};

const CORPUS: &[&str] = &[
    "__global__ void k({{ dtype|ctype }} *x)\n{\n{% for i in range(n) %}\n  x[{{ i }}] = {{ 1.5|literal(dtype) }};\n{% endfor %}\n}\n",
    "{%- macro f(a, b=2) -%}{{ a }}{{ b }}{%- endmacro -%}{{ f(1) }}{% call f(3) %}{% endcall %}",
    "{% if n > 3 and not flag %}a{% elif n is odd %}b{% else %}{{ 'c' ~ n }}{% endif %}{# note #}",
    "{% set ns = namespace(c=0) %}{% for k, v in p.items() %}{% set ns.c = ns.c + v %}{% endfor %}{{ ns.c // -2 }}",
    "{{ s.upper().split('a', 1)[0]|replace('b', 'c')|indent(2) }}{{ p|dictsort|map('first')|join(', ') }}",
    "{% raw %}{{ x }}{% endraw %}{{ {'a': [1, (2, 3)]}['a'][-1] if n else none }}{{ 2 ** 10 % 7 }}",
    "{% with a = s.center(9) %}{{ a.rsplit(none, 1) }}{{ s.expandtabs(3).zfill(5) }}{% endwith %}{% filter upper %}x{% endfilter %}",
    "{{ ceil_div(n, 2) }}{{ next_pow2(n) }}{{ raise('no') }}",
];

fn render(text: &str) -> Outcome {
    let values = context! { n => 5, flag => true, dtype => "float32", s => "aab\tc", p => context! { b => 1, a => 2 } };
    let Ok(rendered) = Template::new(text).and_then(|template| template.render(values)) else {
        return Outcome::default();
    };
    let n_lines = text.replace("\r\n", "\n").split(['\n', '\r']).count();
    for line in 1..=rendered.text().lines().count() {
        assert!(rendered.origin_of(line).is_none_or(|origin| (1..=n_lines).contains(&origin)));
    }
    Outcome { is_read: true }
}

fn main() {
    fuzz_in_small_stack(CORPUS, "j2", render);
}
