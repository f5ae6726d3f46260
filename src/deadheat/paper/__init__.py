"""What goes into a paper: figures, tables, a paragraph, a checklist."""
