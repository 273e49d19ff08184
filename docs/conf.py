"""Sphinx's settings of the documentation site. `tools/docs.py` calls Sphinx on a copy of this folder."""

from pathlib import Path

project = "rtcg"
author = "the rtcg developers"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode"]
root_doc = "index"
html_theme = "furo"
html_title = "rtcg"
html_show_copyright = False
html_show_sphinx = False
html_static_path = ["_static"]
html_css_files = ["rtcg.css"]
# Text between single backquotes in docstrings is a name, or code.
default_role = "py:obj"
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence", "deflist"]
autodoc_member_order = "bysource"
autodoc_typehints = "none"
# Defaults as they are written, `np.float64` and not `<class 'numpy.float64'>`.
autodoc_preserve_defaults = True
napoleon_google_docstring = False
napoleon_numpy_docstring = True
napoleon_use_rtype = False
napoleon_use_ivar = True
toc_object_entries_show_parents = "hide"
# Parameters are written with types that are no names of anything, such as "int, optional".
nitpicky = False
# A name such as `dtype` may be an attribute of several classes; an ambiguous one links to the first.
suppress_warnings = ["ref.python"]
html_search_scorer = str(Path(__file__).with_name("search_order.js"))


def setup(app):
    """Teach Napoleon that a colon in the text of an attribute is one, and that ``a, b : int`` are two attributes."""
    from sphinx.ext.napoleon.docstring import GoogleDocstring

    consume_fields = GoogleDocstring._consume_fields

    def consume_all_names(self, parse_type=True, prefer_type=False, multiple=False):
        return consume_fields(self, parse_type, prefer_type, multiple or not prefer_type)

    GoogleDocstring._parse_attribute_docstring = lambda self: self._consume_to_end()
    GoogleDocstring._consume_fields = consume_all_names
