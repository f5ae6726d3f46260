"""Side-by-side measurements with other programs; `make bench` runs them."""
