"""Settings of the documentation site; `script/docs` builds it."""

project = "World Wide Dishes"
author = "World Wide Dishes"
project_copyright = "World Wide Dishes, Apache-2.0"
language = "en"

extensions = ["myst_parser"]
myst_heading_anchors = 4
exclude_patterns = ["_templates", "_static"]
# A word in code style that names nothing of Sphinx must not become a link or a warning.
default_role = None

html_theme = "furo"
html_title = "World Wide Dishes"
html_static_path = ["_static"]
html_css_files = ["site.css"]
templates_path = ["_templates"]
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#8a3a12", "color-brand-content": "#8a3a12"},
    "dark_css_variables": {"color-brand-primary": "#f0a878", "color-brand-content": "#f0a878"},
}
