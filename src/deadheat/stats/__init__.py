"""Statistics on counts: arrays in, one small result out."""

from deadheat.stats.intervals import Interval, bootstrap, wilson

__all__ = ["Interval", "bootstrap", "wilson"]
