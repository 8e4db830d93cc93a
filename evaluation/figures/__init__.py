"""Figures of tables: what they show (model), where it stands (layout), and the file (draw)."""
