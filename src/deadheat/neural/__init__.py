"""Networks that train by the hundred: seed, split and every number are axes of arrays (docs/design/networks.md)."""
