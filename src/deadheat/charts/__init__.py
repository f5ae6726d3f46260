"""Charts as SVG: values in, one drawing out, the same for a page and for print (docs/design/charts.md)."""
