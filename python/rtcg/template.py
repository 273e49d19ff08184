"""Templates of CUDA source: Jinja2 syntax, with errors at the lines of the template.

>>> from rtcg import template
>>> text = '''{% for i in range(n) %}
... x[{{ i }}] = ({{ dtype|ctype }}) {{ i * i }};
... {% endfor %}
... '''
>>> source = template.render(text, n=3, dtype="float32")
>>> print(source)
x[0] = (float) 0;
x[1] = (float) 1;
x[2] = (float) 4;
<BLANKLINE>
"""

from __future__ import annotations

from rtcg import _native

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["Source", "Template", "render"]


class Source:
    """Rendered source, for :class:`rtcg.compiler.SourceModule` and anything that takes an object with ``str()``.

    Compile errors name the lines of the template, and show them.

    Attributes
    ----------
    text : str
        The rendered text; also ``str(source)``.
    name, template : str
        Name and text of the template.
    """

    def __init__(self, text: str, compiled_text: str, name: str, template: str) -> None:
        self.text, self.name, self.template = text, name, template
        self._compiled_text = compiled_text

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<source of {self.name}, {self.text.count(chr(10))} lines>"


class Template:
    """A template that can be rendered with different values.

    Parameters
    ----------
    text : str
        The template. Blocks (``{% for %}``, ``{% if %}``) leave no blank lines. In addition to Jinja2's own there are
        the filters ``ctype`` (``'float32'|ctype`` is ``float``) and ``literal`` (``1.5|literal('float32')`` is
        ``1.5f``), and the functions ``ceil_div``, ``next_pow2`` and ``raise``.
    name : str
        The name in messages.
    """

    def __init__(self, text: str, name: str = "template") -> None:
        self.text, self.name = text, name

    def render(self, **values: Any) -> Source:
        """Render the template with these values and return the :class:`Source`.

        Parameters
        ----------
        **values
            Numbers, texts, sequences, dictionaries, NumPy scalars and dtypes (which become their names); other objects
            by their ``str()``.

        Raises
        ------
        ValueError
            If the syntax is wrong or a name has no value; the message names the line.
        """
        text, compiled_text = _native.render_template(self.text, self.name, values)
        return Source(text, compiled_text, self.name, self.text)

    __call__ = render


def render(text: str, name: str = "template", **values: Any) -> Source:
    """Render a template once, ``Template(text, name).render(**values)``: the text as a str.

    Errors contain `name` and the line of the template. The device is not used. Make a `Template` to render the same
    text more than once.
    """
    return Template(text, name).render(**values)
