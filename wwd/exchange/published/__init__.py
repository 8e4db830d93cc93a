"""Published data, imported through the same models as our own.

`importer.py` joins the parts and says which file becomes what; `source.py` reads files and notes bad rows;
`writing.py` adds what is missing.
"""
