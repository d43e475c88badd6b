"""The site: Sphinx with MyST pages; every reference must resolve, every warning is an error."""

import sys
from pathlib import Path

from exactdp import __version__

sys.path.insert(0, str(Path(__file__).parent / "_ext"))
sys.path.append(str(Path(__file__).parents[1]))  # for `tools`; exactdp is the installed one

project = "exactdp"
author = "the exactdp authors"
version = release = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx_click",
    "sphinxcontrib.bibtex",
    "sphinx_copybutton",
    "ledger",
    "calculators",
    "calculator",
    "commands",
    "descriptions",
    "docstrings",
    "formulas",
    "items",
    "navigation",
    "notebooks",
    "pictures",
    "samples",
    "slider",
    "transcripts",
]
exclude_patterns = ["_build", "calculator"]
html_math_renderer = "mathml"
nitpicky = True
#: Other projects' names are not looked up, so that a build needs no network.
nitpick_ignore_regex = [
    (r"py:.*", rf"({name})(\..*)?")
    for name in (
        "abc|array|builtins|collections|concurrent|decimal|enum|fractions|functools|numbers"
        "|os|pathlib|random|re|types|typing|unittest",
        "click|duckdb|flint|hypothesis|narwhals|np|numpy|nw|numpy\\.typing|pytest|scipy|pandas|polars",
    )
]

myst_enable_extensions = ["attrs_block", "colon_fence", "deflist", "dollarmath"]
smartquotes = False  # commands and JSON stand in help texts, too: --k must not become a dash
myst_heading_anchors = 4
bibtex_bibfiles = ["references.bib"]
bibtex_default_style = "plain"

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
python_use_unqualified_type_names = True
toc_object_entries_show_parents = "hide"

html_theme = "furo"
html_title = f"exactdp {version}"
html_static_path = ["_static"]
html_logo = "_static/favicon.svg"
html_favicon = "_static/favicon.svg"
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_search_scorer = str(Path(__file__).parent / "_static" / "scorer.js")
html_copy_source = False
html_show_sphinx = False
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"
copybutton_prompt_text = "$ "
copybutton_only_copy_prompt_lines = True
html_theme_options = {
    "navigation_with_keys": True,
    "light_css_variables": {"color-code-background": "#f6f8fa"},
}
